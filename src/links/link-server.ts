import type { Duplex } from 'node:stream';

import { Heartbeat, HeartbeatEcho } from '../agents/mux/heartbeat.ts';
import { MuxSession } from '../agents/mux/mux-session.ts';
import type { MuxStream, StreamReceiver } from '../agents/mux/mux-stream.ts';
import { StreamStart } from '../agents/mux/typed-stream.ts';
import { codes } from '../agents/wire/frame.ts';
import { streamTypes } from '../agents/wire/stream-types.ts';
import type { LinkOptions } from './link.ts';
import { MessageReader, messagesType } from './messages.ts';
import { Answering, questionType } from './question.ts';
import type { AnswerQuestion } from './question.ts';
import { replies } from './reply.ts';
import { SpliceEnd } from './splice.ts';
import { readRequest, StreamRefused } from './stream-request.ts';
import type { OpenStream, StreamRequest } from './stream-request.ts';

export interface LinkServerOptions extends LinkOptions {
  /** Opens the streams that the other side asks for. */
  readonly open: OpenStream;
  /** Takes messages of the other side; without it there are none. It throws over one that it cannot read. */
  readonly heard?: ((message: unknown) => void) | undefined;
  /** Answers questions of the other side; without it there are none. */
  readonly answer?: AnswerQuestion | undefined;
  /** A stream with a question is reset after this time. */
  readonly questionMs?: number;
}

/** The side of a link that opens what the other side asks for, and joins the two. */
export class LinkServer {
  readonly #mux: MuxSession;
  readonly #heartbeat: Heartbeat | undefined;

  constructor(socket: Duplex, options: LinkServerOptions) {
    const { maxUnreadBytes, heartbeat, open, heard, answer, questionMs, closed, overrun } = options;
    const users = { open, heard, answering: answer && new Answering(answer, questionMs) };
    this.#mux = new MuxSession(
      socket,
      // The one stream of this side is that of the heartbeat.
      { role: 'server', maxLocalStreams: 1, maxRemoteStreams: Infinity, maxUnreadBytes, carriesAcks: false },
      {
        accept: (stream) => new StreamStart(stream, (type) => choose(type, stream, users)),
        closed: ({ text }) => {
          this.#heartbeat?.stop();
          closed(text);
        },
        overrun,
      },
    );
    this.#heartbeat = heartbeat && new Heartbeat(this.#mux, heartbeat);
  }

  close(reason: string): void {
    this.#mux.close(codes.none, reason);
  }
}

interface Users extends Pick<LinkServerOptions, 'open' | 'heard'> {
  readonly answering: Answering | undefined;
}

function choose(type: number, stream: MuxStream, { open, heard, answering }: Users): StreamReceiver | undefined {
  if (type === streamTypes.heartbeat) return new HeartbeatEcho(stream);
  if (type === streamTypes.proxy) return new RequestReader(stream, open);
  if (type === messagesType && heard !== undefined) return new MessageReader(stream, heard);
  if (type === questionType && answering !== undefined) return answering.read(stream);
  stream.reset(codes.streamRefused);
  return undefined;
}

class RequestReader implements StreamReceiver {
  readonly #stream: MuxStream;
  readonly #open: OpenStream;
  #held: Buffer = Buffer.alloc(0);

  constructor(stream: MuxStream, open: OpenStream) {
    this.#stream = stream;
    this.#open = open;
  }

  onBytes(bytes: Buffer): void {
    this.#held = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    const read = readRequest(this.#held);
    if (read.state === 'bad') this.#stream.reset(codes.protocol);
    else if (read.state === 'done') {
      this.#stream.credit(this.#held.length);
      void serve(this.#stream, read.request, this.#open);
    }
  }

  onEnd(): void {
    this.#stream.reset();
  }

  onDrain(): void {}

  onClose(): void {}
}

async function serve(stream: MuxStream, request: StreamRequest, open: OpenStream): Promise<void> {
  const near = new SpliceEnd().attach(stream);
  const far = new SpliceEnd(() => stream.write(replies.write('opened')));
  SpliceEnd.join(near, far);
  stream.receiver = near;
  try {
    await open(request, far);
  } catch (error) {
    stream.end(replies.write(error instanceof StreamRefused ? error.reason : 'unreachable'));
  }
}
