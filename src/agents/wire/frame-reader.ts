import { codes, flags, frameTypes, headerBytes, maxGoAwayText } from './frame.ts';

/** Receives frames in the order they came. */
export interface FrameSink {
  /** A piece of a DATA frame. SYN comes with its first piece, FIN with its last; a frame without payload is one empty piece. */
  data(streamId: number, bytes: Buffer, flag: number): void;
  reset(streamId: number, code: number): void;
  windowIncrement(streamId: number, increment: number): void;
  goAway(lastStreamId: number, code: number, text: string): void;
}

export type FrameFaultName =
  | 'unknown type'
  | 'unknown flags'
  | 'stream id missing'
  | 'stream id given'
  | 'wrong length'
  | 'increment of zero';

/** A frame that no peer may send; the session ends with `code`. */
export interface FrameFault {
  readonly name: FrameFaultName;
  readonly code: number;
}

const streamIdMask = 0x7fffffff;
const empty = Buffer.alloc(0);

/** Cuts a byte stream into frames. It holds back at most one header and the payload of one control frame. */
export class FrameReader {
  readonly #sink: FrameSink;
  #stopped = false;
  readonly #header = Buffer.alloc(headerBytes);
  #headerHas = 0;
  #type = 0;
  #flag = 0;
  #streamId = 0;
  /** Bytes of the payload that are still to come. */
  #left = 0;
  #control: Buffer = empty;

  constructor(sink: FrameSink) {
    this.#sink = sink;
  }

  /** Makes `push` return after the piece it is at, and take nothing more. */
  stop(): void {
    this.#stopped = true;
  }

  /** Takes the next bytes. After a fault it must not be called again. */
  push(chunk: Buffer): FrameFault | undefined {
    const { length } = chunk;
    let at = 0;
    while (at < length && !this.#stopped) {
      if (this.#headerHas < headerBytes) {
        at = this.#readHeader(chunk, at);
        if (this.#headerHas < headerBytes) return undefined;
        const fault = this.#checkHeader();
        if (fault !== undefined) return fault;
        if (this.#left > 0) continue;
      }
      const end = Math.min(length, at + this.#left);
      this.#left -= end - at;
      const bytes = chunk.subarray(at, end);
      at = end;
      const fault = this.#type === frameTypes.data ? this.#passData(bytes) : this.#collect(bytes);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  #readHeader(chunk: Buffer, start: number): number {
    if (this.#headerHas === 0 && chunk.length - start >= headerBytes) {
      this.#decodeHeader(chunk, start);
      return start + headerBytes;
    }
    const end = Math.min(chunk.length, start + headerBytes - this.#headerHas);
    chunk.copy(this.#header, this.#headerHas, start, end);
    this.#headerHas += end - start;
    if (this.#headerHas === headerBytes) this.#decodeHeader(this.#header, 0);
    return end;
  }

  #decodeHeader(bytes: Buffer, at: number): void {
    const word = bytes.readUInt32BE(at);
    this.#left = word >>> 8;
    this.#type = (word >>> 4) & 0xf;
    this.#flag = word & 0xf;
    this.#streamId = bytes.readUInt32BE(at + 4) & streamIdMask;
    this.#headerHas = headerBytes;
  }

  #checkHeader(): FrameFault | undefined {
    const allowedFlags = this.#type === frameTypes.data ? flags.fin | flags.syn : 0;
    if (this.#type > frameTypes.goAway) return malformed('unknown type', codes.protocol);
    if ((this.#flag & ~allowedFlags) !== 0) return malformed('unknown flags', codes.protocol);
    if (this.#type === frameTypes.goAway) {
      if (this.#streamId !== 0) return malformed('stream id given', codes.protocol);
      return this.#left < 8 || this.#left > 8 + maxGoAwayText ? malformed('wrong length', codes.frameSize) : undefined;
    }
    if (this.#streamId === 0) return malformed('stream id missing', codes.protocol);
    return this.#type === frameTypes.data || this.#left === 4 ? undefined : malformed('wrong length', codes.frameSize);
  }

  #passData(bytes: Buffer): undefined {
    const isLast = this.#left === 0;
    const flag = isLast ? this.#flag : this.#flag & ~flags.fin;
    // The pieces that follow carry no SYN.
    this.#flag &= ~flags.syn;
    if (isLast) this.#headerHas = 0;
    this.#sink.data(this.#streamId, bytes, flag);
  }

  #collect(bytes: Buffer): FrameFault | undefined {
    // A copy lets go of the rest of the chunk.
    if (this.#left > 0 || this.#control.length > 0) this.#control = Buffer.concat([this.#control, bytes]);
    if (this.#left > 0) return undefined;
    const payload = this.#control.length > 0 ? this.#control : bytes;
    this.#control = empty;
    this.#headerHas = 0;
    const word = payload.readUInt32BE(0);
    if (this.#type === frameTypes.reset) this.#sink.reset(this.#streamId, word);
    else if (this.#type === frameTypes.goAway)
      this.#sink.goAway(word & streamIdMask, payload.readUInt32BE(4), payload.toString('utf8', 8));
    else if ((word & streamIdMask) === 0) return malformed('increment of zero', codes.protocol);
    else this.#sink.windowIncrement(this.#streamId, word & streamIdMask);
    return undefined;
  }
}

function malformed(name: FrameFaultName, code: number): FrameFault {
  return { name, code };
}
