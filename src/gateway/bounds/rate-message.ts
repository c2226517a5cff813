import type { RateReport } from '../engine.ts';

/** Longest name of a rule, and longest key of a source, header or certificate. */
const maxTextLength = 512;
const longestWindowMs = 86_400_000;
const kind = 'rates';

export function windowMsOf(rule: string): number {
  return Number(rule.slice(rule.lastIndexOf(' ') + 1));
}

/**
 * Counts as one gateway tells them to another. Clocks of machines differ, so that windows are not told by their number, but by
 * how many began since: 0 is the one that runs.
 */
export function writeRates(reports: readonly RateReport[], now: number): object {
  const rates = reports.map(({ rule, window, counted }) => [rule, currentWindow(rule, now) - window, counted]);
  return { kind, rates };
}

/** Undefined: a message about something else, of a later version. Throws over one that cannot be read. */
export function readRates(message: unknown, now: number): readonly RateReport[] | undefined {
  if (!isObject(message)) throw new Error('it is not an object');
  if (message['kind'] !== kind) return undefined;
  return listOf(message['rates']).map((rate) => readRate(listOf(rate), now));
}

function readRate([rule, age, counted]: readonly unknown[], now: number): RateReport {
  if (!isText(rule) || !isWithin(windowMsOf(rule), 1, longestWindowMs)) throw new Error('it is not a rule');
  if (!isWithin(age, 0, 1)) throw new Error('it is not of this window or the one before');
  const read = listOf(counted).map((each): readonly [string, number] => {
    // By index, without an iterator for each: there are thousands.
    const pair = listOf(each);
    const key = pair[0];
    const requests = pair[1];
    if (!isText(key) || !isWithin(requests, 1, Number.MAX_SAFE_INTEGER)) throw new Error('it is not a count');
    return [key, requests];
  });
  return { rule, window: currentWindow(rule, now) - age, counted: read, refused: 0, warned: 0 };
}

function currentWindow(rule: string, now: number): number {
  return Math.floor(now / windowMsOf(rule));
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error('it is not a list');
  return value;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= maxTextLength;
}

function isWithin(value: unknown, least: number, most: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
