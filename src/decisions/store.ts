import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';

import { newId } from '../lib/ids.ts';
import { columns, schemaVersion } from './columns.ts';
import type { DecisionRow } from './columns.ts';
import type { DecisionFilter, DecisionPage, Started, StoreOptions, StoreSize } from './messages.ts';
import { OpenPart } from './open-part.ts';
import { conditionsOf } from './query.ts';
import type { Lines } from './waiting-lines.ts';

/** A part is closed when it has so many rows, and at the end of every hour. */
const partRows = 65_536;
/** A part that cannot be closed takes so many at the most. */
const mostRows = 4 * partRows;
/** Pause before such a part is tried again. */
const retryMs = 30_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Longest time that one query takes; then what was found is answered. */
const queryMs = 5_000;
/** How long a start waits for a lock that another process has. */
const lockMs = 4_000;
const accountPattern = /^\w{1,64}$/;
const closedPattern = /^(\d+)-(\d+)-(\d+)-(\d+)\.parquet$/;
const openPattern = /^(\w+)\.(\d+)\.tsv$/;

/** A closed part: decisions of one account, which are never changed. */
interface ClosedPart {
  readonly accountId: string;
  readonly path: string;
  readonly firstNumber: number;
  readonly lastNumber: number;
  readonly minAtMs: number;
  readonly maxAtMs: number;
  readonly bytes: number;
}

/**
 * Decisions in a folder, by account: an open part is a log of lines, a closed one a Parquet file. Nothing of a closed part is
 * written again, so that a crash can take only the end of a log.
 */
export class DecisionStore {
  readonly #options: StoreOptions;
  readonly #instance: DuckDBInstance;
  readonly #writer: DuckDBConnection;
  readonly #open = new Map<string, OpenPart>();
  /** By account, oldest first. */
  readonly #closed = new Map<string, ClosedPart[]>();

  static async open(options: StoreOptions): Promise<DecisionStore> {
    const { folder } = options;
    for (const each of ['', 'open', 'accounts', 'temporary'])
      mkdirSync(join(folder, each), { recursive: true, mode: 0o700 });
    if (options.archive !== undefined) mkdirSync(options.archive, { recursive: true, mode: 0o700 });
    const instance = await openEngine(options);
    const store = new DecisionStore(options, instance, await instance.connect());
    await store.#recover();
    return store;
  }

  private constructor(options: StoreOptions, instance: DuckDBInstance, writer: DuckDBConnection) {
    this.#options = options;
    this.#instance = instance;
    this.#writer = writer;
  }

  get started(): Started {
    const path = join(this.#options.folder, 'gateway');
    if (!existsSync(path)) writeFileSync(path, `${newId('dst')}\n`, { mode: 0o600 });
    const all = [...this.#closed.values()].flat();
    return {
      gateway: readFileSync(path, 'utf8').trim(),
      lastNumber: all.reduce((last, { lastNumber }) => Math.max(last, lastNumber), 0),
    };
  }

  get size(): StoreSize {
    const all = [...this.#closed.values()].flat();
    const open = [...this.#open.values()];
    const oldestMs = [...all, ...open].reduce((oldest, { minAtMs }) => Math.min(oldest, minAtMs), Infinity);
    return {
      bytes: [...all, ...open].reduce((sum, { bytes }) => sum + bytes, 0),
      oldestMs: oldestMs === Infinity ? undefined : oldestMs,
    };
  }

  /** Throws if the lines could not be written; nothing of them is there then. */
  async append(lines: Lines, nowMs: number): Promise<void> {
    if (!accountPattern.test(lines.accountId)) throw new Error('the account has no id');
    let part = this.#open.get(lines.accountId);
    if (part !== undefined && (part.rows >= partRows || hourOf(part.openedMs) !== hourOf(nowMs))) {
      await this.#closeOrKeep(part);
      part = this.#open.get(lines.accountId);
    }
    if (part === undefined) {
      const path = join(this.#options.folder, 'open', `${lines.accountId}.${lines.firstNumber}.tsv`);
      part = new OpenPart(path, lines.accountId, lines.firstNumber, nowMs);
      this.#open.set(lines.accountId, part);
    }
    part.append(lines);
  }

  /** Closes the parts of hours that are over, and removes what is too old or too much. */
  async tend(nowMs: number): Promise<StoreSize> {
    for (const part of this.#open.values())
      if (part.rows >= partRows || hourOf(part.openedMs) !== hourOf(nowMs)) await this.#closeOrKeep(part);
    for (const parts of this.#closed.values())
      for (const part of parts) if (part.maxAtMs < nowMs - this.#options.days * dayMs) this.#remove(part);
    this.#shrink();
    return this.size;
  }

  async query(filter: DecisionFilter): Promise<DecisionPage> {
    const deadlineMs = performance.now() + queryMs;
    const connection = await this.#instance.connect();
    const timer = setTimeout(() => {
      connection.interrupt();
    }, queryMs);
    try {
      return await this.#read(connection, filter, deadlineMs).catch((error: unknown) => {
        // A log that was closed meanwhile is read from its new place.
        if (performance.now() > deadlineMs || !String(error).includes('No files found')) throw error;
        return this.#read(connection, filter, deadlineMs);
      });
    } finally {
      clearTimeout(timer);
      connection.closeSync();
    }
  }

  async #read(connection: DuckDBConnection, filter: DecisionFilter, deadlineMs: number): Promise<DecisionPage> {
    const rows: DecisionRow[] = [];
    const { where, values } = conditionsOf(filter);
    for (const table of this.#tablesFor(filter)) {
      const left = filter.limit - rows.length;
      if (left <= 0) break;
      try {
        const found = await connection.runAndReadAll(
          `SELECT ${names} FROM ${table} WHERE ${where} ORDER BY number DESC LIMIT ${left}`,
          values,
        );
        // The columns of the table are those of a row.
        rows.push(...(found.getRowObjectsJS() as unknown as DecisionRow[]));
      } catch (error) {
        if (performance.now() < deadlineMs) throw error;
      }
      if (performance.now() > deadlineMs) return { rows, isComplete: false };
    }
    return { rows, isComplete: true };
  }

  async close(): Promise<void> {
    for (const part of this.#open.values()) await this.#closeOrKeep(part, true);
    this.#writer.closeSync();
    this.#instance.closeSync();
  }

  /** Tables that may have rows for the filter, newest first. */
  #tablesFor({ accountId, before = Infinity, fromMs = -Infinity, toMs = Infinity }: DecisionFilter): string[] {
    const mayHave = ({ firstNumber, minAtMs, maxAtMs }: ClosedPart | OpenPart): boolean =>
      firstNumber < before && maxAtMs >= fromMs && minAtMs < toMs;
    const open = this.#open.get(accountId);
    const closed = (this.#closed.get(accountId) ?? []).toReversed().filter(mayHave);
    return [
      ...(open !== undefined && mayHave(open) ? [linesTable(open.path)] : []),
      ...closed.map(({ path }) => `read_parquet(${quoted(path)})`),
    ];
  }

  /** Closes a part. One that cannot be closed, because the disk is full, grows on for a while. */
  async #closeOrKeep(part: OpenPart, isLast = false): Promise<void> {
    if (!isLast && performance.now() < part.retryAtMs && part.rows < mostRows) return;
    try {
      await this.#close(part);
    } catch (error) {
      part.retryAtMs = performance.now() + retryMs;
      if (part.rows >= mostRows) throw error;
    }
  }

  /** Writes an open part as Parquet, and then removes its log. */
  async #close(part: OpenPart): Promise<void> {
    const { accountId, firstNumber, path } = part;
    part[Symbol.dispose]();
    const folder = join(this.#options.folder, 'accounts', accountId);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const unfinished = join(this.#options.folder, 'temporary', `${accountId}.${firstNumber}.parquet`);
    try {
      await this.#writer.run(
        `COPY (SELECT ${names} FROM ${linesTable(path)} ORDER BY number) TO ${quoted(unfinished)} ` +
          `(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${partRows}, KV_METADATA {gatehouse_schema: '${schemaVersion}'})`,
      );
      const found = await this.#writer.runAndReadAll(
        `SELECT coalesce(min(at_ms), 0), coalesce(max(at_ms), 0), coalesce(max(number), 0), count(*) FROM read_parquet(${quoted(unfinished)})`,
      );
      const [minAtMs = 0, maxAtMs = 0, lastNumber = 0, rows = 0] = (found.getRows()[0] ?? []).map(Number);
      if (rows > 0) {
        sync(unfinished);
        const closed = join(folder, `${minAtMs}-${maxAtMs}-${firstNumber}-${lastNumber}.parquet`);
        renameSync(unfinished, closed);
        this.#add({ accountId, path: closed, firstNumber, lastNumber, minAtMs, maxAtMs, bytes: statSync(closed).size });
      }
      this.#open.delete(accountId);
      rmSync(path, { force: true });
    } finally {
      rmSync(unfinished, { force: true });
    }
  }

  #add(part: ClosedPart): void {
    const parts = this.#closed.get(part.accountId) ?? [];
    this.#closed.set(
      part.accountId,
      [...parts, part].toSorted((a, b) => a.firstNumber - b.firstNumber),
    );
  }

  #remove(part: ClosedPart): void {
    rmSync(part.path, { force: true });
    const left = (this.#closed.get(part.accountId) ?? []).filter((each) => each !== part);
    if (left.length === 0) this.#closed.delete(part.accountId);
    else this.#closed.set(part.accountId, left);
  }

  /** Removes the oldest part of the account that has most, until all together are within the bound. */
  #shrink(): void {
    while (this.size.bytes > this.#options.maxBytes) {
      const bytesOf = (parts: readonly ClosedPart[]): number => parts.reduce((sum, { bytes }) => sum + bytes, 0);
      const [largest] = [...this.#closed.values()].toSorted((a, b) => bytesOf(b) - bytesOf(a));
      const oldest = largest?.[0];
      if (oldest === undefined) return;
      this.#remove(oldest);
    }
  }

  async #recover(): Promise<void> {
    const { folder } = this.#options;
    for (const accountId of readdirSync(join(folder, 'accounts')))
      for (const file of readdirSync(join(folder, 'accounts', accountId))) {
        const [minAtMs, maxAtMs, firstNumber, lastNumber] = (closedPattern.exec(file) ?? []).slice(1).map(Number);
        if (minAtMs === undefined || maxAtMs === undefined || firstNumber === undefined || lastNumber === undefined)
          continue;
        const path = join(folder, 'accounts', accountId, file);
        this.#add({ accountId, path, firstNumber, lastNumber, minAtMs, maxAtMs, bytes: statSync(path).size });
      }
    for (const file of readdirSync(join(folder, 'temporary')))
      rmSync(join(folder, 'temporary', file), { recursive: true, force: true });
    for (const file of readdirSync(join(folder, 'open'))) {
      const [, accountId, first] = openPattern.exec(file) ?? [];
      if (accountId === undefined) continue;
      const path = join(folder, 'open', file);
      const firstNumber = Number(first);
      // The crash came after the part was closed.
      if (this.#closed.get(accountId)?.some((part) => part.firstNumber === firstNumber) === true) rmSync(path);
      else {
        cutLine(path);
        const part = new OpenPart(path, accountId, firstNumber, 0);
        [part.minAtMs, part.maxAtMs] = [0, Number.MAX_SAFE_INTEGER];
        this.#open.set(accountId, part);
        await this.#closeOrKeep(part, true);
      }
    }
  }
}

const names = Object.keys(columns).join(', ');
const types = Object.entries(columns)
  .map(([name, type]) => `${name}: '${type}'`)
  .join(', ');

function linesTable(path: string): string {
  return (
    `read_csv(${quoted(path)}, auto_detect = false, header = false, delim = '\t', quote = '', escape = '', ` +
    `new_line = '\\n', nullstr = '\u001f', max_line_size = 65536, buffer_size = 1048576, ignore_errors = true, columns = {${types}})`
  );
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function hourOf(ms: number): number {
  return Math.floor(ms / hourMs);
}

function sync(path: string): void {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Removes what a crash has left of a line. */
function cutLine(path: string): void {
  truncateSync(path, readFileSync(path).lastIndexOf(10) + 1);
}

/** DuckDB in one thread with bounded memory, which reads and writes this folder only. Its file is the lock of the folder. */
async function openEngine({ folder, archive }: StoreOptions): Promise<DuckDBInstance> {
  const { DuckDBInstance: Instance } = await import('@duckdb/node-api').catch((cause: unknown) => {
    throw new Error(
      'GATEHOUSE_DECISIONS is set, but the package that keeps decisions is not installed: run "npm install --no-save @duckdb/node-api@1.5.5-r.5" in the folder of Gatehouse, or unset GATEHOUSE_DECISIONS',
      { cause },
    );
  });
  const create = () =>
    Instance.create(join(folder, 'lock'), {
      threads: '1',
      memory_limit: '128MB',
      temp_directory: join(folder, 'temporary'),
      max_temp_directory_size: '256MB',
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
    });
  const instance = await whenFree(create).catch((cause: unknown) => {
    const isHeld = isLocked(cause);
    throw new Error(
      isHeld
        ? `GATEHOUSE_DECISIONS ${JSON.stringify(folder)} is in use by another process: give each gateway a folder of its own`
        : `GATEHOUSE_DECISIONS ${JSON.stringify(folder)} cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  });
  const connection = await instance.connect();
  const allowed = [folder, ...(archive === undefined ? [] : [archive])].map((each) => quoted(`${each}/`)).join(', ');
  await connection.run(`SET allowed_directories = [${allowed}]`);
  await connection.run('SET enable_external_access = false');
  await connection.run('SET lock_configuration = true');
  connection.closeSync();
  return instance;
}

/** Waits a little for a lock: the keeper of a gateway that was killed ends when it notices. */
async function whenFree<Result>(open: () => Promise<Result>): Promise<Result> {
  const untilMs = performance.now() + lockMs;
  for (;;) {
    try {
      return await open();
    } catch (error) {
      if (!isLocked(error) || performance.now() > untilMs) throw error;
    }
    await sleep(lockMs / 20);
  }
}

function isLocked(error: unknown): boolean {
  return error instanceof Error && error.message.includes('Could not set lock');
}
