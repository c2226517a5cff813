import type { IncomingMessage } from 'node:http';

import { UserError } from '../../errors/user-error.ts';
import { repeatedHeader } from '../errors.ts';

/**
 * Headers of which Node takes the first and drops the others, or joins them to one value that nobody has sent. A proxy in
 * front may have looked at another one than the API would. The others need no check here: Content-Length and
 * Transfer-Encoding are refused by the parser, a list such as If-Match or X-Forwarded-For may come in several headers, and
 * any other value that is joined is refused for its form.
 */
const singleHeaders: readonly string[] = ['Host', 'Authorization', 'Content-Type', 'Idempotency-Key'];

const bits = new Map(singleHeaders.map((name, at) => [name.toLowerCase(), 1 << at]));
/** The bit of each length that one of the names has. */
const lengths = singleHeaders.reduce((all, { length }) => all | (1 << length), 0);

/** Finds the fault of a request in which such a header comes more than once. */
export function repetitionFault({ rawHeaders }: IncomingMessage): UserError | undefined {
  let seen = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    // Most names are of another length, and are not looked at.
    if (name.length > 31 || (lengths & (1 << name.length)) === 0) continue;
    const bit = bits.get(name.toLowerCase()) ?? 0;
    if ((seen & bit) !== 0) return new UserError(repeatedHeader, { name: nameOf(bit) });
    seen |= bit;
  }
  return undefined;
}

function nameOf(bit: number): string {
  return singleHeaders.find((name) => bits.get(name.toLowerCase()) === bit) ?? '';
}
