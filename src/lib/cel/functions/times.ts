import { BoundedCache } from '../../bounded-cache.ts';
import type { Work } from '../environment.ts';
import { duration, int, string, timestamp } from '../types.ts';
import type { Duration, Timestamp } from '../values.ts';
import { method } from './define.ts';
import type { Definition } from './define.ts';
import { offsetMinutes } from './time-text.ts';

const ms = 1_000_000n;
/** Zones by name: each takes some kilobytes and a tenth of a millisecond. */
const zones = new BoundedCache<string, Intl.DateTimeFormat>(64);

/** A point in time as the clock on a wall shows it, as if that were UTC. */
function wallClock({ nanos }: Timestamp, zone: string | undefined, work: Work<unknown>): Date {
  const sinceMs = Number(nanos / ms - (nanos % ms < 0n ? 1n : 0n));
  if (zone === undefined) return new Date(sinceMs);
  const offset = offsetMinutes(zone);
  if (offset !== undefined) return new Date(sinceMs + offset * 60_000);
  work.budget.spend(100);
  const parts = new Map(
    formatOf(zone, work)
      .formatToParts(new Date(sinceMs))
      .map(({ type, value }) => [type, value]),
  );
  const text = (type: Intl.DateTimeFormatPartTypes, length: number) => (parts.get(type) ?? '').padStart(length, '0');
  const fraction = String(((sinceMs % 1000) + 1000) % 1000).padStart(3, '0');
  return new Date(
    `${text('year', 4)}-${text('month', 2)}-${text('day', 2)}T${text('hour', 2)}:${text('minute', 2)}:${text('second', 2)}.${fraction}Z`,
  );
}

function formatOf(zone: string, work: Work<unknown>): Intl.DateTimeFormat {
  const known = zones.get(zone);
  if (known !== undefined) return known;
  work.budget.spend(2000);
  try {
    const made = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    zones.set(zone, made);
    return made;
  } catch {
    throw work.fault('there is no such time zone; name one such as Europe/Berlin or +02:00');
  }
}

function dayOfYear(date: Date): number {
  return (
    Math.floor((Date.UTC(2000, date.getUTCMonth(), date.getUTCDate()) - Date.UTC(2000, 0, 1)) / 86_400_000) -
    lapDay(date)
  );
}

/** 2000 had a February 29. */
function lapDay(date: Date): number {
  const year = date.getUTCFullYear();
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return !isLeap && date.getUTCMonth() > 1 ? 1 : 0;
}

const parts: Readonly<Record<string, (date: Date) => number>> = {
  getDate: (date) => date.getUTCDate(),
  getDayOfMonth: (date) => date.getUTCDate() - 1,
  getDayOfWeek: (date) => date.getUTCDay(),
  getDayOfYear: dayOfYear,
  getFullYear: (date) => date.getUTCFullYear(),
  getMonth: (date) => date.getUTCMonth(),
  getHours: (date) => date.getUTCHours(),
  getMinutes: (date) => date.getUTCMinutes(),
  getSeconds: (date) => date.getUTCSeconds(),
  getMilliseconds: (date) => date.getUTCMilliseconds(),
};

const units: Readonly<Record<string, (given: Duration) => bigint>> = {
  getHours: ({ nanos }) => nanos / (3_600_000n * ms),
  getMinutes: ({ nanos }) => nanos / (60_000n * ms),
  getSeconds: ({ nanos }) => nanos / (1000n * ms),
  // The part below a second, unlike the others.
  getMilliseconds: ({ nanos }) => (nanos / ms) % 1000n,
};

export const timeFunctions: readonly Definition[] = [
  ...Object.entries(parts).flatMap(([name, read]) => [
    method(name, [timestamp], int, ([time], work) => BigInt(read(wallClock(time, undefined, work)))),
    method(name, [timestamp, string], int, ([time, zone], work) => BigInt(read(wallClock(time, zone, work)))),
  ]),
  ...Object.entries(units).map(([name, read]) => method(name, [duration], int, ([given]) => read(given))),
];
