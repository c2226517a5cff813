import type { Duplex, DuplexOptions } from 'node:stream';

import { Heartbeat, HeartbeatEcho } from '../agents/mux/heartbeat.ts';
import type { HeartbeatTimes } from '../agents/mux/heartbeat.ts';
import { MuxSession } from '../agents/mux/mux-session.ts';
import type { MuxStream, StreamReceiver } from '../agents/mux/mux-stream.ts';
import { StreamDuplex } from '../agents/mux/stream-duplex.ts';
import { StreamStart } from '../agents/mux/typed-stream.ts';
import { codes, maxStreamId } from '../agents/wire/frame.ts';
import { streamTypes } from '../agents/wire/stream-types.ts';
import { MessageSender } from './messages.ts';
import { Asking, questionStart } from './question.ts';
import type { AnswerLimits } from './question.ts';
import { replies } from './reply.ts';
import { requestStart, StreamRefused } from './stream-request.ts';
import type { OpenStream, StreamRequest, StreamUser } from './stream-request.ts';

export interface LinkOptions {
  /** Bytes that readers of all streams of the link may leave unread; beyond it the one that holds most is reset. */
  readonly maxUnreadBytes: number;
  /** Where it is given, a silent peer is taken for gone. */
  readonly heartbeat?: HeartbeatTimes;
  readonly overrun: () => void;
  /** Called once, with the reason. */
  readonly closed: (reason: string) => void;
}

/**
 * The side of a link that opens streams: one for each connection of a visitor. Their number has no bound of its own, as
 * each counts among the connections to backends of its process and among the streams of its agent.
 */
export class Link {
  readonly #mux: MuxSession;
  readonly #heartbeat: Heartbeat | undefined;
  #usedMs = performance.now();
  #senders = 0;

  constructor(socket: Duplex, { maxUnreadBytes, heartbeat, overrun, closed }: LinkOptions) {
    this.#mux = new MuxSession(
      socket,
      {
        role: 'client',
        maxLocalStreams: Infinity,
        // The stream of the heartbeat.
        maxRemoteStreams: 1,
        maxUnreadBytes,
        carriesAcks: false,
        lastId: maxStreamId,
      },
      {
        accept: (stream) => new StreamStart(stream, (type) => acceptBeats(type, stream)),
        closed: ({ text }) => {
          this.#heartbeat?.stop();
          closed(text);
        },
        overrun,
      },
    );
    this.#heartbeat = heartbeat && new Heartbeat(this.#mux, heartbeat);
  }

  get isOpen(): boolean {
    return this.#mux.isOpen;
  }

  /** Streams of visitors that are open. */
  get streams(): number {
    return this.#mux.localStreams - this.#senders - (this.#heartbeat?.isOpen === true ? 1 : 0);
  }

  /** Memory held by bytes that no reader has taken. */
  get unreadBytes(): number {
    return this.#mux.heldBytes;
  }

  /** Time since the last call that found a visitor's stream open, or that sent a message; for a caller that looks again and again. */
  idleMs(): number {
    const nowMs = performance.now();
    if (this.streams > 0) this.#usedMs = nowMs;
    return nowMs - this.#usedMs;
  }

  /** Asks the other side for a stream; see `OpenStream`. Within the limit there is one, or a `StreamRefused`. */
  open(request: StreamRequest, user: StreamUser, limitMs: number): Promise<void> {
    const startedMs = performance.now();
    this.#usedMs = startedMs;
    return new Promise((resolve, reject) => {
      const opening = new Opening(user, (refusal) => {
        clearTimeout(timer);
        if (refusal === undefined) resolve();
        else reject(refusal);
      });
      const timer = setTimeout(() => {
        // An answer that has come while this process stood still is read first.
        setImmediate(() => {
          this.#giveUp(opening, startedMs);
        });
      }, limitMs);
      const stream = this.#mux.open(opening, requestStart(request));
      if (stream === undefined) opening.onClose();
      else opening.stream = stream;
    });
  }

  /** Opens a stream of messages to the other side; undefined if the link is closed. */
  openMessages(closed: () => void): MessageSender | undefined {
    const sender = new MessageSender(
      () => {
        this.#usedMs = performance.now();
      },
      () => {
        this.#senders--;
        closed();
      },
    );
    const stream = this.#mux.open(sender, MessageSender.start);
    if (stream === undefined) return undefined;
    this.#senders++;
    sender.attach(stream);
    return sender;
  }

  /** Asks the other side; see `AnswerQuestion`. Rejects with `Unanswered`, or `AbandonedError`. */
  async ask(question: object, limits: AnswerLimits): Promise<unknown> {
    const start = questionStart(question);
    this.#usedMs = performance.now();
    const asking = new Asking(limits);
    const stream = this.#mux.open(asking, start);
    if (stream === undefined) asking.onClose();
    else asking.attach(stream);
    return asking.answer;
  }

  close(reason: string): void {
    this.#mux.close(codes.none, reason);
  }

  #giveUp(opening: Opening, startedMs: number): void {
    if (!opening.giveUp()) return;
    // Further streams must not wait for a peer that is gone without a word.
    if (this.#heartbeat !== undefined && this.#mux.heardMs < startedMs) this.close('no answer');
  }
}

/** A stream whose other side has not said yet whether it is open. */
class Opening implements StreamReceiver {
  stream: MuxStream | undefined;
  readonly #user: StreamUser;
  readonly #settle: (refusal?: StreamRefused) => void;
  #isSettled = false;

  constructor(user: StreamUser, settle: (refusal?: StreamRefused) => void) {
    this.#user = user;
    this.#settle = settle;
  }

  onBytes(bytes: Buffer): void {
    const { stream } = this;
    if (stream === undefined) return;
    const reply = replies.read(bytes);
    if (reply !== 'opened') {
      stream.credit(bytes.length);
      stream.end();
      this.#end(new StreamRefused(reply, `the other process has no way through the tunnel: ${reply}`));
      return;
    }
    stream.receiver = this.#user;
    stream.credit(1);
    this.#user.attach(stream);
    this.#end();
    if (bytes.length > 1 && !stream.isClosed) this.#user.onBytes(bytes.subarray(1));
  }

  onEnd(): void {
    if (!this.#isSettled) this.stream?.reset();
  }

  onDrain(): void {}

  onClose(): void {
    this.#end(new StreamRefused('unreachable', 'the link to the other process broke'));
  }

  /** False if the stream is open or refused. */
  giveUp(): boolean {
    if (this.#isSettled) return false;
    this.#end(new StreamRefused('unreachable', 'the other process did not answer in time'));
    this.stream?.reset();
    return true;
  }

  #end(refusal?: StreamRefused): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#settle(refusal);
  }
}

/** The other side opens streams for heartbeats only. */
function acceptBeats(type: number, stream: MuxStream): StreamReceiver | undefined {
  if (type === streamTypes.heartbeat) return new HeartbeatEcho(stream);
  stream.reset(codes.streamRefused);
  return undefined;
}

/** Opens a stream in the form that Node's own parts take. Its users look at `close`, which follows every error. */
export async function openDuplex(
  open: OpenStream,
  request: StreamRequest,
  options: Pick<DuplexOptions, 'allowHalfOpen'>,
): Promise<Duplex> {
  const duplex = new StreamDuplex(options);
  // The stream may break before the caller has it, and an error that nobody listens for ends the process.
  duplex.on('error', () => {});
  await open(request, duplex);
  return duplex;
}
