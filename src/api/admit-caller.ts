import type { IncomingMessage } from 'node:http';

import { malformedRequest } from '../errors/shared.ts';
import { UserError } from '../errors/user-error.ts';
import { formatIp, parseIp } from '../lib/ip/address.ts';
import type { IpAddress } from '../lib/ip/address.ts';
import type { CidrSet } from '../lib/ip/cidr-set.ts';
import { clientAddress } from '../lib/ip/client-address.ts';
import type { AccessTable } from '../snapshot/access.ts';
import { whenReady } from '../store/database.ts';
import type { Awaitable } from '../store/database.ts';
import { bearerToken } from './bearer.ts';
import type { Authenticator, Caller, Identity } from './caller.ts';
import { keySourceRefused, sourceRefused } from './errors.ts';
import type { FailedAuthentications } from './failed-authentications.ts';

interface AdmissionOptions {
  readonly authenticator: Authenticator;
  readonly access: AccessTable;
  readonly trustedProxies: CidrSet;
  readonly failures: FailedAuthentications;
}

export interface AdmittedCaller {
  readonly caller: Caller;
  /** Restrictions that are not enforced and would have refused the caller. */
  readonly warnedBy: readonly string[];
}

/** Runs the lookup of a token when it is its turn. */
type InTurn = (run: () => Awaitable<Identity>) => Awaitable<Identity>;

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
  return whenReady(identity, (known) => checkSource(known, request, options));
}

/**
 * Looks again, from the caches, whether a caller who was admitted still may call. A token that has ended since is no guess:
 * the answer does not count as a failed authentication.
 */
export function admitAgain(request: IncomingMessage, options: AdmissionOptions): Awaitable<Caller> {
  return whenReady(authenticate(request, options), (known) => checkSource(known, request, options).caller);
}

function authenticate({ headers }: IncomingMessage, { authenticator }: AdmissionOptions): Awaitable<Identity> {
  return authenticator.authenticate(bearerToken(headers.authorization));
}

function answerFault(fault: unknown, request: IncomingMessage, options: AdmissionOptions): Promise<never> {
  return options.failures.answer(fault, () => sourceOf(request, options.trustedProxies));
}

function checkSource(
  { principal, keyId, readOnly, policyIds }: Identity,
  request: IncomingMessage,
  { access, trustedProxies }: AdmissionOptions,
): AdmittedCaller {
  const { accountId } = principal;
  const source = sourceOf(request, trustedProxies);
  const { refusedBy, warnedBy } = access.admit(accountId, 'api', source);
  if (refusedBy !== undefined)
    throw new UserError(sourceRefused, { address: formatIp(source), restriction: refusedBy });
  if (policyIds.length > 0 && !access.allows(policyIds, source))
    throw new UserError(keySourceRefused, { key: keyId, address: formatIp(source) });
  return { caller: { principal, keyId, readOnly, accountId, source }, warnedBy };
}

function sourceOf({ headers, socket }: IncomingMessage, trustedProxies: CidrSet): IpAddress {
  const peer = parseIp(socket.remoteAddress ?? '');
  if (peer === undefined) throw new UserError(malformedRequest, { reason: 'the connection is closed' });
  return clientAddress(peer, headers['x-forwarded-for'], trustedProxies);
}
