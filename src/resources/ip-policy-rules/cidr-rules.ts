import { quote, UserError } from '../../errors/user-error.ts';
import { parseCidr } from '../../lib/ip/cidr.ts';
import type { Cidr } from '../../lib/ip/cidr.ts';
import { ruleFlag } from '../../snapshot/contract.ts';
import { hostBitsSet, invalidCidr, maskMissing } from './errors.ts';

interface AcceptedCidr {
  readonly cidr: Cidr;
  readonly canonical: string;
  /** As it was sent, in lower case and without blanks around it. */
  readonly written: string;
}

/** Host bits are refused, not cut off: a client must read back what it sent. */
export function acceptCidr(text: string): AcceptedCidr {
  const written = text.trim().toLowerCase();
  const parsed = parseCidr(written);
  if (parsed.ok) return { ...parsed, written };
  const cidr = quote(text);
  const { fault, reason, suggestion = '' } = parsed;
  if (fault === 'no-mask') throw new UserError(maskMissing, { cidr, suggestion });
  if (fault === 'host-bits') throw new UserError(hostBitsSet, { cidr, suggestion });
  throw new UserError(invalidCidr, { cidr, reason: `it ${reason}` });
}

/** The flag of an action in the matcher. */
export function flagOf(action: unknown): number {
  return action === 'deny' ? ruleFlag.deny : ruleFlag.allow;
}
