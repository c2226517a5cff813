import { codes } from '../wire/frame.ts';
import { JsonReader } from '../wire/json-value.ts';
import type { JsonFaultName } from '../wire/json-value.ts';
import { typedStart } from '../wire/stream-types.ts';
import type { MuxSession } from './mux-session.ts';
import type { MuxStream, StreamFault, StreamReceiver } from './mux-stream.ts';

type Message = Readonly<Record<string, unknown>>;

export interface RpcLimits {
  /** Longest message; the window of a stream bounds it too, as nothing is credited before it is complete. */
  readonly maxBytes: number;
  /** Limit for the message to come, and for the peer to close its side after the answer. */
  readonly timeoutMs: number;
}

export interface RpcHandler {
  /** Returns the answer. Must not reject. */
  answer(message: Message): Promise<object>;
  /** Returns the answer to bytes that are no message. */
  answerFault(fault: JsonFaultName): object;
}

/** Reads one message from a stream, answers it, and ends the stream, for that is the end of the answer. */
export class RpcRequest implements StreamReceiver {
  readonly #stream: MuxStream;
  readonly #handler: RpcHandler;
  readonly #reader: JsonReader;
  readonly #timer: NodeJS.Timeout;
  #held = 0;
  #isRead = false;

  constructor(stream: MuxStream, handler: RpcHandler, limits: RpcLimits) {
    this.#stream = stream;
    this.#handler = handler;
    this.#reader = new JsonReader(limits.maxBytes);
    this.#timer = setTimeout(() => {
      stream.reset();
    }, limits.timeoutMs);
  }

  onBytes(bytes: Buffer): void {
    this.#held += bytes.length;
    if (this.#isRead) return;
    const read = this.#reader.push(bytes);
    if (read.state === 'more') return;
    this.#isRead = true;
    if (read.state === 'bad') this.#answer(this.#handler.answerFault(read.fault));
    else
      void this.#handler.answer(read.value).then((answer) => {
        this.#answer(answer);
      });
  }

  onEnd(): void {
    // Whoever ends before the message is complete gets no answer.
    if (this.#isRead) this.#stream.credit(this.#held);
    else this.#stream.reset();
  }

  onDrain(): void {}

  onClose(_fault: StreamFault | undefined): void {
    clearTimeout(this.#timer);
  }

  #answer(answer: object): void {
    this.#stream.end(Buffer.from(JSON.stringify(answer)));
    this.#timer.refresh();
  }
}

/** A message that got no answer. */
export class RpcFailed extends Error {
  override readonly name = 'RpcFailed';
  override readonly cause: 'no room' | 'timeout' | 'malformed' | 'broken';

  constructor(cause: RpcFailed['cause']) {
    super(`no answer: ${cause}`);
    this.cause = cause;
  }
}

/** As much as a message may have, because the answer to one that binds repeats its options. */
const maxAnswerBytes = 256 * 1024;

/** Sends one message and resolves with the answer. Rejects with `RpcFailed`. */
export function callPeer(mux: MuxSession, type: number, body: object, timeoutMs: number): Promise<Message> {
  return new Promise((resolve, reject) => {
    const reader = new JsonReader(maxAnswerBytes);
    let isRead = false;
    const fail = (cause: RpcFailed['cause'], code: number): void => {
      reject(new RpcFailed(cause));
      stream?.reset(code);
    };
    const stream = mux.open(
      {
        onBytes: (bytes) => {
          stream?.credit(bytes.length);
          if (isRead) return;
          const read = reader.push(bytes);
          if (read.state === 'more') return;
          isRead = true;
          if (read.state === 'bad') {
            fail('malformed', codes.protocol);
            return;
          }
          resolve(read.value);
          stream?.end();
        },
        onEnd: () => {
          if (!isRead) fail('broken', codes.cancelled);
        },
        onDrain: () => {},
        onClose: () => {
          clearTimeout(timer);
          reject(new RpcFailed('broken'));
        },
      },
      typedStart(type, JSON.stringify(body)),
    );
    const timer = setTimeout(() => {
      fail('timeout', codes.cancelled);
    }, timeoutMs);
    if (stream === undefined) {
      clearTimeout(timer);
      reject(new RpcFailed('no room'));
    }
  });
}
