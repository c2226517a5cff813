import type { FastifyReply, FastifyRequest } from 'fastify';

import { toTimestamp } from '../../lib/ids.ts';
import { formatIp } from '../../lib/ip/address.ts';
import type { AdmittedCaller } from '../admission/admit-caller.ts';
import type { EndedSession, NewSession, SessionIdentity } from '../admission/caller.ts';
import type { OperationContext } from '../register-operations.ts';
import { isOverTls, pageSecret } from './own-page.ts';
import { sessionCookies, setSessionCookie } from './session-cookie.ts';

/** Gives the browser the secrets of a session that has just begun, and ends the one that it had before. */
export async function openSession(
  request: FastifyRequest,
  reply: FastifyReply,
  context: OperationContext,
  { admitted, session }: { readonly admitted: AdmittedCaller; readonly session: NewSession },
): Promise<FastifyReply> {
  const { raw } = request;
  const { options } = context;
  const { secret, cookie, expiresAtMs, replaced } = session;
  options.observer.sessionBegun(replaced);
  // The browser drops the secrets of the session before, so that nothing could use or end it any more.
  await endBefore(raw, context);
  const maxAgeSeconds = Math.ceil((expiresAtMs - Date.now()) / 1000);
  void reply.header('Set-Cookie', setSessionCookie(cookie, maxAgeSeconds, isOverTls(raw, options)));
  const facts = await presentSession(request, reply, { ...admitted.identity, expiresAtMs }, admitted, context);
  return reply.code(201).send({ ...facts, secret });
}

/** Ends the session whose secrets the browser has. */
export async function endBefore(
  raw: FastifyRequest['raw'],
  { options }: OperationContext,
): Promise<EndedSession | undefined> {
  const secret = pageSecret(raw);
  const cookies = sessionCookies(raw.headers, isOverTls(raw, options));
  return secret === undefined ? undefined : options.sessions.end({ secret, cookies });
}

/** Facts of the session, as the dashboard shows them. */
export async function presentSession(
  request: FastifyRequest,
  reply: FastifyReply,
  session: SessionIdentity,
  { caller, warnedBy }: AdmittedCaller,
  { options }: OperationContext,
): Promise<object> {
  request.caller = caller;
  if (warnedBy.length > 0) {
    options.warned(warnedBy, caller.source);
    void reply.header('Gatehouse-Warning', warnedBy.join(', '));
  }
  const { principal, users, apiKey, restrictions } = await options.sessions.describe(session, warnedBy);
  return {
    principal,
    users,
    account_id: caller.accountId,
    ...(apiKey === undefined ? { provider: options.signIn.provider?.label ?? '' } : { api_key: apiKey }),
    role: caller.principal.role,
    read_only: caller.readOnly || caller.principal.role === 'viewer',
    address: formatIp(caller.source),
    expires_at: toTimestamp(session.expiresAtMs),
    idle_seconds: options.sessions.idleSeconds,
    would_be_refused_by: restrictions,
    version: options.programVersion,
  };
}
