import { Duration, Timestamp } from '../values.ts';

const second = 1_000_000_000n;
const timeForm = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)$/;
const durationForm = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:h|ms|m|s|us|µs|μs|ns))+$/;
const durationPart = /(\d*)(?:\.(\d*))?(h|ms|m|s|us|µs|μs|ns)/gy;
const unitNanos: Readonly<Record<string, bigint>> = {
  h: 3600n * second,
  m: 60n * second,
  s: second,
  ms: 1_000_000n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ns: 1n,
};

/** What it costs to write a time. */
export const unitsOfTime = 25;

/** Nanoseconds since 1970 of a time in RFC 3339. */
export function parseTimestamp(text: string): bigint | undefined {
  if (text.length > 40) return undefined;
  const [, year, month, day, hour, minute, seconds, fraction = '', zone = ''] = timeForm.exec(text) ?? [];
  const written = `${year}-${month}-${day}T${hour}:${minute}:${seconds}`;
  const ms = Date.parse(`${written}Z`);
  // The parser moves days that do not exist, such as February 30, into the next month.
  if (Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(written)) return undefined;
  const offset = offsetMinutes(zone);
  if (offset === undefined) return undefined;
  return BigInt(ms - offset * 60_000) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
}

/** Minutes of an offset such as `+02:00`; 0 for `Z`. */
export function offsetMinutes(zone: string): number | undefined {
  if (zone === 'Z' || zone === 'z') return 0;
  const [, sign, hours = '', minutes = ''] = /^([+-]?)(\d\d):(\d\d)$/.exec(zone) ?? [];
  if (sign === undefined || Number(hours) > 23 || Number(minutes) > 59) return undefined;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

/** In RFC 3339, in UTC. */
export function formatTimestamp({ nanos }: Timestamp): string {
  const rest = ((nanos % second) + second) % second;
  const seconds = (nanos - rest) / second;
  const text = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  return `${text}${fractionOf(rest)}Z`;
}

/** In seconds, as in `3.5s`. */
export function formatDuration({ nanos }: Duration): string {
  const size = nanos < 0n ? -nanos : nanos;
  return `${nanos < 0n ? '-' : ''}${size / second}${fractionOf(size % second)}s`;
}

function fractionOf(nanos: bigint): string {
  if (nanos === 0n) return '';
  let digits = nanos.toString().padStart(9, '0');
  while (digits.endsWith('0')) digits = digits.slice(0, -1);
  return `.${digits}`;
}

/** Nanoseconds of a duration as in Go, such as `1h30m` or `-1.5s`. */
export function parseDurationNanos(text: string): bigint | undefined {
  if (text === '0') return 0n;
  if (text.length > 100 || !durationForm.test(text)) return undefined;
  let sum = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of text.replace(/^[+-]/, '').matchAll(durationPart)) {
    const nanos = unitNanos[unit] ?? 0n;
    sum += BigInt(whole === '' ? '0' : whole) * nanos;
    if (fraction !== '') sum += (BigInt(fraction) * nanos) / 10n ** BigInt(fraction.length);
  }
  return text.startsWith('-') ? -sum : sum;
}
