import { randomInt } from 'node:crypto';

import type { Queries, Row } from '../database.ts';
import type { Migration } from '../migrate.ts';
import type { LoggedChange } from './change-log.ts';

/**
 * A point in the history of a database: a version, and the random mark of the commit that made it. A database that was
 * restored, or promoted before it had the newest commits, has another mark at that version, or none.
 */
export interface Point {
  readonly version: number;
  readonly mark: number;
}

/** The newest point of the changes that are logged, and of those that were observed. */
export interface Head {
  readonly logged: Point;
  readonly observed: Point;
}

/** A change that this process has seen, and that the database does not have. */
export interface LostChange {
  readonly version: number;
  readonly accountId: string;
  readonly kind: string;
  readonly id: string;
  readonly action: 'created' | 'changed' | 'deleted';
}

/** The database has another history than the one that this process has seen. */
export interface HistoryChange {
  readonly atMs: number;
  /** The newest version that was seen. */
  readonly seenVersion: number;
  /** The newest version that the database has. */
  readonly version: number;
  /** Lost changes that are known, deletions first and then by age: what they closed is open again. There may be more. */
  readonly lost: readonly LostChange[];
}

/** Changes of the history since the process started. */
export interface HistoryRecord {
  readonly changes: number;
  readonly lostChanges: number;
  readonly last: HistoryChange | undefined;
}

export const historyMigration: Migration = {
  name: 'store 0002 history',
  sql: ['store_version', 'observed_version', 'change_log', 'observed_changes']
    .map((table) => `ALTER TABLE ${table} ADD COLUMN mark INTEGER NOT NULL DEFAULT 0;`)
    .join('\n'),
};

export const headSql = 'SELECT s.version, s.mark, o.version, o.mark FROM store_version s, observed_version o';

export function toHead(rows: readonly Row[]): Head {
  const [version, mark, observedVersion, observedMark] = rows[0]?.map(Number) ?? [];
  return {
    logged: { version: version ?? 0, mark: mark ?? 0 },
    observed: { version: observedVersion ?? 0, mark: observedMark ?? 0 },
  };
}

export function toPoint([version, mark]: Row): Point {
  return { version: Number(version), mark: Number(mark) };
}

/** The way on from a point: the next step, or the reason why there is none. */
export type Way<Step> = Step | 'another history' | 'no longer known';

/**
 * Finds the way on from a point in what was read: what came of it, which says that it is the same history, and what came
 * after it. `step` makes the next step of all from an index on.
 */
export function wayOn<Step>(from: Point, points: readonly Point[], step: (start: number) => Step): Way<Step> {
  const start = points.findIndex(({ version }) => version > from.version);
  const next = points[start];
  // Every version has a change, and the oldest are deleted first.
  if (next?.version !== from.version + 1) return 'no longer known';
  const before = points[start - 1];
  // Nothing was changed before the first version.
  if (before === undefined) return from.version === 0 ? step(start) : 'no longer known';
  return isSame(before, from) ? step(start) : 'another history';
}

/** To be written with all changes of one commit. */
export function newMark(): number {
  return randomInt(1, 2 ** 48 - 1);
}

export function isSame(one: Point, other: Point): boolean {
  return one.version === other.version && one.mark === other.mark;
}

/** Changes that are remembered. */
const trailLength = 1_000;

/** The last changes that this process has seen. */
export class Trail {
  #changes: { readonly at: Point; readonly change: Omit<LostChange, 'version'> }[] = [];

  add(changes: readonly LoggedChange[]): void {
    // Without their documents, which may be large.
    for (const { at, accountId, kind, id, before, after } of changes.slice(-trailLength)) {
      const action = after === null ? 'deleted' : before === null ? 'created' : 'changed';
      this.#changes.push({ at, change: { accountId, kind, id, action } });
    }
    if (this.#changes.length > 2 * trailLength) this.#changes = this.#changes.slice(-trailLength);
  }

  /** True if the point is known to have been seen. */
  has(point: Point): boolean {
    const found = this.#changes.findLast(({ at }) => at.version === point.version);
    return found !== undefined && isSame(found.at, point);
  }

  /** Forgets and returns those that the database does not have, up to its newest version. */
  async takeLost(queries: Queries, newestVersion: number): Promise<readonly LostChange[]> {
    const all = this.#changes;
    const first = all[0]?.at.version ?? 0;
    const last = all.at(-1)?.at.version ?? 0;
    const sql = 'SELECT version, mark FROM change_log WHERE version >= $1 AND version <= $2 AND position = 0';
    const marks = new Map((await queries.all(sql, [first, last])).map(([version, mark]) => [version, mark]));
    // A version that is not in the log may have been deleted from it, unless it is too new for that.
    const isLost = ({ version, mark }: Point) => version > newestVersion || (marks.get(version) ?? mark) !== mark;
    this.#changes = all.filter(({ at }) => !isLost(at));
    const lost = all.filter(({ at }) => isLost(at)).map(({ at, change }) => ({ version: at.version, ...change }));
    const isDeletion = ({ action }: LostChange) => action === 'deleted';
    return [...lost.filter(isDeletion), ...lost.filter((each) => !isDeletion(each))];
  }
}
