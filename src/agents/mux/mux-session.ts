import type { Duplex } from 'node:stream';

import { codes, flags, goAwayFrame, maxStreamId, resetFrame } from '../wire/frame.ts';
import { FrameReader } from '../wire/frame-reader.ts';
import { FrameOutput } from './frame-output.ts';
import { MuxStream } from './mux-stream.ts';
import type { StreamPort, StreamReceiver } from './mux-stream.ts';

export interface MuxOptions {
  /** The client opens the connection, and streams with odd ids. */
  readonly role: 'client' | 'server';
  /** Streams of ours at once; more are not opened. */
  readonly maxLocalStreams: number;
  /** Streams of the peer at once; more are refused one by one. */
  readonly maxRemoteStreams: number;
  /** Bytes that readers of all streams may hold. Above it the stream that holds most is reset. */
  readonly maxUnreadBytes: number;
  /** True towards peers that may have Nagle's algorithm on: see `FrameOutput.wantAck`. */
  readonly carriesAcks: boolean;
  /**
   * Id of a stream after which ids start anew, for sessions that outlive all ids. Only where the peer is our own code:
   * agents want ids that grow. There must be more ids than streams at once. Without it no stream is opened once the
   * ids are used up.
   */
  readonly lastId?: number;
}

/** Ends a session. */
export interface SessionEnd {
  readonly by: 'us' | 'peer';
  readonly code: number;
  readonly text: string;
}

export interface MuxOwner {
  /** The peer opened a stream, whose first bytes follow. */
  accept(stream: MuxStream): StreamReceiver;
  /** Called once; all streams are closed by then. */
  closed(end: SessionEnd): void;
  /** A stream was reset because readers hold more than `maxUnreadBytes`. */
  overrun?(): void;
}

/** Agents never use stream 1, and some rely on that. */
const firstIds = { client: 3, server: 2 } as const;
/** Time that the peer has to read a GOAWAY before the connection is cut. */
const lingerMs = 1000;

/** Many streams over one connection. The connection may be anything that carries bytes in order. */
export class MuxSession {
  /** May be changed while the session is open. */
  maxLocalStreams: number;
  /** True for agents written in Rust: see `MuxStream.abandon`. */
  ignoresResets = false;
  /** Bytes that the peer may send in all, to bound what it sends before it is authenticated. */
  maxReceivedBytes = Infinity;
  /** Called when the peer has sent more; it should close the session. */
  onTooManyBytes: () => void = () => {
    this.close(codes.enhanceYourCalm, 'too many bytes before authentication');
  };
  readonly #socket: Duplex;
  readonly #options: MuxOptions;
  readonly #owner: MuxOwner;
  readonly #reader: FrameReader;
  readonly #output: FrameOutput;
  readonly #port: StreamPort;
  readonly #streams = new Map<number, MuxStream>();
  readonly #waiting = new Set<MuxStream>();
  /** Streams that nobody uses any more, but that the peer still has. */
  readonly #abandoned = new Set<MuxStream>();
  #remoteStreams = 0;
  #nextId: number;
  #lastRemoteId = 0;
  #heldBytes = 0;
  #heardMs = performance.now();
  #receivedBytes = 0;
  /** The stream whose DATA was answered with RST last: what follows needs no second one. */
  #refusedId = 0;
  #isOpen = true;

  constructor(socket: Duplex, options: MuxOptions, owner: MuxOwner) {
    this.#socket = socket;
    this.#options = options;
    this.#owner = owner;
    this.maxLocalStreams = options.maxLocalStreams;
    this.#nextId = firstIds[options.role];
    this.#output = new FrameOutput(socket, {
      outputReady: () => {
        this.#sendWaiting();
      },
      outputStuck: () => {
        this.#finish({ by: 'us', code: codes.enhanceYourCalm, text: 'the peer does not read' });
      },
    });
    this.#port = this.#createPort();
    this.#reader = this.#createReader();
    socket
      .on('data', (chunk: Buffer) => {
        this.#read(chunk);
      })
      .on('end', () => {
        this.#finish({ by: 'peer', code: codes.peerEof, text: 'the peer closed the connection' });
      })
      .on('error', (error) => {
        this.#finish({ by: 'peer', code: codes.peerEof, text: `the connection broke: ${error.message}` });
      })
      .on('close', () => {
        this.#finish({ by: 'peer', code: codes.peerEof, text: 'the connection broke' });
      });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Streams that we opened. */
  get localStreams(): number {
    return this.#streams.size - this.#remoteStreams;
  }

  /** Streams that somebody uses. */
  get usedStreams(): number {
    return this.localStreams - this.#abandoned.size;
  }

  get canOpen(): boolean {
    const hasId = this.#nextId <= maxStreamId || this.#options.lastId !== undefined;
    return this.#isOpen && this.localStreams < this.maxLocalStreams && hasId;
  }

  /** Memory held by bytes that no reader has taken. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** `performance.now()` of the last bytes from the peer. */
  get heardMs(): number {
    return this.#heardMs;
  }

  /** Opens a stream; `first` goes with its first frame. Returns undefined if `canOpen` is false. */
  open(receiver: StreamReceiver, first: Buffer): MuxStream | undefined {
    if (!this.canOpen) return undefined;
    const stream = new MuxStream(this.#port, this.#takeId(), false, receiver);
    this.#streams.set(stream.id, stream);
    stream.write(first);
    return stream;
  }

  /** Says goodbye and closes the connection: some agents wait for ever on one that stays open after a GOAWAY. */
  close(code: number = codes.none, text = ''): void {
    if (!this.#isOpen) return;
    this.#output.control(goAwayFrame(this.#lastRemoteId, code, text));
    this.#finish({ by: 'us', code, text });
  }

  #takeId(): number {
    const { lastId = Infinity, role } = this.#options;
    do {
      if (this.#nextId > lastId) this.#nextId = firstIds[role];
      this.#nextId += 2;
    } while (this.#streams.has(this.#nextId - 2));
    return this.#nextId - 2;
  }

  #createPort(): StreamPort {
    const pressure = this.#options.maxUnreadBytes / 2;
    // The getters are of the object below, not of this session.
    const isPressed = (): boolean => this.#heldBytes > pressure;
    const ignoresResets = (): boolean => this.ignoresResets;
    return {
      output: this.#output,
      get isPressed() {
        return isPressed();
      },
      get ignoresResets() {
        return ignoresResets();
      },
      charge: (bytes) => {
        this.#heldBytes += bytes;
      },
      wait: (stream) => {
        this.#waiting.add(stream);
      },
      abandoned: (stream) => {
        this.#waiting.delete(stream);
        this.#abandoned.add(stream);
      },
      remove: (stream) => {
        this.#waiting.delete(stream);
        this.#abandoned.delete(stream);
        if (this.#streams.delete(stream.id) && stream.isRemote) this.#remoteStreams--;
      },
    };
  }

  #createReader(): FrameReader {
    return new FrameReader({
      data: (id, bytes, flag) => {
        this.#receive(id, bytes, flag);
      },
      reset: (id, code) => this.#streams.get(id)?.broken(code, 'peer'),
      windowIncrement: (id, bytes) => {
        this.#streams.get(id)?.credited(bytes);
        if (this.#waiting.size > 0 && this.#output.isReady) this.#sendWaiting();
      },
      goAway: (_lastId, code, text) => {
        this.#finish({ by: 'peer', code, text });
      },
    });
  }

  #read(chunk: Buffer): void {
    if (!this.#isOpen) return;
    this.#heardMs = performance.now();
    this.#receivedBytes += chunk.length;
    if (this.#receivedBytes > this.maxReceivedBytes) {
      this.onTooManyBytes();
      return;
    }
    const fault = this.#reader.push(chunk);
    if (fault !== undefined) this.close(fault.code, fault.name);
    else if (this.#options.carriesAcks) this.#output.wantAck();
  }

  #receive(id: number, bytes: Buffer, flag: number): void {
    const isEnd = (flag & flags.fin) !== 0;
    const known = this.#streams.get(id);
    const stream = (flag & flags.syn) === 0 ? known : this.#accept(id, known);
    if (stream !== undefined) {
      stream.receive(bytes, isEnd);
      while (this.#heldBytes > this.#options.maxUnreadBytes && this.#resetLargest());
    } else if (this.#isOpen && bytes.length > 0 && this.#refusedId !== id) {
      this.#refusedId = id;
      this.#output.control(resetFrame(id, codes.streamClosed));
    }
  }

  #accept(id: number, known: MuxStream | undefined): MuxStream | undefined {
    const isOwn = id % 2 === this.#nextId % 2;
    if (isOwn || known !== undefined) {
      this.close(codes.protocol, isOwn ? 'stream id of the other side' : 'stream id in use');
      return undefined;
    }
    this.#lastRemoteId = Math.max(this.#lastRemoteId, id);
    if (this.#remoteStreams >= this.#options.maxRemoteStreams) {
      this.#refusedId = id;
      this.#output.control(resetFrame(id, codes.streamRefused));
      return undefined;
    }
    const stream = new MuxStream(this.#port, id, true, nobody);
    this.#streams.set(id, stream);
    this.#remoteStreams++;
    stream.receiver = this.#owner.accept(stream);
    if (!stream.isClosed) return stream;
    this.#refusedId = id;
    return undefined;
  }

  #resetLargest(): boolean {
    let largest: MuxStream | undefined;
    for (const stream of this.#streams.values())
      if (largest === undefined || stream.heldBytes > largest.heldBytes) largest = stream;
    if (largest === undefined) return false;
    largest.abandon(codes.flowControl);
    this.#owner.overrun?.();
    return true;
  }

  /** Streams take turns, one frame each, for as long as the socket takes them. */
  #sendWaiting(): void {
    for (const stream of this.#waiting) {
      if (!this.#output.isReady) return;
      this.#waiting.delete(stream);
      // At the end of the set again, which this loop reaches too.
      if (stream.pump()) this.#waiting.add(stream);
    }
  }

  #finish(end: SessionEnd): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#reader.stop();
    this.#output.flush();
    this.#output.stop();
    this.#closeSocket();
    for (const stream of this.#streams.values()) stream.broken(codes.sessionClosed, 'session');
    this.#owner.closed(end);
  }

  #closeSocket(): void {
    const socket = this.#socket;
    if (socket.destroyed) return;
    socket.end();
    const linger = setTimeout(() => socket.destroy(), lingerMs).unref();
    socket.once('close', () => {
      clearTimeout(linger);
    });
  }
}

const nobody: StreamReceiver = { onBytes: ignore, onEnd: ignore, onDrain: ignore, onClose: ignore };

function ignore(): void {}
