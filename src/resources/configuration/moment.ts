import { quote, UserError } from '../../errors/user-error.ts';
import { parseTime, toInstant } from '../../lib/cel/times.ts';
import { toTimestamp } from '../../lib/ids.ts';
import { Pace } from '../../lib/pace.ts';
import type { Queries } from '../../store/database.ts';
import { readVersion } from '../../store/write/change-log.ts';
import { invalidMoment, momentNotKept, momentToCome } from './errors.ts';

/** A moment of an account: the state behind one of its changes. */
export interface Moment {
  /** All changes up to this version had been made. */
  readonly version: number;
  /** When the last of them was made; null where the log has none. */
  readonly created_at: string | null;
}

/** Moments around another one; null where the log has none. */
export interface Neighbours {
  /** The moment before the last change. */
  readonly earlier: Moment | null;
  /** The moment behind the next change. */
  readonly later: Moment | null;
  /** The earliest moment: what the account's first change in the log made. */
  readonly first: Moment | null;
}

/** A change of the account. */
interface Logged {
  readonly version: number;
  readonly at: string;
}

const oldestSql = 'SELECT version, at FROM change_log ORDER BY version, position LIMIT 1';
const lastSql = `SELECT version, at FROM change_log WHERE account_id = $1 AND version <= $2 ORDER BY version DESC, position DESC LIMIT 1`;
const firstSql = `SELECT version, at FROM change_log WHERE account_id = $1 ORDER BY version, position LIMIT 1`;

const nextSql = `SELECT version, at FROM change_log WHERE account_id = $1 AND version > $2 ORDER BY version, position LIMIT 1`;

const backwardsSql =
  'SELECT version, at, position FROM change_log WHERE account_id = $1 AND (version, position) < ($2, $3) ' +
  'ORDER BY version DESC, position DESC LIMIT $4';
const laterSql =
  'SELECT version, at FROM change_log WHERE account_id = $1 AND version > $2 ORDER BY version, position LIMIT 1 OFFSET $3';

export const momentLimits = {
  /** Changes that one statement reads. */
  changesAtOnce: 1_000,
  /** Changes in a row that all speak for a place end the search: a clock is seldom wrong for longer. */
  mostAgainst: 1_000,
  /** Changes that are looked at one by one before the search leaps. */
  changesBeforeLeap: 10_000,
  /** Changes before a place whose majority says on which side of it the time lies. */
  changesAsked: 101,
};

/**
 * Finds the moment that a text names: a version, or a time, which stands for the end of its second; without a text, the one before
 * the last change. Changes have an order, and a clock that was set back makes no other one.
 */
export async function readMoment(queries: Queries, accountId: string, text: string | undefined): Promise<Moment> {
  const newest = await readVersion(queries);
  if (text === undefined) {
    const last = await lastUpTo(queries, accountId, newest);
    return last === undefined
      ? { version: newest, created_at: null }
      : momentUpTo(queries, accountId, last.version - 1);
  }
  const wanted = readText(text);
  if (typeof wanted === 'number' && wanted > newest) throw new UserError(momentToCome, { at: wanted });
  const [oldest] = (await queries.all(oldestSql)).map(toLogged);
  const [first] = (await queries.all(firstSql, [accountId])).map(toLogged);
  const isKept =
    oldest === undefined
      ? wanted === newest || (typeof wanted === 'string' && newest === 0)
      : oldest.version === 1 ||
        (typeof wanted === 'number' ? wanted >= oldest.version - 1 : Date.parse(wanted) >= Date.parse(oldest.at));
  if (!isKept) throw notKept(text, first);
  const last =
    typeof wanted === 'number'
      ? await lastUpTo(queries, accountId, wanted)
      : await lastBefore(queries, accountId, wanted);
  if (last !== undefined) return momentOf(last);
  // Nothing of the account is older in the log.
  return { version: first === undefined ? newest : first.version - 1, created_at: null };
}

/** Finds the moments that lie a change away, and the earliest one. */
export async function readNeighbours(queries: Queries, accountId: string, { version }: Moment): Promise<Neighbours> {
  const [first] = (await queries.all(firstSql, [accountId])).map(toLogged);
  const [next] = (await queries.all(nextSql, [accountId, version])).map(toLogged);
  const hasEarlier = first !== undefined && first.version <= version;
  return {
    earlier: hasEarlier ? await momentUpTo(queries, accountId, version - 1) : null,
    later: next === undefined ? null : momentOf(next),
    first: first === undefined ? null : momentOf(first),
  };
}

function momentOf({ version, at }: Logged): Moment {
  return { version, created_at: at };
}

/** A version, or a time as the log has it. */
function readText(text: string): number | string {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  // Behind the day: a date alone would be its midnight, which nobody means by it.
  const ms = /^[\d-]{10}[Tt ]/.test(text) ? parseTime(text) : undefined;
  const instant = ms === undefined ? undefined : toInstant(ms);
  if (instant === undefined) throw new UserError(invalidMoment, { at: quote(text) });
  return instant.text;
}

function notKept(text: string, first: Logged | undefined): UserError {
  const earliest = first === undefined ? toTimestamp(Date.now()) : `${first.at} (version ${first.version})`;
  return new UserError(momentNotKept, { at: quote(text), earliest });
}

async function momentUpTo(queries: Queries, accountId: string, version: number): Promise<Moment> {
  const last = await lastUpTo(queries, accountId, version);
  return last === undefined ? { version, created_at: null } : momentOf(last);
}

async function lastUpTo(queries: Queries, accountId: string, version: number): Promise<Logged | undefined> {
  return (await queries.all(lastSql, [accountId, version])).map(toLogged)[0];
}

/**
 * Finds the last change whose time had come, by the order of changes. Where a clock jumped, no order fits all of their times:
 * the place is taken that the fewest changes contradict, the later one of two.
 */
async function lastBefore(queries: Queries, accountId: string, time: string): Promise<Logged | undefined> {
  const { changesAtOnce, mostAgainst, changesBeforeLeap } = momentLimits;
  const pace = new Pace();
  let from: readonly [version: number, position: number] = [Number.MAX_SAFE_INTEGER, 0];
  let untilLeap = changesBeforeLeap;
  let last: Logged | undefined;
  /** How many more changes contradict the place behind the change at hand than the latest one, and the best. */
  let [against, fewest] = [0, 0];
  let seen = Infinity;
  for (;;) {
    const rows = await queries.all(backwardsSql, [accountId, ...from, changesAtOnce]);
    for (const row of rows) {
      const change = toLogged(row);
      if (change.version === seen) continue;
      seen = change.version;
      if (against < fewest || last === undefined) [last, fewest] = [change, against];
      against += change.at <= time ? 1 : -1;
      if (against - fewest > mostAgainst) return last;
    }
    const end = rows.at(-1);
    if (end === undefined || rows.length < changesAtOnce) return against < fewest ? undefined : last;
    from = [Number(end[0]), Number(end[2])];
    untilLeap -= rows.length;
    if (untilLeap <= 0) {
      from = [await leap(queries, accountId, time, from[0]), 0];
      untilLeap = Infinity;
    }
    if (pace.isDue) await pace.giveWay();
  }
}

/**
 * Finds a version some way behind the last change whose time had come, by halves: what lies between is not read. A few wrong clocks
 * among those that are asked change nothing.
 */
async function leap(queries: Queries, accountId: string, time: string, newest: number): Promise<number> {
  const { changesAsked, mostAgainst } = momentLimits;
  let [come, toCome] = [0, newest];
  while (toCome - come > 1) {
    const middle = Math.floor((come + toCome) / 2);
    const asked = (await queries.all(backwardsSql, [accountId, middle + 1, 0, changesAsked])).map(toLogged);
    const hadCome = asked.filter(({ at }) => at <= time).length;
    if (hadCome * 2 > asked.length || asked.length === 0) come = middle;
    else toCome = middle;
  }
  const [later] = (await queries.all(laterSql, [accountId, toCome, mostAgainst])).map(toLogged);
  return Math.min(later?.version ?? newest, newest);
}

function toLogged([version, at]: readonly unknown[]): Logged {
  return { version: Number(version), at: String(at) };
}
