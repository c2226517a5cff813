import { quote, UserError } from '../../errors/user-error.ts';
import { parseCidr } from '../../lib/cidr.ts';

/** The canonical text. Host bits are refused, not cut off: a client that stores what it sent must read the same back. */
export function acceptCidr(text: string): string {
  const parsed = parseCidr(text);
  if (parsed.ok) return parsed.canonical;
  const cidr = quote(text);
  const { fault, reason, suggestion = '' } = parsed;
  if (fault === 'no-mask') throw new UserError(1413, { cidr, suggestion });
  if (fault === 'host-bits') throw new UserError(1409, { cidr, suggestion });
  throw new UserError(1406, { cidr, reason: `it ${reason}` });
}
