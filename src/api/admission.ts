import type { IncomingMessage } from 'node:http';

import { UserError } from '../errors/user-error.ts';
import { clientAddress } from '../lib/client-address.ts';
import type { CidrSet } from '../lib/cidr-set.ts';
import { formatIp, parseIp } from '../lib/ip-address.ts';
import type { IpAddress } from '../lib/ip-address.ts';
import type { AccessTable } from '../snapshot/access.ts';
import type { Awaitable } from '../store/database.ts';
import { bearerToken } from './bearer.ts';
import type { Authenticator, Caller, Identity } from './caller.ts';

interface AdmissionOptions {
  readonly authenticator: Authenticator;
  readonly access: AccessTable;
  readonly trustedProxies: CidrSet;
}

export interface Admitted {
  readonly caller: Caller;
  /** Restrictions that are not enforced and would have refused the caller. */
  readonly warnedBy: readonly string[];
}

/** Who calls, and from where. Throws the `UserError` for one who may not. */
export function admitCaller(request: IncomingMessage, options: AdmissionOptions): Awaitable<Admitted> {
  const { headers, socket } = request;
  const identity = options.authenticator.authenticate(bearerToken(headers.authorization), socket);
  return identity instanceof Promise
    ? identity.then((known) => admitIdentity(known, request, options))
    : admitIdentity(identity, request, options);
}

function admitIdentity({ principal, keyId }: Identity, request: IncomingMessage, options: AdmissionOptions): Admitted {
  const { accountId } = principal;
  const source = sourceOf(request, options.trustedProxies);
  const { refusedBy, warnedBy } = options.access.admit(accountId, 'api', source);
  if (refusedBy !== undefined) throw new UserError(220, { address: formatIp(source), restriction: refusedBy });
  return { caller: { principal, keyId, accountId, source }, warnedBy };
}

function sourceOf({ headers, socket }: IncomingMessage, trustedProxies: CidrSet): IpAddress {
  const peer = parseIp(socket.remoteAddress ?? '');
  if (peer === undefined) throw new UserError(20024, { reason: 'the connection is closed' });
  return clientAddress(peer, headers['x-forwarded-for'], trustedProxies);
}
