import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { quote, UserError } from '../../errors/user-error.ts';
import { admitCaller, answerFault, checkSource } from '../admission/admit-caller.ts';
import { checkToken, refused } from '../admission/bearer.ts';
import { hasBody } from '../call.ts';
import { setCommonHeaders } from '../http/common-headers.ts';
import { bodyNotExpected } from '../errors.ts';
import { pathOf } from '../http/not-found.ts';
import type { OperationContext } from '../register-operations.ts';
import { secretIn } from '../body/secret-in.ts';
import { dashboardHeaderMissing, tokenSignInOff } from './errors.ts';
import { endBefore, openSession, presentSession } from './open-session.ts';
import { checkOwnPage, isFromDashboard, isOverTls } from './own-page.ts';
import { addProviderRoutes } from './provider-routes.ts';
import { setSessionCookie } from './session-cookie.ts';
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
  addProviderRoutes(scope, context);
  scope.delete('/dashboard/session', async ({ raw }, reply) => {
    const ended = await endBefore(raw, context);
    const elsewhere = ended?.isOfProvider === true ? await options.signIn.provider?.signOutUrl() : undefined;
    const answered = endCookie(raw, reply, context);
    return elsewhere === undefined ? answered.send() : answered.code(200).send({ sign_out_url: elsewhere });
  });
  scope.delete('/dashboard/sessions', async (request, reply) => {
    const resume = async () => options.sessions.resume(sessionCredential(request.raw, options));
    const { principal } = await context.admission.authenticate(request, reply, resume);
    await options.sessions.endAll(principal);
    return endCookie(request.raw, reply, context).send();
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
  const { provider, token: takesTokens } = options.signIn;
  if (!takesTokens) throw new UserError(tokenSignInOff, { provider: provider?.label ?? 'your identity provider' });
  const authenticate = async () => options.authenticator.authenticate(checkToken(token));
  const identity = await admission
    .authenticateUnknown(request, reply, authenticate)
    .catch((fault: unknown) => answerFault(fault, raw, options));
  const admitted = checkSource(identity, 'dashboard', raw, options);
  if (rates !== undefined) void reply.headers(rates.take(admitted.caller.accountId));
  const place = { operationId: request.id, source: admitted.caller.source };
  return openSession(request, reply, context, {
    admitted,
    session: await options.sessions.begin(identity, token, place),
  });
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
  return reply.send(await presentSession(request, reply, session, admitted, context));
}

function endCookie(raw: FastifyRequest['raw'], reply: FastifyReply, { options }: OperationContext): FastifyReply {
  return reply.header('Set-Cookie', setSessionCookie(undefined, 0, isOverTls(raw, options))).code(204);
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
