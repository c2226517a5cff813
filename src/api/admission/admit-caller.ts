import type { IncomingMessage } from 'node:http';

import { ready, whenReady } from '../../lib/awaitable.ts';
import type { Awaitable } from '../../lib/awaitable.ts';
import { malformedRequest } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import { formatIp, parseIp } from '../../lib/ip/address.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import type { CidrSet } from '../../lib/ip/cidr-set.ts';
import { clientAddress } from '../../lib/ip/client-address.ts';
import type { AccessTable } from '../../snapshot/access.ts';
import { bearerToken, refused } from './bearer.ts';
import type { Authenticator, Caller, Identity, Scope, Sessions } from './caller.ts';
import { dashboardHeaderMissing } from '../dashboard/errors.ts';
import { isFromDashboard } from '../dashboard/own-page.ts';
import { sessionCookies } from '../dashboard/session-cookie.ts';
import { sessionCredential } from '../dashboard/session-credential.ts';
import { keySourceRefused, sourceRefused } from '../errors.ts';
import type { FailedAuthentications } from './failed-authentications.ts';
import type { UriOptions } from '../http/uris.ts';

export interface AdmissionOptions extends UriOptions {
  readonly authenticator: Authenticator;
  readonly sessions: Sessions;
  readonly access: AccessTable;
  readonly failures: FailedAuthentications;
}

export interface AdmittedCaller {
  readonly caller: Caller;
  readonly identity: Identity;
  /** Restrictions that are not enforced and would have refused the caller. */
  readonly warnedBy: readonly string[];
}

/** Runs the lookup of a token or session when it is its turn. */
export type InTurn = (run: () => Awaitable<Identity>) => Awaitable<Identity>;

/** Authenticates a request and checks its source address. Throws the `UserError` for a caller who may not call. */
export function admitCaller(
  request: IncomingMessage,
  options: AdmissionOptions,
  inTurn: InTurn,
): Awaitable<AdmittedCaller> {
  let identity: Awaitable<Identity>;
  try {
    identity = inTurn(() => authenticate(request, options));
  } catch (fault) {
    return answerFault(fault, request, options);
  }
  if (identity instanceof Promise) identity = identity.catch((fault: unknown) => answerFault(fault, request, options));
  return whenReady(identity, (known) => admitSource(known, request, options));
}

/**
 * Looks again, from the caches, whether a caller who was admitted still may call. A token that has ended since is no guess:
 * the answer does not count as a failed authentication.
 */
export function admitAgain(
  identity: Identity,
  request: IncomingMessage,
  options: AdmissionOptions,
  isUse = true,
): Awaitable<Caller> {
  return whenReady(identity.again(isUse), (known) =>
    whenReady(admitSource(known, request, options), ({ caller }) => caller),
  );
}

function authenticate(request: IncomingMessage, options: AdmissionOptions): Awaitable<Identity> {
  const { authorization } = request.headers;
  if (isFromDashboard(request)) return options.sessions.resume(sessionCredential(request, options));
  if (authorization === undefined && sessionCookies(request.headers, false).length > 0)
    throw refused(dashboardHeaderMissing);
  return options.authenticator.authenticate(bearerToken(authorization));
}

/** Throws what a fault of authentication is answered with, when it is time. */
export function answerFault(fault: unknown, request: IncomingMessage, options: AdmissionOptions): Promise<never> {
  return options.failures.answer(fault, () => sourceOf(request, options.trustedProxies));
}

/** A session ends with the first call from an address that a restriction refuses. */
function admitSource(
  identity: Identity,
  request: IncomingMessage,
  options: AdmissionOptions,
): Awaitable<AdmittedCaller> {
  if (!isFromDashboard(request)) return ready(checkSource(identity, 'api', request, options));
  try {
    return ready(checkSource(identity, 'dashboard', request, options));
  } catch (fault) {
    if (!(fault instanceof UserError && fault.code === sourceRefused.code)) throw fault;
    return options.sessions.end(sessionCredential(request, options)).then(
      () => Promise.reject(fault),
      () => Promise.reject(fault),
    );
  }
}

/** Throws unless the source address is one from which the principal may come by this door. */
export function checkSource(
  identity: Identity,
  scope: Scope,
  request: IncomingMessage,
  options: AdmissionOptions,
): AdmittedCaller {
  const { principal, keyId, readOnly, endsAtMs, rotation, policyIds } = identity;
  const { accountId } = principal;
  const { source, warnedBy } = admitAddress(accountId, scope, request, options);
  if (policyIds.length > 0 && !options.access.allows(policyIds, source))
    throw new UserError(keySourceRefused, { key: keyId ?? '', address: formatIp(source) });
  const caller = { principal, keyId, readOnly, endsAtMs, rotation, accountId, scope, source };
  return { caller, identity, warnedBy };
}

/** Throws if a restriction of the account refuses the source address by this door. */
export function admitAddress(
  accountId: string,
  scope: Scope,
  request: IncomingMessage,
  { access, trustedProxies }: AdmissionOptions,
): { readonly source: IpAddress; readonly warnedBy: readonly string[] } {
  const source = sourceOf(request, trustedProxies);
  const { refusedBy, warnedBy } = access.admit(accountId, scope, source);
  if (refusedBy !== undefined)
    throw new UserError(sourceRefused, { address: formatIp(source), restriction: refusedBy });
  return { source, warnedBy };
}

export function sourceOf({ headers, socket }: IncomingMessage, trustedProxies: CidrSet): IpAddress {
  const peer = parseIp(socket.remoteAddress ?? '');
  if (peer === undefined) throw new UserError(malformedRequest, { reason: 'the connection is closed' });
  return clientAddress(peer, headers['x-forwarded-for'], trustedProxies);
}
