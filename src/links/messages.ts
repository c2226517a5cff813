import type { MuxStream, StreamFault, StreamReceiver } from '../agents/mux/mux-stream.ts';
import { codes } from '../agents/wire/frame.ts';
import { typedStart } from '../agents/wire/stream-types.ts';

/** Type of a stream of messages, beyond the types that agents know. */
export const messagesType = 0x1000;

const lengthBytes = 4;
/** Longest message that is read: whoever sends more is of another mind about what is sent. */
export const maxMessageBytes = 4 * 1024 * 1024;

/** Sends messages to another process, in order and without answers. */
export class MessageSender implements StreamReceiver {
  /** The first bytes of the stream. */
  static readonly start = typedStart(messagesType);
  readonly #used: () => void;
  readonly #closed: () => void;
  #stream: MuxStream | undefined;
  #isBlocked = false;

  /** `used` is called for each message, `closed` once, when none can be sent any more. */
  constructor(used: () => void, closed: () => void) {
    this.#used = used;
    this.#closed = closed;
  }

  attach(stream: MuxStream): void {
    this.#stream = stream;
  }

  /** False while the other side does not take what was sent before. */
  get isReady(): boolean {
    return this.#stream !== undefined && !this.#isBlocked;
  }

  send(message: object): void {
    const json = Buffer.from(JSON.stringify(message));
    const bytes = Buffer.allocUnsafe(lengthBytes + json.length);
    bytes.writeUInt32BE(json.length);
    json.copy(bytes, lengthBytes);
    this.#isBlocked = this.#stream?.write(bytes) === false;
    this.#used();
  }

  /** There are no answers. */
  onBytes(): void {
    this.#stream?.reset(codes.protocol);
  }

  onEnd(): void {
    this.#stream?.reset();
  }

  onDrain(): void {
    this.#isBlocked = false;
  }

  onClose(_fault: StreamFault | undefined): void {
    this.#stream = undefined;
    this.#closed();
  }
}

/** Reads the messages of another process. One that cannot be read ends the stream. */
export class MessageReader implements StreamReceiver {
  readonly #stream: MuxStream;
  readonly #heard: (message: unknown) => void;
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(stream: MuxStream, heard: (message: unknown) => void) {
    this.#stream = stream;
    this.#heard = heard;
  }

  onBytes(bytes: Buffer): void {
    this.#pieces.push(bytes);
    this.#bytes += bytes.length;
    try {
      if (this.#isWhole()) this.#read();
    } catch {
      this.#stream.reset(codes.protocol);
      return;
    }
    this.#stream.credit(bytes.length);
  }

  onEnd(): void {
    this.#stream.end();
  }

  onDrain(): void {}

  onClose(_fault: StreamFault | undefined): void {
    this.#pieces = [];
  }

  /** Joins pieces only once a message is whole: one after another they would be copied again and again. */
  #isWhole(): boolean {
    if (this.#bytes < lengthBytes) return false;
    const first = this.#pieces[0];
    if (first !== undefined && first.length < lengthBytes) this.#pieces = [Buffer.concat(this.#pieces)];
    const length = this.#pieces[0]?.readUInt32BE(0) ?? 0;
    if (length > maxMessageBytes) throw new Error('the message is too long');
    return this.#bytes >= lengthBytes + length;
  }

  #read(): void {
    let rest = Buffer.concat(this.#pieces);
    while (rest.length >= lengthBytes) {
      const length = rest.readUInt32BE(0);
      if (length > maxMessageBytes) throw new Error('the message is too long');
      if (rest.length < lengthBytes + length) break;
      this.#heard(JSON.parse(rest.toString('utf8', lengthBytes, lengthBytes + length)));
      rest = rest.subarray(lengthBytes + length);
    }
    this.#pieces = rest.length > 0 ? [rest] : [];
    this.#bytes = rest.length;
  }
}
