import { quote, UserError } from '../../errors/user-error.ts';
import { parseHostPort } from '../../lib/host-port.ts';

/** The text itself: clients compare what they read with what they sent. */
export function acceptAddress(text: string): string {
  if (text === '') throw new UserError(6505);
  const parsed = parseHostPort(text);
  if (parsed.ok) return text;
  const address = quote(text);
  if (text.startsWith(':')) throw new UserError(6507, { address });
  throw new UserError(6506, { address, reason: `it ${parsed.reason}` });
}
