import { base62Digits, encodeBase62, isBase62 } from './base62.ts';
import { fillRandom } from './random-pool.ts';

const epochSeconds = 1_400_000_000;
const ticksPerSecond = 2 ** 24;
const bodyLength = 27;
const underscore = 95;

const bytes = new Uint8Array(20);
const view = new DataView(bytes.buffer);

/** Time of the newest id, in 1/2²⁴ seconds since the epoch above (56 bits, kept as two numbers to stay exact). */
let lastSecond = 0;
let lastTick = 0;

/**
 * Makes an id: prefix, `_` and 27 base62 characters in KSUID layout, 4 bytes seconds and 16 bytes payload. The payload
 * starts with the fraction of the second, which is incremented where the clock has not moved, so that ids of one process
 * sort strictly in the order they were made, also when the clock steps back.
 */
export function newId(prefix: string): string {
  advanceClock();
  view.setUint32(0, lastSecond - epochSeconds);
  view.setUint32(4, lastTick * 256);
  fillRandom(bytes, 7);
  return `${prefix}_${encodeBase62(bytes, bodyLength)}`;
}

/** An id that is always the same for the same time and hash, of which 16 bytes count. */
export function idOfHash(prefix: string, timeMs: number, hash: Uint8Array): string {
  const all = new Uint8Array(bytes.length);
  const second = Math.floor(timeMs / 1000) - epochSeconds;
  new DataView(all.buffer).setUint32(0, Math.min(Math.max(second, 0), 2 ** 32 - 1));
  all.set(hash.subarray(0, bytes.length - 4), 4);
  return `${prefix}_${encodeBase62(all, bodyLength)}`;
}

const endings = Array.from(base62Digits).flatMap((first) => Array.from(base62Digits, (second) => first + second));
let stem = '';
let stemSecond = 0;
let usedEndings = endings.length;

/**
 * Makes the id of a call, for a twentieth of the cost of `newId`, as every call has one. Ids of one second share all but
 * their last two characters until these are used up, so that one can be guessed from another: they are no secret.
 */
export function newOperationId(): string {
  const second = Math.floor(Date.now() / 1000);
  if (usedEndings === endings.length || second !== stemSecond) {
    stem = newId('op').slice(0, -2);
    stemSecond = second;
    usedEndings = 0;
  }
  return `${stem}${endings[usedEndings++]}`;
}

/**
 * Seconds by which an id may be ahead of the clock and still say when it was made. Ids never go back, or they would not sort
 * any more; a clock that was far ahead and was set right must not date everything that is made until the next restart.
 */
const farAheadSeconds = 60;

/** An id, and its time: the second that is written in it, or the clock's where the id is far ahead of the clock. */
export function newIdWithTime(prefix: string): { readonly id: string; readonly createdAt: string } {
  const id = newId(prefix);
  const nowMs = Date.now();
  const idMs = lastSecond * 1000;
  return { id, createdAt: toTimestamp(idMs - nowMs > farAheadSeconds * 1000 ? nowMs : idMs) };
}

/** Milliseconds since 1970 of the second that is written in an id; undefined for a text that is none. */
export function timeOfId(id: string): number | undefined {
  const body = idBody(id);
  if (body.length !== bodyLength || !isBase62(body, 0)) return undefined;
  let value = 0n;
  for (const digit of body) value = value * 62n + BigInt(base62Digits.indexOf(digit));
  const second = value >> 128n;
  return second >= 2n ** 32n ? undefined : (Number(second) + epochSeconds) * 1000;
}

/** An id that sorts before all of those made in the second of a timestamp or later. */
export function firstIdOfSecond(prefix: string, timestamp: string): string {
  const second = Math.floor(Date.parse(timestamp) / 1000) - epochSeconds;
  const first = new Uint8Array(bytes.length);
  new DataView(first.buffer).setUint32(0, Math.min(Math.max(second, 0), 2 ** 32 - 1));
  return `${prefix}_${encodeBase62(first, bodyLength)}`;
}

export function hasPrefix(id: string, prefix: string): boolean {
  const { length } = prefix;
  return id.startsWith(prefix) && id.charCodeAt(length) === underscore && isBase62(id, length + 1);
}

/** True for an id of another kind than those with the prefix. */
export function isOfOtherKind(id: string, prefix: string): boolean {
  const at = id.lastIndexOf('_');
  return at > 0 && isBase62(id, at + 1) && id.slice(0, at) !== prefix;
}

/** The part of an id behind its last `_`. */
export function idBody(id: string): string {
  return id.slice(id.lastIndexOf('_') + 1);
}

/** RFC 3339 in UTC with whole seconds: `2026-11-14T10:11:14Z`. */
export function toTimestamp(ms: number): string {
  const second = Math.floor(ms / 1000);
  // Most calls are for the same second.
  if (second !== writtenSecond) {
    writtenSecond = second;
    written = `${new Date(second * 1000).toISOString().slice(0, 19)}Z`;
  }
  return written;
}

let writtenSecond = Number.NaN;
let written = '';

function advanceClock(): void {
  const nowMs = Date.now();
  const second = Math.floor(nowMs / 1000);
  const tick = Math.floor((nowMs / 1000 - second) * ticksPerSecond);
  if (second > lastSecond || (second === lastSecond && tick > lastTick)) {
    lastSecond = second;
    lastTick = tick;
    return;
  }
  lastTick += 1;
  if (lastTick === ticksPerSecond) {
    lastTick = 0;
    lastSecond += 1;
  }
}
