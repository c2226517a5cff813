/** A frame that breaks the protocol (RFC 6455). */
export class WebsocketFault extends Error {
  override readonly name = 'WebsocketFault';
}

export const closeCode = { normal: 1000, protocolError: 1002 } as const;

export type WebsocketEvent =
  /** Bytes of a message, of any kind; a message may come in many pieces. */
  | { readonly kind: 'data'; readonly bytes: Buffer }
  | { readonly kind: 'ping'; readonly payload: Buffer }
  /** Nothing comes after it. */
  | { readonly kind: 'close'; readonly code: number };

const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;
const longestControl = 125;
const nothing = Buffer.alloc(0);

interface Frame {
  readonly opcode: number;
  readonly mask: Buffer;
  readonly length: number;
  /** Bytes of the payload that have been read. */
  done: number;
}

/** Reads the frames of a client. Data is given out as it comes, so that the memory does not depend on the size of frames. */
export class WebsocketReader {
  /** The start of a header, or of the payload of a control frame. */
  #held: Buffer = nothing;
  #frame: Frame | undefined;
  #inMessage = false;
  #isClosed = false;

  /** Throws a `WebsocketFault`. Bytes behind a close are dropped. */
  read(chunk: Buffer): readonly WebsocketEvent[] {
    const events: WebsocketEvent[] = [];
    let rest = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    this.#held = nothing;
    while (!this.#isClosed) {
      const frame = this.#frame ?? this.#readHeader(rest);
      if (frame === undefined) {
        this.#held = rest;
        break;
      }
      if (this.#frame === undefined) rest = rest.subarray(headerLength(rest));
      this.#frame = frame;
      const isControl = frame.opcode >= opcodes.close;
      const left = frame.length - frame.done;
      if (rest.length < (isControl ? left : Math.min(left, 1))) {
        this.#held = rest;
        break;
      }
      const taken = rest.subarray(0, left);
      rest = rest.subarray(taken.length);
      const payload = unmask(taken, frame);
      frame.done += taken.length;
      if (frame.done === frame.length) this.#frame = undefined;
      const event = this.#toEvent(frame.opcode, payload);
      if (event !== undefined) events.push(event);
    }
    return events;
  }

  #readHeader(bytes: Buffer): Frame | undefined {
    if (bytes.length < 2) return undefined;
    const [first = 0, second = 0] = bytes;
    const opcode = first & 0x0f;
    const isLast = (first & 0x80) !== 0;
    if ((first & 0x70) !== 0) throw new WebsocketFault('a reserved bit is set');
    if ((second & 0x80) === 0) throw new WebsocketFault('a frame of a client is not masked');
    this.#checkOrder(opcode, isLast, second & 0x7f);
    const size = headerLength(bytes);
    if (bytes.length < size) return undefined;
    const length = payloadLength(bytes);
    if (opcode < opcodes.close) this.#inMessage = !isLast;
    return { opcode, mask: Buffer.from(bytes.subarray(size - 4, size)), length, done: 0 };
  }

  #checkOrder(opcode: number, isLast: boolean, shortLength: number): void {
    if (opcode >= opcodes.close) {
      if (opcode > opcodes.pong) throw new WebsocketFault('the kind of a frame is not known');
      if (!isLast || shortLength > longestControl) throw new WebsocketFault('a control frame is too long, or in parts');
    } else if (opcode > opcodes.binary) {
      throw new WebsocketFault('the kind of a frame is not known');
    } else if ((opcode === opcodes.continuation) !== this.#inMessage) {
      throw new WebsocketFault('a message starts inside another, or goes on without a start');
    }
  }

  #toEvent(opcode: number, payload: Buffer): WebsocketEvent | undefined {
    if (opcode === opcodes.ping) return { kind: 'ping', payload };
    if (opcode === opcodes.pong) return undefined;
    if (opcode !== opcodes.close) return payload.length === 0 ? undefined : { kind: 'data', bytes: payload };
    this.#isClosed = true;
    if (payload.length === 1) throw new WebsocketFault('a close has half a code');
    return { kind: 'close', code: payload.length === 0 ? closeCode.normal : checkCode(payload.readUInt16BE(0)) };
  }
}

/** Length of the header at the start of the bytes, of which two are there. */
function headerLength(bytes: Buffer): number {
  const short = (bytes[1] ?? 0) & 0x7f;
  return 2 + (short === 126 ? 2 : short === 127 ? 8 : 0) + 4;
}

function payloadLength(bytes: Buffer): number {
  const short = (bytes[1] ?? 0) & 0x7f;
  if (short < 126) return short;
  const length = short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  if (!Number.isSafeInteger(length)) throw new WebsocketFault('a frame is too long');
  if (length < (short === 126 ? 126 : 65_536)) throw new WebsocketFault('a length is written with too many bytes');
  return length;
}

function unmask(bytes: Buffer, { mask, done }: Frame): Buffer {
  // A copy: the chunk may belong to others.
  const plain = Buffer.from(bytes);
  for (let at = 0; at < plain.length; at++) plain[at] = (plain[at] ?? 0) ^ (mask[(done + at) & 3] ?? 0);
  return plain;
}

/** RFC 6455, 7.4. */
function checkCode(code: number): number {
  const isKnown = (code >= 1000 && code <= 1014 && ![1004, 1005, 1006].includes(code)) || (code >= 3000 && code < 5000);
  if (!isKnown) throw new WebsocketFault('a close has a code that must not be sent');
  return code;
}

/** The header of a frame of the server, which is a whole message of binary data. */
export function binaryHeader(length: number): Buffer {
  return header(opcodes.binary, length);
}

export function pongFrame(payload: Buffer): Buffer {
  return Buffer.concat([header(opcodes.pong, payload.length), payload]);
}

export function closeFrame(code: number): Buffer {
  return Buffer.concat([header(opcodes.close, 2), Buffer.of(code >> 8, code & 0xff)]);
}

function header(opcode: number, length: number): Buffer {
  const first = 0x80 | opcode;
  if (length < 126) return Buffer.of(first, length);
  if (length < 65_536) return Buffer.of(first, 126, length >> 8, length & 0xff);
  const long = Buffer.alloc(10);
  long.writeUInt8(first, 0);
  long.writeUInt8(127, 1);
  long.writeBigUInt64BE(BigInt(length), 2);
  return long;
}
