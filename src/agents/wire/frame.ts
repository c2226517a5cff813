/** One frame on the wire: payload length (24 bits), type and flags (4 bits each), stream id (31 bits), payload. */
export const headerBytes = 8;

export const frameTypes = { reset: 0, data: 1, windowIncrement: 2, goAway: 3 } as const;

/** Flags of DATA, the only type that has any. */
export const flags = { fin: 0x1, syn: 0x2 } as const;

/** Codes that end a stream or a session. Peers may send others; those are harmless. */
export const codes = {
  none: 0,
  protocol: 1,
  internal: 2,
  flowControl: 3,
  streamClosed: 4,
  streamRefused: 5,
  cancelled: 6,
  reset: 7,
  frameSize: 8,
  acceptQueueFull: 9,
  enhanceYourCalm: 10,
  remoteGoneAway: 11,
  streamsExhausted: 12,
  writeTimeout: 13,
  sessionClosed: 14,
  peerEof: 15,
} as const;

/** Bytes that either side may send on a stream before it is credited; a convention that nobody negotiates. */
export const windowBytes = 0x40000;

export const maxStreamId = 0x7fffffff;

/** Longest text of a GOAWAY that is read. */
export const maxGoAwayText = 1024;

/** Writes the header of a frame into `target`. */
export function writeHeader(target: Buffer, type: number, flag: number, streamId: number, length: number): void {
  target[0] = length >>> 16;
  target[1] = length >>> 8;
  target[2] = length;
  target[3] = (type << 4) | flag;
  target.writeUInt32BE(streamId, 4);
}

/** Bytes up to which a payload is copied behind its header, which is cheaper than a write of two pieces. */
const copiedBytes = 4096;

/** Frames a payload of DATA, as one buffer or as header and payload. The payload must stay as it is until it is written. */
export function dataFrame(
  streamId: number,
  flag: number,
  payload: Buffer,
): readonly [Buffer] | readonly [Buffer, Buffer] {
  const { length } = payload;
  const isCopied = length <= copiedBytes;
  const head = Buffer.allocUnsafe(headerBytes + (isCopied ? length : 0));
  writeHeader(head, frameTypes.data, flag, streamId, length);
  if (!isCopied) return [head, payload];
  payload.copy(head, headerBytes);
  return [head];
}

export function resetFrame(streamId: number, code: number): Buffer {
  return wordFrame(frameTypes.reset, streamId, code);
}

export function windowIncrementFrame(streamId: number, increment: number): Buffer {
  return wordFrame(frameTypes.windowIncrement, streamId, increment);
}

export function goAwayFrame(lastStreamId: number, code: number, text: string): Buffer {
  const debug = Buffer.from(text);
  const frame = Buffer.allocUnsafe(headerBytes + 8 + debug.length);
  writeHeader(frame, frameTypes.goAway, 0, 0, 8 + debug.length);
  frame.writeUInt32BE(lastStreamId, headerBytes);
  frame.writeUInt32BE(code, headerBytes + 4);
  debug.copy(frame, headerBytes + 8);
  return frame;
}

function wordFrame(type: number, streamId: number, word: number): Buffer {
  const frame = Buffer.allocUnsafe(headerBytes + 4);
  writeHeader(frame, type, 0, streamId, 4);
  frame.writeUInt32BE(word, headerBytes);
  return frame;
}
