import type { IncomingMessage } from 'node:http';

import { malformedRequest } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';

const hostForm = /^(?:[\w.-]+|\[[\dA-Fa-f:.]+\])?(?::\d{0,5})?$/;

export function isHost(text: string): boolean {
  return hostForm.test(text);
}

/** Finds the fault of a request without a valid Host header. URIs in responses are built from it. */
export function hostFault({ httpVersion, headers: { host } }: IncomingMessage): UserError | undefined {
  if (host === undefined) {
    return httpVersion === '1.1' ? new UserError(malformedRequest, { reason: 'it has no Host header' }) : undefined;
  }
  if (isHost(host)) return undefined;
  return new UserError(malformedRequest, { reason: 'its Host header is not a host name or address' });
}
