import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { quote, UserError } from '../../errors/user-error.ts';
import { toTimestamp } from '../../lib/ids.ts';
import { formatIp } from '../../lib/ip/address.ts';
import { admitCaller, answerFault, checkSource } from '../admission/admit-caller.ts';
import type { AdmittedCaller } from '../admission/admit-caller.ts';
import { checkToken, refused } from '../admission/bearer.ts';
import { hasBody } from '../call.ts';
import type { SessionIdentity } from '../admission/caller.ts';
import { setCommonHeaders } from '../http/common-headers.ts';
import { bodyNotExpected } from '../errors.ts';
import { pathOf } from '../http/not-found.ts';
import type { OperationContext } from '../register-operation.ts';
import { secretIn } from '../body/secret-in.ts';
import { dashboardHeaderMissing } from './errors.ts';
import { checkOwnPage, isFromDashboard, isOverTls, pageSecret } from './own-page.ts';
import { sessionCookies, setSessionCookie } from './session-cookie.ts';
import { sessionCredential } from './session-credential.ts';

/** More than any token, with room for the rest of the body. */
const bodyLimitBytes = 4_096;

export interface SessionObserver {
  /** Somebody signed in, which has ended so many older sessions of the same principal. */
  sessionBegun(replaced: number): void;
}

/** Signing in and out of the dashboard. A session acts through the ordinary operations: these routes only begin and end it. */
export async function registerSessionRoutes(scope: FastifyInstance, context: OperationContext): Promise<void> {
  const { options } = context;
  scope.addHook('onRequest', (request, reply, done) => {
    done(setCommonHeaders(request, reply, options.vendor) ?? faultOf(() => checkRequest(request, context)));
  });
  scope.post('/dashboard/session', { bodyLimit: bodyLimitBytes }, (request, reply) => signIn(request, reply, context));
  scope.get('/dashboard/session', (request, reply) => showSession(request, reply, context));
  scope.delete('/dashboard/session', async ({ raw }, reply) => {
    await endBefore(raw, context);
    return endCookie(raw, reply, context);
  });
  scope.delete('/dashboard/sessions', async (request, reply) => {
    const resume = async () => options.sessions.resume(sessionCredential(request.raw, options));
    const { principal } = await context.admission.authenticate(request, reply, resume);
    await options.sessions.endAll(principal);
    return endCookie(request.raw, reply, context);
  });
}

/** Every one of these calls is one of the dashboard's own pages: no other page can sign anybody in or out. */
function checkRequest(request: FastifyRequest, { options }: OperationContext): void {
  const { raw, method } = request;
  if (!isFromDashboard(raw)) throw refused(dashboardHeaderMissing);
  checkOwnPage(raw, options);
  if (method !== 'POST' && hasBody(raw.headers))
    throw new UserError(bodyNotExpected, { method, path: quote(pathOf(request)) });
}

async function signIn(request: FastifyRequest, reply: FastifyReply, context: OperationContext): Promise<FastifyReply> {
  const { raw } = request;
  const { options, rates, admission } = context;
  const token = secretIn(request.body, 'token').trim();
  const authenticate = async () => options.authenticator.authenticate(checkToken(token));
  const identity = await admission
    .authenticateUnknown(request, reply, authenticate)
    .catch((fault: unknown) => answerFault(fault, raw, options));
  const admitted = checkSource(identity, 'dashboard', raw, options);
  if (rates !== undefined) void reply.headers(rates.take(admitted.caller.accountId));
  const { secret, cookie, expiresAtMs, replaced } = await options.sessions.begin(identity, token);
  options.observer.sessionBegun(replaced);
  // The browser drops the secrets of the session before, so that nothing could use or end it any more.
  await endBefore(raw, context);
  const maxAgeSeconds = Math.ceil((expiresAtMs - Date.now()) / 1000);
  void reply.header('Set-Cookie', setSessionCookie(cookie, maxAgeSeconds, isOverTls(raw, options)));
  const facts = await present(request, reply, { ...identity, expiresAtMs }, admitted, context);
  return reply.code(201).send({ ...facts, secret });
}

/** Ends the session whose secrets the browser has. */
async function endBefore(raw: FastifyRequest['raw'], { options }: OperationContext): Promise<void> {
  const secret = pageSecret(raw);
  const cookies = sessionCookies(raw.headers, isOverTls(raw, options));
  if (secret !== undefined) await options.sessions.end({ secret, cookies });
}

async function showSession(
  request: FastifyRequest,
  reply: FastifyReply,
  context: OperationContext,
): Promise<FastifyReply> {
  const { options, admission } = context;
  const { raw } = request;
  const admitted = await admitCaller(raw, options, (run) => admission.authenticate(request, reply, run));
  const session = await options.sessions.resume(sessionCredential(raw, options));
  return reply.send(await present(request, reply, session, admitted, context));
}

async function present(
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
    api_key: apiKey,
    role: caller.principal.role,
    read_only: caller.readOnly || caller.principal.role === 'viewer',
    address: formatIp(caller.source),
    expires_at: toTimestamp(session.expiresAtMs),
    idle_seconds: options.sessions.idleSeconds,
    would_be_refused_by: restrictions,
    version: options.programVersion,
  };
}

function endCookie(raw: FastifyRequest['raw'], reply: FastifyReply, { options }: OperationContext): FastifyReply {
  return reply
    .header('Set-Cookie', setSessionCookie(undefined, 0, isOverTls(raw, options)))
    .code(204)
    .send();
}

function faultOf(check: () => void): Error | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    // Only errors are thrown here.
    return error as Error;
  }
}
