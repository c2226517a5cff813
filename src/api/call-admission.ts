import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';

import { UserError } from '../errors/user-error.ts';
import { BoundedCache } from '../lib/bounded-cache.ts';
import { parseIp } from '../lib/ip/address.ts';
import type { CidrSet } from '../lib/ip/cidr-set.ts';
import { CallQueue, QueuedCall } from './call-queue.ts';
import type { Refusal } from './call-queue.ts';
import { accountBusy, overloaded } from './errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined for probes, which do not wait. */
    queued: QueuedCall | undefined;
  }
}

interface CallAdmissionOptions {
  /** Calls of one account that are in progress at once. */
  readonly accountCalls: number;
  readonly maxWaitMs: number;
  readonly trustedProxies: CidrSet;
  readonly observer: ApiObserver;
  readonly logger: FastifyBaseLogger;
}

/** Counts calls that are refused, and those that wait. */
export interface ApiObserver {
  callRefused(reason: Refusal | 'rate_limited'): void;
  /** Called whenever the number of calls that wait for their turn has changed. */
  callsWaiting(count: number): void;
}

/** Paths by which others see whether the process lives: they are answered under any load. */
const probes = /^\/(?:healthz|readyz)(?:\?|$)/;
/** Lane of requests whose account is not known yet: without a token, or with one that was not seen before. */
const strangers = '';
const knownTokens = 10_000;
const logEveryMs = 10_000;
/**
 * Time for which a client is told to wait, and for which nothing more is read from the connection on which its call was
 * refused: clients that do not listen would keep the process busy with refusals.
 */
const restSeconds = 1;

/** Lets requests in by turns between accounts, before anything is done for them, and refuses those that cannot be served. */
export class CallAdmission {
  readonly #options: CallAdmissionOptions;
  readonly #queue: CallQueue;
  /** Accounts by the Authorization header of calls that were authenticated. It says whose turn it is, and no more. */
  readonly #accounts = new BoundedCache<string, string>(knownTokens);
  /** Made once: the stack of an error costs more than the rest of a refusal. */
  readonly #refusals: Readonly<Record<Refusal, UserError>>;
  #unlogged = 0;
  #loggedMs = Number.NEGATIVE_INFINITY;

  constructor(options: CallAdmissionOptions) {
    this.#options = options;
    this.#queue = new CallQueue({
      laneLimit: options.accountCalls,
      maxWaitMs: options.maxWaitMs,
      onWaiting: (count) => options.observer.callsWaiting(count),
    });
    const later = { 'Retry-After': String(restSeconds) };
    this.#refusals = {
      overloaded: new UserError(overloaded, later),
      account_busy: new UserError(accountBusy, { limit: options.accountCalls }, later),
    };
  }

  attach(app: FastifyInstance): void {
    app.decorateRequest('queued', undefined);
    app.addHook('onRequest', (request, reply, done) => {
      const { url = '', headers } = request.raw;
      if (probes.test(url)) {
        done();
        return;
      }
      const key = this.#accounts.get(headers.authorization ?? '') ?? strangers;
      const queued = new QueuedCall(this.#queue, (refusal) => {
        if (refusal === undefined) {
          done();
          return;
        }
        this.#rest(reply.raw, request.raw.socket);
        done(this.#refuse(refusal));
      });
      request.queued = queued;
      reply.raw.once('close', () => queued.release());
      this.#queue.enter(key, queued);
    });
  }

  /** Called when the account of a request is known. */
  identify({ raw, queued }: FastifyRequest, accountId: string): void {
    const { authorization } = raw.headers;
    if (queued === undefined || authorization === undefined) return;
    if (this.#accounts.get(authorization) !== accountId) {
      this.#accounts.fill(this.#accounts.ticket(), authorization, accountId);
    }
    this.#queue.move(queued, accountId);
  }

  #refuse(refusal: Refusal): UserError {
    this.#options.observer.callRefused(refusal);
    this.#log();
    return this.#refusals[refusal];
  }

  #rest(response: ServerResponse, socket: Socket): void {
    const peer = parseIp(socket.remoteAddress ?? '');
    // The connection of a proxy carries calls of others too.
    if (peer === undefined || this.#options.trustedProxies.lookup(peer) !== 0) return;
    response.once('close', () => {
      socket.pause();
      setTimeout(() => socket.resume(), restSeconds * 1000).unref();
    });
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
