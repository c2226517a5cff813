import { asSentence, quote, UserError } from '../../errors/user-error.ts';
import { parseHostPort } from '../../lib/host-port.ts';
import { addressRequired, addressWithoutHost, invalidAddress } from './errors.ts';

/** The text itself: clients compare what they read with what they sent. */
export function acceptAddress(text: string): string {
  if (text === '') throw new UserError(addressRequired);
  const parsed = parseHostPort(text);
  if (parsed.ok) return text;
  const address = quote(text);
  if (text.startsWith(':')) throw new UserError(addressWithoutHost, { address });
  const tls = /^(https|tls|wss):/i.test(text) ? ', and set tls.enabled to true' : '';
  throw new UserError(invalidAddress, { address, reason: asSentence(`it ${parsed.reason}${tls}`) });
}
