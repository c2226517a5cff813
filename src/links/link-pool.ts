import type { Duplex } from 'node:stream';

import type { HeartbeatTimes } from '../agents/mux/heartbeat.ts';
import type { ListenAddress } from '../lib/host-port.ts';
import type { LinkDirectory } from './link-directory.ts';
import { Link } from './link.ts';
import type { MessageSender } from './messages.ts';
import { Unanswered } from './question.ts';
import type { AnswerLimits } from './question.ts';
import { StreamRefused } from './stream-request.ts';
import type { StreamRequest, StreamUser } from './stream-request.ts';

export interface LinkPoolOptions {
  readonly directory: Pick<LinkDirectory, 'addressesOf'>;
  /** Opens a connection to the process, and makes sure that it is that one. Must give up when the signal aborts. */
  readonly connect: (address: ListenAddress, processId: string, signal: AbortSignal) => Promise<Duplex>;
  /** Limit for a stream to be open, and for the link that it needs. */
  readonly dialMs: number;
  /** A link without streams is closed after this time. */
  readonly idleMs: number;
  readonly maxUnreadBytes: number;
  readonly heartbeat: HeartbeatTimes;
  readonly overrun: () => void;
  readonly log: { info(fields: object, message: string): void };
}

/** The links that this process has opened to others, one for each. */
export class LinkPool implements Disposable {
  readonly #options: LinkPoolOptions;
  readonly #links = new Map<string, Promise<Link>>();
  readonly #open = new Set<Link>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: LinkPoolOptions) {
    this.#options = options;
    this.#timer = setInterval(() => {
      for (const link of this.#open) if (link.idleMs() > options.idleMs) link.close('idle');
    }, options.idleMs / 4).unref();
  }

  /** Links that are open. */
  get size(): number {
    return this.#open.size;
  }

  /** Streams of all links. */
  get streams(): number {
    let streams = 0;
    for (const link of this.#open) streams += link.streams;
    return streams;
  }

  /** Unread bytes of the link that has most of them. */
  get unreadBytes(): number {
    return Math.max(0, ...[...this.#open].map(({ unreadBytes }) => unreadBytes));
  }

  /** Opens a stream at the process that the request names; see `OpenStream`. */
  async open(request: StreamRequest, user: StreamUser): Promise<void> {
    const { dialMs } = this.#options;
    const startedMs = performance.now();
    const link = await this.#linkTo(request.holder);
    const leftMs = Math.max(1, startedMs + dialMs - performance.now());
    await link.open(request, user, leftMs);
  }

  /** Opens a stream of messages to the process. Rejects with `StreamRefused`; else `closed` is called at its end. */
  async openMessages(processId: string, closed: () => void): Promise<MessageSender> {
    const sender = (await this.#linkTo(processId)).openMessages(closed);
    if (sender === undefined) throw new StreamRefused('unreachable', 'the link to the other process broke');
    return sender;
  }

  /** Asks the process; rejects with `StreamRefused`, `Unanswered` or `AbandonedError`. */
  async ask(processId: string, question: object, limits: AnswerLimits): Promise<unknown> {
    const beganMs = performance.now();
    const { promise: overdue, reject } = Promise.withResolvers<never>();
    // A process that stands still accepts connections, and says nothing on them.
    const timer = setTimeout(() => {
      reject(new Unanswered('the other process does not open a link', true));
    }, limits.heardMs);
    const link = await Promise.race([this.#linkTo(processId), overdue]).finally(() => {
      clearTimeout(timer);
    });
    const leftMs = Math.max(1, limits.heardMs - (performance.now() - beganMs));
    return link.ask(question, { ...limits, heardMs: leftMs });
  }

  /** Closes the link to a process that is gone. */
  forget(processId: string): void {
    const link = this.#links.get(processId);
    this.#links.delete(processId);
    void link?.then(
      (open) => {
        open.close('the process is gone');
      },
      () => {},
    );
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    for (const processId of this.#links.keys()) this.forget(processId);
  }

  #linkTo(processId: string): Promise<Link> {
    const known = this.#links.get(processId);
    if (known !== undefined) return known;
    const drop = (): void => {
      if (this.#links.get(processId) === link) this.#links.delete(processId);
    };
    const link = this.#connect(processId, drop);
    this.#links.set(processId, link);
    link.catch(drop);
    return link;
  }

  async #connect(processId: string, drop: () => void): Promise<Link> {
    const { maxUnreadBytes, heartbeat, overrun, log } = this.#options;
    const { socket, address } = await this.#connectAny(processId);
    const link = new Link(socket, {
      maxUnreadBytes,
      heartbeat,
      overrun,
      closed: (reason) => {
        this.#open.delete(link);
        drop();
        log.info({ process: processId, reason }, 'a link to another process is closed');
      },
    });
    this.#open.add(link);
    log.info({ process: processId, ...address }, 'a link to another process is open');
    return link;
  }

  /** The first address that leads to the process wins: an address that it has may be that of another machine here. */
  async #connectAny(processId: string): Promise<Connected> {
    const { directory, connect, dialMs } = this.#options;
    const addresses = directory.addressesOf(processId);
    if (addresses === undefined) throw new StreamRefused('gone', `the process ${processId} is gone`);
    if (addresses.length === 0) throw new StreamRefused('unreachable', noAddress);
    const decided = new AbortController();
    const signal = AbortSignal.any([AbortSignal.timeout(dialMs), decided.signal]);
    const attempts = addresses.map(async (address): Promise<Connected> => {
      return { socket: await connect(address, processId, signal), address };
    });
    try {
      const first = await Promise.any(attempts);
      for (const attempt of attempts) void attempt.then((each) => each === first || each.socket.destroy(), ignore);
      return first;
    } catch (error) {
      throw new StreamRefused('unreachable', explain(error, addresses));
    } finally {
      decided.abort();
    }
  }
}

interface Connected {
  readonly socket: Duplex;
  readonly address: ListenAddress;
}

const noAddress =
  'the process that holds the session announces no address that can be reached from here: set GATEHOUSE_LINK_LISTEN there, ' +
  'or GATEHOUSE_LINK_ADDRESS if others reach it at another address';

function explain(error: unknown, addresses: readonly ListenAddress[]): string {
  const [first] = error instanceof AggregateError ? error.errors : [error];
  const reason = first instanceof Error ? first.message : String(first);
  const tried = addresses.map(({ host, port }) => `${host} port ${port}`).join(', ');
  return `no link to ${tried}: ${reason}`;
}

function ignore(): void {}
