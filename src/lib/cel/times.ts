import { toTimestamp } from '../ids.ts';

const form = /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d):(\d\d)(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)?$/;
const durationForm = /^(\d+(?:\.\d+)?(?:d|h|ms|m|s))+$/;
const unitMs: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };
/** Times that have four digits for the year, as stored ones do. */
const firstMs = Date.parse('0000-01-01T00:00:00Z');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');

/** A time as it is stored, and whether it is somewhat later than that: stored times have whole seconds. */
export interface Instant {
  readonly text: string;
  readonly hasFraction: boolean;
}

/** Milliseconds of a time in RFC 3339; a date alone is its midnight, and a time without a zone is in UTC. */
export function parseTime(text: string): number | undefined {
  const [, year = '', month = '', day = '', hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] =
    form.exec(text) ?? [];
  const written = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  const ms = Date.parse(`${written}Z`);
  // The parser moves days that do not exist, such as February 30, into the next month.
  if (Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(written)) return undefined;
  const offset = zoneMs(zone);
  return offset === undefined ? undefined : ms + Number(`0${fraction}`) * 1000 - offset;
}

function zoneMs(zone: string): number | undefined {
  if (zone === 'Z' || zone === 'z') return 0;
  const [hours = 0, minutes = 0] = zone.slice(1).split(':').map(Number);
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

/** Milliseconds of a duration such as `7d`, `24h` or `1h30m`. */
export function parseDuration(text: string): number | undefined {
  if (!durationForm.test(text)) return undefined;
  const parts = text.matchAll(/(\d+(?:\.\d+)?)(d|h|ms|m|s)/gy);
  return [...parts].reduce((sum, [, count, unit = '']) => sum + Number(count) * (unitMs[unit] ?? 0), 0);
}

/** Undefined for times before the year 0 and after 9999. */
export function toInstant(ms: number): Instant | undefined {
  if (!(ms >= firstMs && ms <= lastMs)) return undefined;
  return { text: toTimestamp(ms), hasFraction: ms % 1000 !== 0 };
}
