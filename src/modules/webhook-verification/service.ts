import { upgradeNotVerified, webhookRefused, webhookRefusedUnauthorized } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import type { Outcome, OwnAnswer, RequestVisit } from '../step.ts';
import { answerSigned, answerUnsigned } from './challenges.ts';
import { findProvider, notOffered } from './providers.ts';
import type { Provider } from './providers.ts';
import type { RequestHead, WholeRequest } from './signed-text.ts';
import { createVerifier } from './verify.ts';

/** Checks requests by their bodies. */
export interface BodyCheck {
  /** Asked before the body is read, so that nothing is held for whoever sends nothing to check. */
  refusesHead(this: void, request: RequestHead): UserError | undefined;
  /** Undefined: the request passes. */
  check(this: void, request: WholeRequest): UserError | OwnAnswer | undefined;
}

/** Most bytes of a webhook: providers send less than one, except for GitHub, which stops at 25 MB. */
const webhookBytes = 8 * 1024 * 1024;

/** A provider by its id, or why there is none. */
export function providerOf(id: string): Provider | string {
  return findProvider(id) ?? notOffered.get(id.toLowerCase()) ?? 'there is no provider of this name';
}

/** Throws for a secret that cannot be one of the provider. */
export function createBodyCheck(found: Provider, secret: string, now: () => number = Date.now): BodyCheck {
  const verifier = createVerifier(found, secret);
  const { title, challenge } = found;
  // Xero asks by wrong signatures whether they are checked, and takes nothing else for a yes.
  const error = challenge === 'xero' ? webhookRefusedUnauthorized : webhookRefused;
  const toError = (reason: string | undefined): UserError | undefined =>
    reason === undefined ? undefined : new UserError(error, { provider: title, reason });
  return {
    refusesHead: (request) =>
      answerUnsigned(challenge, secret, request) === undefined ? toError(verifier.refusesHead(request)) : undefined,
    check: (request) =>
      answerUnsigned(challenge, secret, request) ??
      toError(verifier.refuses(request, now())) ??
      answerSigned(challenge, secret, request),
  };
}

/** Asks for the body of a request, and checks it. Undefined: it is signed. */
export function verifyBody(visit: RequestVisit, { refusesHead, check }: BodyCheck): Outcome | undefined {
  if (visit.isUpgrade) return new UserError(upgradeNotVerified);
  const { body, method, headers, urls } = visit;
  if (body === undefined) return refusesHead(visit) ?? { kind: 'hold', maxBytes: webhookBytes };
  const found = check({ method, headers, urls, body });
  if (found === undefined || found instanceof UserError) return found;
  return { kind: 'answer', answer: found, isChanged: false };
}
