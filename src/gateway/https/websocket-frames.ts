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
  /** The four bytes of the mask as one number. */
  readonly mask: number;
  readonly length: number;
  /** Bytes of the payload that have been read. */
  done: number;
}

/**
 * Reads the frames of a client. Data is given out as it comes, so that the memory does not depend on the size of frames, and
 * that of neighbouring frames in one piece, so that the cost does not depend on their number.
 */
export class WebsocketReader {
  /** The start of a header, or of the payload of a control frame. */
  #held: Buffer = nothing;
  #frame: Frame | undefined;
  #inMessage = false;
  #isClosed = false;

  /** Throws a `WebsocketFault`. Bytes behind a close are dropped. */
  read(chunk: Buffer): readonly WebsocketEvent[] {
    const events: WebsocketEvent[] = [];
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    this.#held = nothing;
    const data = new PlainData(bytes);
    let at = 0;
    while (!this.#isClosed) {
      const size = this.#frame === undefined ? this.#readHeader(bytes, at) : 0;
      const frame = this.#frame;
      if (frame === undefined) break;
      at += size;
      const left = frame.length - frame.done;
      const isControl = frame.opcode >= opcodes.close;
      if (bytes.length - at < (isControl ? left : Math.min(left, 1))) break;
      const taken = Math.min(left, bytes.length - at);
      data.add(at, taken, frame);
      at += taken;
      frame.done += taken;
      if (frame.done === frame.length) this.#frame = undefined;
      if (isControl) this.#takeControl(frame.opcode, data, events);
    }
    this.#held = this.#isClosed ? nothing : bytes.subarray(at);
    data.give(events);
    return events;
  }

  /** Sets `#frame` and returns the length of its header; 0 and no frame: it is not all there. */
  #readHeader(bytes: Buffer, at: number): number {
    if (bytes.length - at < 2) return 0;
    const first = bytes[at] ?? 0;
    const second = bytes[at + 1] ?? 0;
    const opcode = first & 0x0f;
    const isLast = (first & 0x80) !== 0;
    if ((first & 0x70) !== 0) throw new WebsocketFault('a reserved bit is set');
    if ((second & 0x80) === 0) throw new WebsocketFault('a frame of a client is not masked');
    this.#checkOrder(opcode, isLast, second & 0x7f);
    const size = headerLength(second);
    if (bytes.length - at < size) return 0;
    const length = payloadLength(bytes, at);
    if (opcode < opcodes.close) this.#inMessage = !isLast;
    this.#frame = { opcode, mask: bytes.readUInt32BE(at + size - 4), length, done: 0 };
    return size;
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

  #takeControl(opcode: number, data: PlainData, events: WebsocketEvent[]): void {
    const payload = data.takeLast(events);
    if (opcode === opcodes.ping) events.push({ kind: 'ping', payload });
    if (opcode !== opcodes.close) return;
    this.#isClosed = true;
    if (payload.length === 1) throw new WebsocketFault('a close has half a code');
    const code = payload.length === 0 ? closeCode.normal : checkCode(payload.readUInt16BE(0));
    events.push({ kind: 'close', code });
  }
}

/** The payloads of the frames of one read, without their masks, one behind the other. */
class PlainData {
  readonly #from: Buffer;
  /** A copy: the bytes that were read may belong to others. */
  #plain: Buffer = nothing;
  /** Where the payload that was added last starts, and ends. */
  #last = 0;
  #end = 0;
  /** Up to here it was given out. */
  #given = 0;

  constructor(from: Buffer) {
    this.#from = from;
  }

  add(start: number, length: number, { mask, done }: Frame): void {
    if (this.#plain.length === 0) this.#plain = Buffer.allocUnsafe(this.#from.length - start);
    const plain = this.#plain;
    this.#last = this.#end;
    for (let at = 0; at < length; at++) {
      plain[this.#end + at] = (this.#from[start + at] ?? 0) ^ ((mask >>> (24 - 8 * ((done + at) & 3))) & 0xff);
    }
    this.#end += length;
  }

  /** Gives out what came before the payload that was added last, and returns that one. */
  takeLast(events: WebsocketEvent[]): Buffer {
    const payload = this.#plain.subarray(this.#last, this.#end);
    this.#end = this.#last;
    this.give(events);
    this.#end = this.#last + payload.length;
    this.#given = this.#end;
    return payload;
  }

  give(events: WebsocketEvent[]): void {
    if (this.#end > this.#given) events.push({ kind: 'data', bytes: this.#plain.subarray(this.#given, this.#end) });
    this.#given = this.#end;
  }
}

/** Length of the header whose second byte this is. */
function headerLength(second: number): number {
  const short = second & 0x7f;
  return 2 + (short === 126 ? 2 : short === 127 ? 8 : 0) + 4;
}

function payloadLength(bytes: Buffer, at: number): number {
  const short = (bytes[at + 1] ?? 0) & 0x7f;
  if (short < 126) return short;
  const length = short === 126 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2));
  if (!Number.isSafeInteger(length)) throw new WebsocketFault('a frame is too long');
  if (length < (short === 126 ? 126 : 65_536)) throw new WebsocketFault('a length is written with too many bytes');
  return length;
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
