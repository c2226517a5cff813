import type { UserError } from '../../../errors/user-error.ts';
import { objectOf, string } from '../../../lib/cel/types.ts';
import { CelMap } from '../../../lib/cel/values.ts';

/** The field `error` of a result. */
export const errorField = objectOf('error', { code: string, message: string });

/** What expressions read of an error. */
export function errorValue({ code, message }: Pick<UserError, 'code' | 'message'>): CelMap {
  return CelMap.of({ code: `ERR_NGROK_${code}`, message });
}
