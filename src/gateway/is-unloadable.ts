import type { IpAddress } from '../lib/ip/address.ts';
import type { Pipeline } from '../modules/module.ts';
import type { AccessTable } from '../snapshot/access.ts';

const allPolicies = { allows: (): boolean => true };

/** Tells a refusal that comes of policies which cannot be loaded from one by the rules themselves. */
export function isUnloadable(pipeline: Pipeline, source: IpAddress, access: AccessTable): boolean {
  return !pipeline.admits(source, access.loadable) && pipeline.admits(source, allPolicies);
}
