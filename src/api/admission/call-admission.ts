import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { UserError } from '../../errors/user-error.ts';
import { BoundedCache } from '../../lib/bounded-cache.ts';
import { parseIp } from '../../lib/ip/address.ts';
import type { CidrSet } from '../../lib/ip/cidr-set.ts';
import { whenReady } from '../../lib/awaitable.ts';
import type { Awaitable } from '../../lib/awaitable.ts';
import { BodyBudget } from '../body/body-budget.ts';
import { bodyLimitBytes } from '../body/body.ts';
import { CallQueue } from './call-queue.ts';
import type { Refusal } from './call-queue.ts';
import { QueuedCall } from './waiting-calls.ts';
import { hasBody } from '../call.ts';
import type { Caller, Identity } from './caller.ts';
import { isFromDashboard, pageSecret } from '../dashboard/own-page.ts';
import { accountBusy, bodiesTooLarge, overloaded, principalBusy } from '../errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined until its body is in: only then a call takes a place, so that nobody holds one by sending slowly. */
    queued: QueuedCall | undefined;
    /** Gives back what its body has of the budget of its principal. */
    freeBody: (() => void) | undefined;
  }
}

interface CallAdmissionOptions {
  /** Calls of one account that are in progress at once. */
  readonly accountCalls: number;
  readonly maxWaitMs: number;
  readonly isBesideTraffic: () => boolean;
  readonly trustedProxies: CidrSet;
  readonly observer: ApiObserver;
  readonly logger: FastifyBaseLogger;
  /** The caller behind a request is known. */
  readonly signedIn: (request: IncomingMessage) => void;
  /** Begins and reads nothing more of a connection for a while. */
  readonly rest: (socket: Socket, restMs: number) => void;
}

type Reason = Refusal | 'bodies_too_large';

/** Counts calls that are refused, and those that wait. */
export interface ApiObserver {
  callRefused(reason: Reason | 'rate_limited'): void;
  /** Called whenever the number of calls that wait for their turn has changed. */
  callsWaiting(count: number): void;
}

/** The account and the principal, in the queue, of credentials that were not seen before. */
const unknownCaller = '';
const knownTokens = 10_000;
const logEveryMs = 10_000;
/**
 * Time for which a client is told to wait, and for which nothing more is read from the connection on which its call was
 * refused: clients that do not listen would keep the process busy with refusals.
 */
const restSeconds = 1;

/**
 * Lets calls in by turns between accounts, and refuses those that cannot be served. A place is held only while this
 * process works for a call: not while a client sends its body, reads its answer, or waits for the answer to a wrong token.
 */
export class CallAdmission {
  readonly #options: CallAdmissionOptions;
  readonly #queue: CallQueue;
  /** Credentials of calls that were authenticated, with the way to look at them again without hashing them. */
  readonly #known = new BoundedCache<string, Identity>(knownTokens);
  readonly #bodies: BodyBudget;
  /** Made once: the stack of an error costs more than the rest of a refusal. */
  readonly #refusals: Readonly<Record<Reason, UserError>>;
  #unlogged = 0;
  #loggedMs = Number.NEGATIVE_INFINITY;

  constructor(options: CallAdmissionOptions) {
    this.#options = options;
    const { accountCalls, maxWaitMs, isBesideTraffic, observer } = options;
    // The rest is for the others of the account, such as the admin who ends the key of a bot that takes all it can.
    const principalCalls = Math.max(1, Math.floor((accountCalls * 3) / 4));
    this.#queue = new CallQueue({
      accountLimit: accountCalls,
      principalLimit: principalCalls,
      maxWaitMs,
      onWaiting: (count) => observer.callsWaiting(count),
      isBesideTraffic,
    });
    const later = { 'Retry-After': String(restSeconds) };
    this.#bodies = new BodyBudget(accountCalls * bodyLimitBytes);
    this.#refusals = {
      overloaded: new UserError(overloaded, later),
      account_busy: new UserError(accountBusy, { limit: accountCalls }, later),
      principal_busy: new UserError(principalBusy, { limit: principalCalls }, later),
      bodies_too_large: new UserError(bodiesTooLarge, { limit: this.#bodies.limitBytes }, later),
    };
  }

  attach(app: FastifyInstance): void {
    app.decorateRequest('queued', undefined);
    app.decorateRequest('freeBody', undefined);
  }

  /**
   * Runs the authentication of a request. Credentials that were not seen before are looked up by turns; a token that was
   * is looked at again, since it may have ended. The request of a page is checked whole each time, by `run`.
   */
  authenticate(request: FastifyRequest, reply: FastifyReply, run: () => Awaitable<Identity>): Awaitable<Identity> {
    const isPage = isFromDashboard(request.raw);
    const credential = (isPage ? pageSecret(request.raw) : request.raw.headers.authorization) ?? '';
    if (credential === '') return run();
    const known = this.#known.get(credential);
    const remember = (identity: Identity) => {
      this.#known.set(credential, identity);
      return identity;
    };
    if (known === undefined) return this.authenticateUnknown(request, reply, run).then(remember);
    if (isPage) return run();
    return whenReady(known.again(true), (identity) => (identity === known ? known : remember(identity)));
  }

  /** Runs the look-up of a credential that was not seen before, when it is its turn. */
  authenticateUnknown<Result>(
    request: FastifyRequest,
    reply: FastifyReply,
    run: () => Awaitable<Result>,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      const queued = new QueuedCall(this.#queue, (refusal) => {
        if (refusal !== undefined) {
          // An unknown caller has no account that could be busy.
          reject(this.#refuse('overloaded', request, reply));
          return;
        }
        const work = Promise.try(run);
        queued.holdFor(work);
        work.then(resolve, reject);
      });
      reply.raw.on('close', () => queued.release());
      this.#queue.enter(unknownCaller, unknownCaller, queued);
    });
  }

  /** Called when the caller is known. Throws if its call could not be served, before its body is read. */
  arrive(request: FastifyRequest, reply: FastifyReply, { accountId, principal }: Caller): void {
    this.#options.signedIn(request.raw);
    const refusal = this.#queue.refusalFor(accountId, principal.id);
    if (refusal !== undefined) throw this.#refuse(refusal, request, reply);
    if (!hasBody(request.headers)) return;
    request.freeBody = this.#bodies.take(principal.id, announcedBytes(request));
    if (request.freeBody === undefined) throw this.#refuse('bodies_too_large', request, reply);
    reply.raw.on('close', request.freeBody);
  }

  /** Calls `done` when the turn of a call has come whose body is in. */
  begin(request: FastifyRequest, reply: FastifyReply, caller: Caller, done: (error?: Error) => void): void {
    const queued = new QueuedCall(this.#queue, (refusal) => {
      request.freeBody?.();
      done(refusal && this.#refuse(refusal, request, reply));
    });
    request.queued = queued;
    this.#queue.enter(caller.accountId, caller.principal.id, queued);
    // Most calls that only read are answered by now.
    if (!queued.isAbandoned) reply.raw.on('close', () => queued.release());
  }

  #refuse(reason: Reason, request: FastifyRequest, reply: FastifyReply): UserError {
    this.#rest(request, reply);
    this.#options.observer.callRefused(reason);
    this.#log();
    return this.#refusals[reason];
  }

  #rest({ raw: { socket } }: FastifyRequest, { raw }: FastifyReply): void {
    const peer = parseIp(socket.remoteAddress ?? '');
    // The connection of a proxy carries calls of others too.
    if (peer === undefined || this.#options.trustedProxies.lookup(peer) !== 0) return;
    raw.once('close', () => this.#options.rest(socket, restSeconds * 1000));
  }

  /** Logs that calls are refused, but not each of them: that would add to the load. */
  #log(): void {
    this.#unlogged += 1;
    const nowMs = performance.now();
    if (nowMs - this.#loggedMs < logEveryMs) return;
    this.#options.logger.warn({ refused: this.#unlogged }, 'too many calls at once: some are refused');
    this.#loggedMs = nowMs;
    this.#unlogged = 0;
  }
}

/** A body without a length may become as large as the operation takes, and no larger one is read. */
function announcedBytes({ headers, routeOptions: { bodyLimit } }: FastifyRequest): number {
  return Math.min(Number(headers['content-length'] ?? bodyLimit), bodyLimit);
}
