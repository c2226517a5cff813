import type { PublicAddresses } from '../../../client/src/index.ts';
import { useOne } from './queries.ts';

/** Where visitors and agents reach the installation; undefined until it is known. */
export function useAddresses(): PublicAddresses | undefined {
  return useOne('PublicAddressesGet', {}).data?.document;
}
