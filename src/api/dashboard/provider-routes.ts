import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { UserError } from '../../errors/user-error.ts';
import { formatIp } from '../../lib/ip/address.ts';
import { admitAddress, checkSource, sourceOf } from '../admission/admit-caller.ts';
import { secretsIn } from '../body/secret-in.ts';
import type { ApiOptions } from '../options.ts';
import type { OperationContext } from '../register-operations.ts';
import { noProvider, signInElsewhere, signInSourceRefused } from './errors.ts';
import { isOverTls } from './own-page.ts';
import type { ProviderSignIn } from './provider-sign-in.ts';
import { loginCookies, setLoginCookie } from './session-cookie.ts';
import { openSession } from './open-session.ts';

/** An answer of a provider is a code, a state and a few words more. */
const bodyLimitBytes = 16_384;

/** Signing in with an identity provider. The provider leads back to a page of the dashboard, which sends its answer here. */
export function addProviderRoutes(scope: FastifyInstance, context: OperationContext): void {
  const { options } = context;
  scope.get('/dashboard/sign-in', async (_request, reply) => {
    const { provider, token } = options.signIn;
    return reply.send({ provider: provider && { label: provider.label }, token });
  });
  scope.post('/dashboard/sign-in', { bodyLimit: bodyLimitBytes }, (request, reply) => begin(request, reply, context));
  scope.post('/dashboard/sign-in/finish', { bodyLimit: bodyLimitBytes }, (request, reply) =>
    finish(request, reply, context),
  );
}

async function begin(request: FastifyRequest, reply: FastifyReply, context: OperationContext): Promise<FastifyReply> {
  const { raw } = request;
  const { options, admission } = context;
  const [as, accountId = ''] = secretsIn(request.body, ['as'], ['account_id']);
  const provider = providerOf(options);
  checkOrigin(request, options);
  const { url, cookie, secret } = await admission
    .authenticateUnknown(request, reply, async () => {
      await checkAnySource(request, provider, options);
      return provider.begin(as === 'other', accountId === '' ? undefined : accountId);
    })
    .catch((fault: unknown) => {
      logCause(fault, request, options);
      throw fault;
    });
  void reply.header('Set-Cookie', setLoginCookie(cookie, provider.lastsSeconds, isOverTls(raw, options)));
  return reply.send({ url, secret });
}

async function finish(request: FastifyRequest, reply: FastifyReply, context: OperationContext): Promise<FastifyReply> {
  const { raw } = request;
  const { options, rates, admission } = context;
  const provider = providerOf(options);
  const [query = '', secret = ''] = secretsIn(request.body, ['query', 'secret']);
  const overTls = isOverTls(raw, options);
  const source = sourceOf(raw, options.trustedProxies);
  void reply.header('Set-Cookie', setLoginCookie(undefined, 0, overTls));
  const finished = admission.authenticateUnknown(request, reply, async () => {
    await checkAnySource(request, provider, options);
    const answer = { query, secret, cookies: loginCookies(raw.headers, overTls) };
    const admit = (accountId: string): void => {
      admitAddress(accountId, 'dashboard', raw, options);
      if (rates !== undefined) void reply.headers(rates.take(accountId));
    };
    return provider.finish(answer, { operationId: request.id, source, admit });
  });
  const outcome = await finished.catch((fault: unknown) => {
    logCause(fault, request, options);
    // An answer that somebody has made up costs them as much as a wrong token.
    return fault instanceof UserError && fault.status < 500
      ? options.failures.answerGuess(fault, () => source)
      : Promise.reject(fault);
  });
  if ('accounts' in outcome) return reply.send(outcome);
  const { identity, session } = outcome;
  return openSession(request, reply, context, { admitted: checkSource(identity, 'dashboard', raw, options), session });
}

function providerOf({ signIn: { provider } }: ApiOptions): ProviderSignIn {
  if (provider === undefined) throw new UserError(noProvider);
  return provider;
}

/** A sign-in belongs to the origin that it began at, where the browser keeps what it needs. */
function checkOrigin({ raw: { headers } }: FastifyRequest, { publicUrl = '' }: ApiOptions): void {
  const { origin } = headers;
  if (origin !== undefined && origin !== URL.parse(publicUrl)?.origin)
    throw new UserError(signInElsewhere, { url: `${publicUrl}/dashboard/` });
}

/** The user and the account are not known yet: at least one account must let the address in. */
async function checkAnySource({ raw }: FastifyRequest, provider: ProviderSignIn, options: ApiOptions): Promise<void> {
  const source = sourceOf(raw, options.trustedProxies);
  for (const accountId of await provider.accountIds())
    if (options.access.admit(accountId, 'dashboard', source).refusedBy === undefined) return;
  throw new UserError(signInSourceRefused, { address: formatIp(source) });
}

/** The causes are for whoever runs the server, and for nobody else. */
function logCause(fault: unknown, { id }: FastifyRequest, { logger }: ApiOptions): void {
  if (fault instanceof UserError && fault.cause !== undefined)
    logger.warn(
      { err: fault.cause, operation_id: id },
      `somebody could not sign in to the dashboard: ${fault.message}`,
    );
}
