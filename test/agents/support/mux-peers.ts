import { duplexPair } from 'node:stream';
import type { Duplex } from 'node:stream';

import { MuxSession } from '../../../src/agents/mux/mux-session.ts';
import type { MuxOptions, SessionEnd } from '../../../src/agents/mux/mux-session.ts';
import type { MuxStream, StreamFault, StreamReceiver } from '../../../src/agents/mux/mux-stream.ts';
import { StreamDuplex } from '../../../src/agents/mux/stream-duplex.ts';
import { FrameReader } from '../../../src/agents/wire/frame-reader.ts';

export const serverOptions: MuxOptions = {
  role: 'server',
  maxLocalStreams: 500,
  maxRemoteStreams: 12,
  maxUnreadBytes: 16 * 1024 * 1024,
  carriesAcks: true,
};

/** Notes what a stream brings, and credits it unless it is to be slow. */
export class Recorder implements StreamReceiver {
  stream: MuxStream | undefined;
  isSlow = false;
  readonly pieces: Buffer[] = [];
  hasEnded = false;
  drains = 0;
  fault: StreamFault | undefined | 'open' = 'open';

  get text(): string {
    return Buffer.concat(this.pieces).toString();
  }

  get bytes(): number {
    return this.pieces.reduce((sum, { length }) => sum + length, 0);
  }

  onBytes(bytes: Buffer): void {
    this.pieces.push(bytes);
    if (!this.isSlow) this.stream?.credit(bytes.length);
  }

  onEnd(): void {
    this.hasEnded = true;
  }

  onDrain(): void {
    this.drains++;
  }

  onClose(fault: StreamFault | undefined): void {
    this.fault = fault;
  }
}

export interface Side {
  readonly mux: MuxSession;
  /** Streams that the peer opened. */
  readonly accepted: Recorder[];
  end: SessionEnd | undefined;
}

export function startSide(socket: Duplex, options: MuxOptions, slow = false): Side {
  const accepted: Recorder[] = [];
  const mux = new MuxSession(socket, options, {
    accept: (stream) => {
      const recorder = new Recorder();
      recorder.stream = stream;
      recorder.isSlow = slow;
      accepted.push(recorder);
      return recorder;
    },
    closed: (end) => {
      side.end = end;
    },
  });
  const side: Side = { mux, accepted, end: undefined };
  return side;
}

export function openRecorded({ mux }: Side, first: string | Buffer): Recorder {
  const recorder = new Recorder();
  recorder.stream = mux.open(recorder, Buffer.from(first));
  return recorder;
}

export function openDuplex({ mux }: Side, first: string): StreamDuplex {
  const duplex = new StreamDuplex();
  const stream = mux.open(duplex, Buffer.from(first));
  if (stream === undefined) throw new Error('no room for a stream');
  return duplex.attach(stream);
}

/** Both sides of a session in this process. */
export function startPair(changes: Partial<MuxOptions> = {}): { readonly server: Side; readonly client: Side } {
  const [left, right] = duplexPair();
  const server = startSide(left, { ...serverOptions, ...changes });
  const client = startSide(right, { ...serverOptions, role: 'client', maxRemoteStreams: 500, carriesAcks: false });
  return { server, client };
}

/** A peer that sends what it likes, and the frames that it got, as text. */
export interface RawPeer {
  readonly side: Side;
  readonly socket: Duplex;
  readonly frames: string[];
  send(...frames: readonly (Buffer | readonly Buffer[])[]): void;
}

export function startRawPeer(changes: Partial<MuxOptions> = {}, slow = false): RawPeer {
  const [left, socket] = duplexPair();
  const side = startSide(left, { ...serverOptions, carriesAcks: false, ...changes }, slow);
  const frames: string[] = [];
  const reader = new FrameReader({
    data: (id, bytes, flag) => frames.push(`data ${id} ${flag} ${bytes.toString()}`),
    reset: (id, code) => frames.push(`reset ${id} ${code}`),
    windowIncrement: (id, bytes) => frames.push(`increment ${id} ${bytes}`),
    goAway: (id, code, text) => frames.push(`goaway ${id} ${code} ${text}`),
  });
  socket.on('data', (chunk: Buffer) => reader.push(chunk)).on('error', () => {});
  const send: RawPeer['send'] = (...sent) => void socket.write(Buffer.concat(sent.flat()));
  return { side, socket, frames, send };
}
