import type { Work } from '../environment.ts';
import { checkedDuration, checkedInt, checkedTime, checkedUint, checkText } from '../operators.ts';
import { any, bool, bytes, double, duration, int, string, timestamp, typeName, typeOf, uint } from '../types.ts';
import { Duration, Timestamp, TypeName, Uint } from '../values.ts';
import type { Value } from '../values.ts';
import { plainFunction } from './define.ts';
import type { Definition } from './define.ts';
import { formatDuration, formatTimestamp, parseDurationNanos, parseTimestamp } from './time-text.ts';

const second = 1_000_000_000n;

function intOf(value: number, work: Work<unknown>): bigint {
  // The bounds themselves are not exact as doubles.
  if (!(value > -(2 ** 63) && value < 2 ** 63)) throw work.fault('the number does not fit into an integer (range)');
  return BigInt(Math.trunc(value));
}

function integerText(text: string, work: Work<unknown>): bigint {
  if (!/^[+-]?\d{1,30}$/.test(text)) throw work.fault('the text is no integer');
  return BigInt(text.replace(/^\+/, ''));
}

function doubleOf(text: string, work: Work<unknown>): number {
  const isNumber = text.length <= 400 && /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text);
  if (isNumber) return Number(text);
  const word = /^([+-]?)(?:inf|infinity)$/i.exec(text);
  if (word !== null) return word[1] === '-' ? -Infinity : Infinity;
  if (/^nan$/i.test(text)) return Number.NaN;
  throw work.fault('the text is no number');
}

function uintOf(value: number, work: Work<unknown>): Uint {
  if (!(value >= 0 && value < 2 ** 64)) throw work.fault('the number does not fit into an unsigned integer (range)');
  return new Uint(BigInt(Math.trunc(value)));
}

const trueTexts = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const falseTexts = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

function boolOf(text: string, work: Work<unknown>): boolean {
  if (trueTexts.has(text)) return true;
  if (falseTexts.has(text)) return false;
  throw work.fault('the text is neither true nor false');
}

/** A number as Go prints it. */
function showDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  return Object.is(value, -0) ? '-0' : String(value).replace(/e([+-])(\d)$/, 'e$10$2');
}

function textOf(value: Uint8Array, work: Work<unknown>): string {
  checkText(value.length, work);
  work.budget.spend(value.length / 8);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value);
  } catch {
    throw work.fault('the bytes are no text in UTF-8');
  }
}

function timeOf(text: string, work: Work<unknown>): Timestamp {
  work.budget.spend(30);
  const nanos = parseTimestamp(text);
  if (nanos === undefined) throw work.fault('the text is no time in RFC 3339, such as 2026-01-31T00:00:00Z');
  return checkedTime(nanos, work);
}

function durationOf(text: string, work: Work<unknown>): Duration {
  work.budget.spend(30);
  const nanos = parseDurationNanos(text);
  if (nanos === undefined) throw work.fault('the text is no duration, such as 90s or 1h30m');
  return checkedDuration(nanos, work);
}

/** Says what is wrong with a text that is written out. */
function checkWith(read: (text: string) => unknown, form: string) {
  return ([text]: readonly (Value | undefined)[]): string | undefined =>
    typeof text === 'string' && read(text) === undefined
      ? `${JSON.stringify(text.slice(0, 40))} is no ${form}`
      : undefined;
}

const total = { isTotal: true } as const;

export const conversions: readonly Definition[] = [
  plainFunction('int', [int], int, ([value]) => value, total),
  plainFunction('int', [uint], int, ([{ value }], work) => checkedInt(value, work)),
  plainFunction('int', [double], int, ([value], work) => intOf(value, work)),
  plainFunction('int', [string], int, ([value], work) => checkedInt(integerText(value, work), work)),
  plainFunction(
    'int',
    [timestamp],
    int,
    ([{ nanos }]) => (nanos - (((nanos % second) + second) % second)) / second,
    total,
  ),
  plainFunction('uint', [uint], uint, ([value]) => value, total),
  plainFunction('uint', [int], uint, ([value], work) => checkedUint(value, work)),
  plainFunction('uint', [double], uint, ([value], work) => uintOf(value, work)),
  plainFunction('uint', [string], uint, ([value], work) => checkedUint(integerText(value, work), work)),
  plainFunction('double', [double], double, ([value]) => value, total),
  plainFunction('double', [int], double, ([value]) => Number(value), total),
  plainFunction('double', [uint], double, ([{ value }]) => Number(value), total),
  plainFunction('double', [string], double, ([value], work) => doubleOf(value, work)),
  plainFunction('bool', [bool], bool, ([value]) => value, total),
  plainFunction('bool', [string], bool, ([value], work) => boolOf(value, work)),
  plainFunction('string', [string], string, ([value]) => value, total),
  plainFunction('string', [bool], string, ([value]) => String(value), total),
  plainFunction('string', [int], string, ([value]) => String(value), total),
  plainFunction('string', [uint], string, ([{ value }]) => String(value), total),
  plainFunction('string', [double], string, ([value]) => showDouble(value), total),
  plainFunction('string', [bytes], string, ([value], work) => textOf(value, work)),
  plainFunction('string', [timestamp], string, ([value]) => formatTimestamp(value), total),
  plainFunction('string', [duration], string, ([value]) => formatDuration(value), total),
  plainFunction('bytes', [bytes], bytes, ([value]) => value, total),
  plainFunction('bytes', [string], bytes, ([value], work) => {
    checkText(value.length, work);
    work.budget.spend(value.length / 8);
    return Buffer.from(value);
  }),
  plainFunction('timestamp', [timestamp], timestamp, ([value]) => value, total),
  plainFunction('timestamp', [string], timestamp, ([value], work) => timeOf(value, work), {
    check: checkWith(parseTimestamp, 'time in RFC 3339, such as 2026-01-31T00:00:00Z'),
  }),
  plainFunction('timestamp', [int], timestamp, ([value], work) => checkedTime(value * second, work)),
  plainFunction('duration', [duration], duration, ([value]) => value, total),
  plainFunction('duration', [string], duration, ([value], work) => durationOf(value, work), {
    check: checkWith(parseDurationNanos, 'duration, such as 90s or 1h30m'),
  }),
  plainFunction('dyn', [any], any, ([value]) => value, total),
  plainFunction('type', [any], typeName, ([value]) => new TypeName(typeOf(value)), total),
];
