import type { IncomingMessage } from 'node:http';

import { malformedRequest } from '../errors/shared.ts';
import { UserError } from '../errors/user-error.ts';

const hostForm = /^(?:[\w.-]+|\[[\dA-Fa-f:.]+\])?(?::\d{0,5})?$/;

function isHost(text: string): boolean {
  return hostForm.test(text);
}

/** Finds the fault of a request without exactly one valid Host header. URIs in responses are built from it. */
export function hostFault({ httpVersion, headers: { host }, rawHeaders }: IncomingMessage): UserError | undefined {
  if (host === undefined) {
    return httpVersion === '1.1' ? new UserError(malformedRequest, { reason: 'it has no Host header' }) : undefined;
  }
  if (!isHost(host))
    return new UserError(malformedRequest, { reason: 'its Host header is not a host name or address' });
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts === 1 ? undefined : new UserError(malformedRequest, { reason: 'it has more than one Host header' });
}
