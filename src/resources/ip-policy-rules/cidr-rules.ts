import { quote, UserError } from '../../errors/user-error.ts';
import { parseCidr } from '../../lib/ip/cidr.ts';
import type { Cidr } from '../../lib/ip/cidr.ts';
import { ruleFlag } from '../../snapshot/contract.ts';
import { hostBitsSet, invalidCidr, maskMissing } from './errors.ts';

/** With its canonical text. Host bits are refused, not cut off: a client that stores what it sent must read the same. */
export function acceptCidr(text: string): { readonly cidr: Cidr; readonly canonical: string } {
  const parsed = parseCidr(text);
  if (parsed.ok) return parsed;
  const cidr = quote(text);
  const { fault, reason, suggestion = '' } = parsed;
  if (fault === 'no-mask') throw new UserError(maskMissing, { cidr, suggestion });
  if (fault === 'host-bits') throw new UserError(hostBitsSet, { cidr, suggestion });
  throw new UserError(invalidCidr, { cidr, reason: `it ${reason}` });
}

/** As a matcher has it. */
export function flagOf(action: unknown): number {
  return action === 'deny' ? ruleFlag.deny : ruleFlag.allow;
}
