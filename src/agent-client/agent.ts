import { setTimeout as sleep } from 'node:timers/promises';

import { MessageFault } from '../agents/wire/fields.ts';
import { streamTypes } from '../agents/wire/stream-types.ts';
import { Backoff } from './backoff.ts';
import type { RecentExchanges } from './inspect/recent-exchanges.ts';
import { connectServer, ServerFault } from './connect-server.ts';
import type { ServerAddress } from './connect-server.ts';
import { isPassing, kindOf, Refused } from './refusals.ts';
import type { Reporter } from './reporter.ts';
import { Session } from './session.ts';
import type { SessionOutcome, SessionTimes } from './session.ts';
import { bind, signIn } from './sign-in.ts';
import type { AgentFacts, BoundTunnel, Known, TunnelPlan } from './sign-in.ts';
import { Visitors } from './visitors.ts';

export interface AgentTimes extends SessionTimes {
  /** Limit for TCP and TLS to the server, and to the target. */
  readonly connectMs: number;
  /** Longest time that visitors have to leave when the agent stops. */
  readonly drainMs: number;
  /** Time online after which the next attempt is made at once again. */
  readonly steadyMs: number;
  /** See `Backoff`. */
  readonly backoffMs: readonly number[];
}

export const usualTimes: AgentTimes = {
  connectMs: 10_000,
  answerMs: 10_000,
  heartbeat: { intervalMs: 10_000, silenceMs: 25_000 },
  drainMs: 5000,
  steadyMs: 10_000,
  // A restart of the server takes seconds: for a while it is looked for each second, and then more and more seldom.
  backoffMs: [100, 500, ...Array<number>(10).fill(1000), ...Array<number>(10).fill(2000), 5000, 10_000, 30_000],
};

export interface AgentOptions {
  readonly server: ServerAddress;
  readonly facts: AgentFacts;
  readonly plan: TunnelPlan;
  readonly reporter: Reporter;
  readonly times: AgentTimes;
  /** Where requests of visitors are recorded; left out: nowhere. */
  readonly recent?: RecentExchanges | undefined;
}

/** Why an agent ended. */
export type AgentEnd =
  | { readonly kind: 'stopped'; readonly by: 'operator' | 'server' }
  | { readonly kind: 'refused'; readonly refusal: Refused }
  | { readonly kind: 'tunnel stopped'; readonly text: string; readonly code: number | undefined }
  | { readonly kind: 'wrong server'; readonly reason: string };

/** Time for the server to read the answer to a command before the connection ends. */
const answerLingerMs = 100;
/** Limit for giving the tunnel up; visitors that come after it meet a closed session. */
const unbindMs = 2000;

/** Keeps one tunnel open: connects, reconnects, and ends when it is told to or when it is refused. */
export class Agent {
  readonly #options: AgentOptions;
  readonly #visitors: Visitors;
  readonly #stopping = new AbortController();
  readonly #backoff: Backoff;
  #known: Known = { clientId: '', cookie: '' };
  #bound: BoundTunnel | undefined;
  #wasOnline = false;

  constructor(options: AgentOptions) {
    const { plan, reporter, times } = options;
    this.#options = options;
    this.#backoff = new Backoff(times.backoffMs);
    this.#visitors = new Visitors({
      target: plan.target,
      insecure: plan.upstreamInsecure,
      hasProxyHeader: plan.options.proxyProto !== 0,
      dialMs: times.connectMs,
      events: reporter,
      recent: options.recent,
    });
  }

  /** URL or labels of the tunnel; undefined before the first. */
  get address(): string | undefined {
    return this.#bound && this.#addressOf(this.#bound);
  }

  /** Resolves when the agent has ended. */
  async run(): Promise<AgentEnd> {
    const { reporter } = this.#options;
    const { signal } = this.#stopping;
    let retryMs = this.#backoff.next();
    for (;;) {
      await sleep(retryMs, undefined, { signal }).catch(() => {});
      const end = signal.aborted ? stoppedByOperator : await this.#attempt();
      if (end.kind !== 'offline') return end;
      retryMs = this.#backoff.next();
      reporter.state({ kind: 'offline', reason: end.reason, retryMs });
    }
  }

  /** Lets visitors leave, then ends. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Makes one connection and serves visitors through it, for as long as it lasts. */
  async #attempt(): Promise<AgentEnd | Offline> {
    const { server, times, reporter } = this.#options;
    const { signal } = this.#stopping;
    reporter.state({ kind: 'connecting', server: `${server.host}:${server.port}` });
    try {
      const socket = await connectServer(server, times.connectMs, signal);
      const session = new Session(socket, times, (stream) => this.#visitors.take(stream));
      const leave = (): void => {
        session.close('the agent is stopping');
      };
      signal.addEventListener('abort', leave);
      await this.#open(session).finally(() => {
        signal.removeEventListener('abort', leave);
      });
      return await this.#serve(session);
    } catch (error) {
      return this.#afterFault(error);
    }
  }

  async #open(session: Session): Promise<void> {
    const { facts, plan, reporter, times } = this.#options;
    try {
      this.#known = await signIn(session, facts, this.#known, times.heartbeat);
      this.#bound = await this.#bind(session);
    } catch (error) {
      session.close('');
      throw error;
    }
    this.#wasOnline = true;
    reporter.state({ kind: 'online', address: this.#addressOf(this.#bound), target: plan.target.url });
  }

  #addressOf({ url }: BoundTunnel): string {
    return url || this.#options.plan.labelsText;
  }

  /** A name that the server chose may be lost while the agent was away for long: another one is better than none. */
  async #bind(session: Session): Promise<BoundTunnel> {
    const { plan } = this.#options;
    return bind(session, plan, this.#bound).catch((error: unknown) => {
      const isLost = error instanceof Refused && kindOf(error) === 'name' && this.#bound !== undefined;
      if (isLost) return bind(session, plan, undefined);
      throw error;
    });
  }

  async #serve(session: Session): Promise<AgentEnd | Offline> {
    const { signal } = this.#stopping;
    const onlineMs = performance.now();
    const outcome = await Promise.race([session.outcome, aborted(signal)]);
    if (performance.now() - onlineMs >= this.#options.times.steadyMs) this.#backoff.reset();
    return this.#afterOutcome(session, outcome);
  }

  async #afterOutcome(session: Session, outcome: SessionOutcome | 'aborted'): Promise<AgentEnd | Offline> {
    if (outcome === 'aborted' || outcome.kind === 'stop') {
      await this.#drain(session);
      return outcome === 'aborted' ? stoppedByOperator : { kind: 'stopped', by: 'server' };
    }
    if (outcome.kind === 'lost') return { kind: 'offline', reason: outcome.reason };
    await sleep(answerLingerMs);
    session.close('');
    if (outcome.kind === 'tunnel stopped') return outcome;
    this.#backoff.reset();
    return { kind: 'offline', reason: 'the server asked for a restart' };
  }

  /** Gives the tunnel up, so that no visitor is sent here any more, and waits for those that are here. */
  async #drain(session: Session): Promise<void> {
    const { reporter, times } = this.#options;
    reporter.state({ kind: 'draining', visitors: this.#visitors.count });
    const given = session.call(streamTypes.unbind, { Id: this.#bound?.id ?? '' }).catch(() => {});
    await Promise.race([given, sleep(unbindMs, undefined, { ref: false })]);
    await Promise.race([this.#visitors.drained(times.drainMs), session.over]);
    session.close('the agent has stopped');
  }

  #afterFault(error: unknown): AgentEnd | Offline {
    if (this.#stopping.signal.aborted) return stoppedByOperator;
    if (error instanceof Refused && !isPassing(error, this.#wasOnline)) return { kind: 'refused', refusal: error };
    const isWrong = error instanceof ServerFault && error.kind === 'wrong server' && !this.#wasOnline;
    if (isWrong) return { kind: 'wrong server', reason: error.message };
    if (error instanceof ServerFault || error instanceof Refused || error instanceof MessageFault)
      return { kind: 'offline', reason: error.message };
    throw error;
  }
}

interface Offline {
  readonly kind: 'offline';
  readonly reason: string;
}

const stoppedByOperator: AgentEnd = { kind: 'stopped', by: 'operator' };

function aborted(signal: AbortSignal): Promise<'aborted'> {
  if (signal.aborted) return Promise.resolve('aborted');
  return new Promise((resolve) => {
    signal.addEventListener(
      'abort',
      () => {
        resolve('aborted');
      },
      { once: true },
    );
  });
}
