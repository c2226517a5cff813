import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { UserError } from '../../errors/user-error.ts';
import type { Awaitable } from '../../lib/awaitable.ts';

/** One server-sent event. */
export interface ServerEvent {
  readonly event: string;
  readonly data: object;
}

/** Where the events of a stream come from. Disposed of when the stream has ended. */
export interface EventSource extends Disposable {
  /** Takes what has come since the last call. */
  take(): Promise<readonly ServerEvent[]>;
}

/** Interval at which events are sent. */
const sendEveryMs = 250;
/** Interval of comments that keep the connection open while nothing happens. */
const heartbeatMs = 15_000;
/** Bytes that wait for a client; one that reads more slowly is dropped. */
const waitingBytes = 1_048_576;

/** The streams of server-sent events that are open. */
export class EventStreams {
  readonly #open = new Set<Stream>();

  /** Ends all streams when the server closes: it would wait for them. */
  attach(app: FastifyInstance): void {
    app.addHook('preClose', (done) => {
      for (const stream of this.#open) stream.end();
      done();
    });
  }

  /** Answers with the events of the source until the client leaves, or `admit` throws because it may not stay. */
  serve(
    request: FastifyRequest,
    reply: FastifyReply,
    source: EventSource,
    admit: () => Awaitable<unknown>,
  ): FastifyReply {
    reply.hijack();
    reply.raw.writeHead(200, {
      // The headers that the API has set so far are of this form.
      ...(reply.getHeaders() as Record<string, string>),
      'Content-Type': 'text/event-stream; charset=utf-8',
      // Proxies such as nginx would collect events before they pass them on.
      'X-Accel-Buffering': 'no',
    });
    if (request.method === 'HEAD') {
      source[Symbol.dispose]();
      reply.raw.end();
      return reply;
    }
    const stream = new Stream(reply.raw, source, admit);
    this.#open.add(stream);
    reply.raw.once('close', () => {
      this.#open.delete(stream);
      stream.stop();
    });
    stream.start();
    return reply;
  }
}

class Stream {
  readonly #response: FastifyReply['raw'];
  readonly #source: EventSource;
  readonly #admit: () => Awaitable<unknown>;
  #timer: NodeJS.Timeout | undefined;
  #sentMs = performance.now();
  #isStopped = false;

  constructor(response: FastifyReply['raw'], source: EventSource, admit: () => Awaitable<unknown>) {
    this.#response = response;
    this.#source = source;
    this.#admit = admit;
  }

  start(): void {
    this.#write(': the stream has begun\n\n');
    this.#schedule();
  }

  /** Ends the answer in order. */
  end(): void {
    this.#response.end();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#source[Symbol.dispose]();
  }

  #schedule(): void {
    this.#timer = setTimeout(() => void this.#send(), sendEveryMs).unref();
  }

  async #send(): Promise<void> {
    try {
      // Before the events: what has happened since is for those alone who may still call.
      await this.#admit();
      const events = await this.#source.take();
      if (this.#isStopped) return;
      this.#write(events.map(({ event, data }) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join(''));
    } catch (error) {
      if (!this.#isStopped) this.#fail(error);
      return;
    }
    if (!this.#isStopped) this.#schedule();
  }

  /** Tells the client why it ends, where it is its own fault; the next call is answered with the same. */
  #fail(error: unknown): void {
    const data = { status_code: error instanceof UserError ? error.status : 500 };
    this.#write(`event: end\ndata: ${JSON.stringify(data)}\n\n`);
    this.end();
  }

  #write(text: string): void {
    const nowMs = performance.now();
    if (text === '' && nowMs - this.#sentMs < heartbeatMs) return;
    this.#sentMs = nowMs;
    this.#response.write(text === '' ? ': still here\n\n' : text);
    if (this.#response.writableLength > waitingBytes) this.#response.destroy();
  }
}
