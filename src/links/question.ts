import type { MuxStream, StreamReceiver } from '../agents/mux/mux-stream.ts';
import { codes } from '../agents/wire/frame.ts';
import { typedStart } from '../agents/wire/stream-types.ts';
import { AbandonedError } from '../lib/pace.ts';

/** Type of a stream with one question and its answer, beyond the types that agents know. */
export const questionType = 0x1001;

const lengthBytes = 4;
const longest = { question: 64 * 1024, answer: 4 * 1024 * 1024 };
/** The byte that says that the question has been read and is being answered. */
const heard = 1;
/** Questions of one link that are being answered; further ones are refused. */
const mostAtOnce = 8;
/** A stream with a question is reset after this time: longer than anybody waits for an answer. */
const longestMs = 30_000;
/** Interval at which one who asks looks whether anybody still waits. */
const lookMs = 100;

/** The other side gave no answer: it did not hear the question, took too long, or does not take it. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered';
  /** True: it has the connection and says nothing. */
  readonly isSilent: boolean;

  constructor(message: string, isSilent = false) {
    super(message);
    this.isSilent = isSilent;
  }
}

export interface AnswerLimits {
  /** How long until the other side has heard the question: one that stands still never does. */
  readonly heardMs: number;
  readonly answerMs: number;
  /** Once it is true, nobody waits for the answer any more, and the other side learns of it. */
  readonly isAbandoned?: (() => boolean) | undefined;
}

/** Answers what other processes of the installation ask. Whatever they send is to be checked; a throw is no answer. */
export type AnswerQuestion = (question: unknown, isAbandoned: () => boolean) => Promise<object>;

/** The start of a stream with a question. */
export function questionStart(question: object): Buffer {
  const bytes = framed(question);
  if (bytes.length > lengthBytes + longest.question) throw new Unanswered('the question is too long');
  return typedStart(questionType, bytes);
}

function framed(value: object): Buffer {
  const json = Buffer.from(JSON.stringify(value));
  const bytes = Buffer.allocUnsafe(lengthBytes + json.length);
  bytes.writeUInt32BE(json.length);
  json.copy(bytes, lengthBytes);
  return bytes;
}

/** Collects the bytes of one value; pieces are joined once it is whole. */
class Collected {
  readonly #longest: number;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #length: number | undefined;

  constructor(bytes: number) {
    this.#longest = bytes;
  }

  /** The value once it is whole. Throws over one that is too long, is no value, or is followed by something. */
  add(bytes: Buffer): { readonly value: unknown } | undefined {
    this.#pieces.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes < lengthBytes) return undefined;
    this.#length ??= Buffer.concat(this.#pieces).readUInt32BE(0);
    const end = lengthBytes + this.#length;
    if (this.#length > this.#longest || this.#bytes > end) throw new Error('it is too long');
    if (this.#bytes < end) return undefined;
    return { value: JSON.parse(Buffer.concat(this.#pieces).toString('utf8', lengthBytes)) };
  }
}

/** Waits for the answer to a question. */
export class Asking implements StreamReceiver {
  readonly answer: Promise<unknown>;
  readonly #settle: PromiseWithResolvers<unknown>;
  readonly #collected = new Collected(longest.answer);
  readonly #heardTimer: NodeJS.Timeout;
  /** Runs until the stream is closed: one that has answered and does not end it would keep it open. */
  readonly #answerTimer: NodeJS.Timeout;
  readonly #lookTimer: NodeJS.Timeout | undefined;
  #stream: MuxStream | undefined;
  #isHeard = false;
  #isOver = false;

  constructor({ heardMs, answerMs, isAbandoned }: AnswerLimits) {
    this.#settle = Promise.withResolvers<unknown>();
    this.answer = this.#settle.promise;
    this.#heardTimer = setTimeout(() => {
      if (!this.#isHeard) this.#fail('the other process does not hear the question', true);
    }, heardMs);
    this.#answerTimer = setTimeout(() => {
      this.#fail('the other process did not answer in time', true);
      this.#stream?.reset(codes.cancelled);
    }, answerMs);
    if (isAbandoned === undefined) return;
    this.#lookTimer = setInterval(() => {
      if (isAbandoned()) this.#reject(new AbandonedError('nobody waits for the answer any more'));
    }, lookMs);
  }

  attach(stream: MuxStream): void {
    this.#stream = stream;
  }

  onBytes(bytes: Buffer): void {
    this.#stream?.credit(bytes.length);
    if (this.#isOver) {
      // There is one answer.
      this.#stream?.reset(codes.protocol);
      return;
    }
    const rest = this.#isHeard ? bytes : bytes.subarray(1);
    if (!this.#isHeard && bytes[0] !== heard) {
      this.#fail('the other process does not take the question');
      return;
    }
    this.#isHeard = true;
    try {
      const whole = this.#collected.add(rest);
      if (whole === undefined) return;
      this.#end();
      this.#settle.resolve(whole.value);
    } catch {
      this.#fail('the answer cannot be read');
    }
  }

  onEnd(): void {
    if (this.#isOver) this.#stream?.end();
    else this.#fail('the other process has no answer');
  }

  onDrain(): void {}

  onClose(): void {
    this.#stream = undefined;
    clearTimeout(this.#answerTimer);
    this.#fail('the link to the other process broke');
  }

  #fail(message: string, isSilent = false): void {
    this.#reject(new Unanswered(message, isSilent));
  }

  #reject(error: Error): void {
    if (this.#isOver) return;
    this.#end();
    this.#settle.reject(error);
    this.#stream?.reset(codes.cancelled);
  }

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#heardTimer);
    clearInterval(this.#lookTimer);
  }
}

/** Reads the questions of one link and answers them, so many at once. */
export class Answering {
  readonly #answer: AnswerQuestion;
  readonly #longestMs: number;
  #atOnce = 0;

  constructor(answer: AnswerQuestion, streamMs = longestMs) {
    this.#answer = answer;
    this.#longestMs = streamMs;
  }

  read(stream: MuxStream): StreamReceiver {
    const collected = new Collected(longest.question);
    let isAbandoned = false;
    let isRead = false;
    // A question that never ends, and an asker that never closes its side, would keep the stream as long as the link.
    const timer = setTimeout(() => {
      stream.reset(codes.cancelled);
    }, this.#longestMs);
    return {
      onBytes: (bytes) => {
        stream.credit(bytes.length);
        try {
          if (isRead) throw new Error('there is one question on a stream');
          const whole = collected.add(bytes);
          if (whole === undefined) return;
          isRead = true;
          void this.#reply(stream, whole.value, () => isAbandoned);
        } catch {
          stream.reset(codes.protocol);
        }
      },
      onEnd: () => {
        if (!isRead) stream.reset(codes.protocol);
      },
      onDrain: () => {},
      onClose: () => {
        isAbandoned = true;
        clearTimeout(timer);
      },
    };
  }

  async #reply(stream: MuxStream, question: unknown, isAbandoned: () => boolean): Promise<void> {
    if (this.#atOnce >= mostAtOnce) {
      stream.reset(codes.streamRefused);
      return;
    }
    this.#atOnce++;
    stream.write(Buffer.of(heard));
    try {
      const bytes = framed(await this.#answer(question, isAbandoned));
      if (isAbandoned()) return;
      if (bytes.length > longest.answer) stream.reset(codes.streamRefused);
      else stream.end(bytes);
    } catch {
      if (!isAbandoned()) stream.reset(codes.streamRefused);
    } finally {
      this.#atOnce--;
    }
  }
}
