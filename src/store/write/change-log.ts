import { chunks } from '../../lib/chunks.ts';
import { boundedSql, readBounded } from '../bounded-rows.ts';
import { toTimestamp } from '../../lib/ids.ts';
import { formatIp } from '../../lib/ip/address.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import type { Connection, Queries, Row, Value } from '../database.ts';
import type { Migration } from '../migrate.ts';
import { toPoint, wayOn } from './history.ts';
import type { Point, Way } from './history.ts';
import type { SentStatements } from './sent-statements.ts';

/** The author of a write, and the call it belongs to. */
export interface Actor {
  /** A principal's id, `host` for the command line of the machine, or `provider` for the identity provider of people. */
  readonly id: string;
  readonly accountId: string;
  readonly operationId: string;
  /** Whence the call came; absent where no call was. */
  readonly call?: {
    readonly source: IpAddress;
    /** Absent where the call had none, such as the one that accepts an invitation. */
    readonly keyId?: string | undefined;
    readonly scope: 'api' | 'dashboard';
  };
}

/** A change of one resource. */
export interface Change {
  readonly accountId: string;
  readonly kind: string;
  readonly id: string;
  /** JSON text without secrets; null where the resource did not exist. */
  readonly before: string | null;
  readonly after: string | null;
  /** True when rows beside the named one changed with it, so that caches drop everything. */
  readonly cascades: boolean;
  /** JSON text of these rows, for whoever reverts the change; absent where they are too many. Followers do not get it. */
  readonly parts?: string | undefined;
  /**
   * Data for the followers of this process, so that they need not read back what was just written. It is never stored:
   * a change of another process, or one read from the log, has none.
   */
  readonly payload?: unknown;
}

/** A change, and the point of the history that it is of. */
export interface LoggedChange extends Change {
  readonly at: Point;
}

export const changeLogMigration: Migration = {
  name: '0000 versions and the change log',
  sql: `
    CREATE TABLE store_version (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL);
    INSERT INTO store_version (one, version) VALUES (1, 0);
    CREATE TABLE change_log (
      version INTEGER NOT NULL,
      position INTEGER NOT NULL,
      at TEXT NOT NULL,
      account_id TEXT NOT NULL,
      actor TEXT NOT NULL,
      operation_id TEXT NOT NULL,
      kind TEXT NOT NULL,
      resource_id TEXT NOT NULL,
      before TEXT,
      after TEXT,
      sweeping INTEGER NOT NULL,
      PRIMARY KEY (version, position)
    );
  `,
};

/** Absent in changes that are older than the columns, and in those of the host. */
export const changeSourceMigration: Migration = {
  name: 'store 0003 source of changes',
  sql: ['source', 'key_id', 'scope'].map((column) => `ALTER TABLE change_log ADD COLUMN ${column} TEXT;`).join('\n'),
};

/** Only cascading changes have it. */
export const changePartsMigration: Migration = {
  name: 'store 0004 parts of changes',
  sql: 'ALTER TABLE change_log ADD COLUMN parts TEXT;',
};

export async function readVersion(queries: Queries): Promise<number> {
  const [row] = await queries.all('SELECT version FROM store_version');
  return Number(row?.[0]);
}

/** Rows of one statement. */
const rowsAtOnce = 64;
/** SQL texts by the number of rows. */
const insertTexts = new Map<number, string>();
const columns =
  'version position at account_id actor operation_id kind resource_id before after sweeping mark source key_id scope'.split(
    ' ',
  );

function insertSql(rows: number): string {
  let sql = insertTexts.get(rows);
  if (sql === undefined) {
    const places = (row: number) => columns.map((_, at) => `$${row * columns.length + at + 1}`).join(', ');
    const values = Array.from({ length: rows }, (_, row) => `(${places(row)})`).join(', ');
    sql = `INSERT INTO change_log (${columns.join(', ')}) VALUES ${values}`;
    insertTexts.set(rows, sql);
  }
  return sql;
}

const partsSql = 'UPDATE change_log SET parts = $3 WHERE version = $1 AND position = $2';

interface UnloggedChange {
  readonly version: number;
  readonly position: number;
  readonly at: string;
  readonly actor: Actor;
  readonly change: Change;
}

/** Changes of a transaction that are not in the log yet: those of many writes go there together, at its end. */
export class UnloggedChanges {
  readonly #all: UnloggedChange[] = [];

  add(version: number, actor: Actor, changes: readonly Change[]): void {
    const at = toTimestamp(Date.now());
    for (const [position, change] of changes.entries()) this.#all.push({ version, position, at, actor, change });
  }

  /** Changes of an account after `version`, of these kinds, as `readAccountChanges` finds them in the log. */
  ofAccount(accountId: string, version: number, kinds: readonly string[]): readonly Change[] {
    return this.#all
      .filter(
        (each) => each.version > version && each.change.accountId === accountId && kinds.includes(each.change.kind),
      )
      .map(({ change }) => change);
  }

  async log(connection: Connection, sent: SentStatements, mark: number): Promise<void> {
    const toValues = (change: UnloggedChange) => toRow(change, mark);
    for (const some of chunks(this.#all, rowsAtOnce))
      await sent.send(connection.run(insertSql(some.length), some.flatMap(toValues)));
    // Few changes have parts: the others are inserted without a value for them.
    for (const { version, position, change } of this.#all)
      if (change.parts !== undefined) await sent.send(connection.run(partsSql, [version, position, change.parts]));
  }
}

function toRow({ version, position, at, actor, change }: UnloggedChange, mark: number): readonly Value[] {
  return [
    version,
    position,
    at,
    change.accountId,
    actor.id,
    actor.operationId,
    change.kind,
    change.id,
    change.before,
    change.after,
    change.cascades ? 1 : 0,
    mark,
    actor.call === undefined ? null : formatIp(actor.call.source),
    actor.call?.keyId ?? null,
    actor.call?.scope ?? null,
  ];
}

/** Versions whose changes one transaction deletes. */
const versionsPrunedAtOnce = 1_000;

/**
 * Deletes changes before a time, the oldest first, and returns how many; to be called until that is 0. A process that had
 * not read them yet is reset.
 */
export async function pruneChanges(writer: Pick<Connection, 'all' | 'run'>, before: string): Promise<number> {
  const [oldest] = await writer.all('SELECT MIN(version) FROM change_log');
  const upTo = Number(oldest?.[0]) + versionsPrunedAtOnce;
  const [last] = await writer.all('SELECT MAX(version) FROM change_log WHERE version < $1 AND at < $2', [upTo, before]);
  return writer.run('DELETE FROM change_log WHERE version <= $1', [last?.[0] ?? -1]);
}

const readColumns = ['account_id', 'kind', 'resource_id', 'before', 'after', 'sweeping', 'version', 'mark', 'position'];
/** Changes that one statement reads, if their texts are short. */
const readAtOnce = 1_000;
/** Characters of texts that followers get together, unless they are of one version. */
const charactersAtOnce = 8 * 1024 * 1024;
const ofVersion = `SELECT ${readColumns.join(', ')} FROM change_log WHERE version = $1 AND position = 0`;
const following = boundedSql({
  table: 'change_log',
  columns: readColumns,
  long: ['before', 'after'],
  key: ['version', 'position'],
  order: 'ASC',
  where: '(version, position) > ($1, $2) AND version <= $3',
  limit: readAtOnce,
});

/** The changes after `from`, at most up to and including the version `upTo`, in order: whole versions, fewer where their texts are long. */
export async function readChanges(queries: Queries, from: Point, upTo: number): Promise<Way<readonly LoggedChange[]>> {
  const rows: Row[] = [];
  let characters = 0;
  let isFull = false;
  await readBounded(
    queries,
    {
      atOnce: readAtOnce,
      // Positions of a version are fewer.
      statement: (last) => [following, [...(last?.slice(6, 7) ?? [from.version]), last?.[8] ?? 1e9, upTo]],
      isEnough: () => isFull,
    },
    (row) => {
      characters += (textOrNull(row[3])?.length ?? 0) + (textOrNull(row[4])?.length ?? 0);
      rows.push(row);
      isFull = characters > charactersAtOnce && row[6] !== rows[0]?.[6];
    },
  );
  // The last version may have more changes.
  const whole = isFull ? rows.filter((row) => row[6] !== rows.at(-1)?.[6]) : rows;
  // Read at last, because the oldest are deleted first: while it is there, so is what came after it.
  const all = [...(await queries.all(ofVersion, [from.version])), ...whole];
  const points = all.map((row) => toPoint(row.slice(6)));
  return wayOn(from, points, (start) =>
    all.slice(start).map((row, index) => ({ ...toChange(row), at: points[start + index] ?? from })),
  );
}

/** Changes of one account after `version`, of these kinds; at most `limit`. */
export async function readAccountChanges(
  queries: Queries,
  accountId: string,
  version: number,
  kinds: readonly string[],
  limit: number,
): Promise<readonly Change[]> {
  const places = kinds.map((_, at) => `$${at + 4}`).join(', ');
  const rows = await queries.all(
    `SELECT account_id, kind, resource_id, before, after, sweeping FROM change_log
     WHERE account_id = $1 AND version > $2 AND kind IN (${places}) ORDER BY version, position LIMIT $3`,
    [accountId, version, limit, ...kinds],
  );
  return rows.map(toChange);
}

function toChange([accountId, kind, id, before, after, cascades]: Row): Change {
  return {
    accountId: String(accountId),
    kind: String(kind),
    id: String(id),
    before: textOrNull(before),
    after: textOrNull(after),
    cascades: cascades === 1,
  };
}

function textOrNull(value: Row[number] | undefined): string | null {
  return typeof value === 'string' ? value : null;
}
