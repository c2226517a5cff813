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

import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';

import { newId } from '../lib/ids.ts';
import { KeyCounts } from '../lib/key-counts.ts';
import { columnNames, columns, schemaVersion } from './columns.ts';
import { cannotUse, openEngine, quoted } from './engine.ts';
import type { DecisionFilter, DecisionPage, Started, StoreOptions, StoreSize } from './messages.ts';
import { OpenPart } from './open-part.ts';
import { readParts } from './read-parts.ts';
import type { ReadablePart } from './read-parts.ts';
import type { Lines } from './waiting-lines.ts';

/** A part is closed when it has so many rows or bytes, and at the end of every hour. */
const partRows = 65_536;
const partBytes = 32 * 1024 * 1024;
/** Open parts have this share of all bytes; the largest is closed where they have more. */
const openShare = 1 / 4;
/** A part that cannot be closed takes so many at the most. */
const mostRows = 4 * partRows;
/** Pause before such a part is tried again. */
const retryMs = 30_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** The clock may jump: it makes decisions older no faster than so many times the time that has passed. */
const clockRate = 24;
const accountPattern = /^\w{1,64}$/;
const closedPattern = /^(\d+)-(\d+)-(\d+)-(\d+)\.parquet$/;
const openPattern = /^(\w+)\.(\d+)\.tsv$/;
/** Files that this store and its engine leave in `temporary`. */
const unfinishedPattern = /^(?:\w+\.\d+\.parquet|duckdb_temp.*)$/;

/** A closed part: decisions of one account, which are never changed. */
interface ClosedPart extends ReadablePart {
  readonly accountId: string;
  readonly path: string;
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
  /** Bytes of parts of both kinds, by account. */
  readonly #bytesOf = new KeyCounts<string>();
  #bytes = 0;
  #openBytes = 0;
  /** Number of the newest decision that was there at the start. */
  #lastNumber = 0;
  /** The time by which ages are told. */
  #believedMs = Date.now();
  #tidiedAtMs = performance.now();

  static async open(options: StoreOptions): Promise<DecisionStore> {
    const { folder, archive } = options;
    const folders = ['', 'open', 'accounts', 'temporary'].map((each) => join(folder, each));
    try {
      for (const each of archive === undefined ? folders : [...folders, archive])
        mkdirSync(each, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw cannotUse(folder, error);
    }
    const instance = await openEngine(options);
    const store = new DecisionStore(options, instance, await instance.connect());
    store.#recover();
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
    return { gateway: readFileSync(path, 'utf8').trim(), lastNumber: this.#lastNumber };
  }

  get size(): StoreSize {
    const all = [...this.#closed.values()].flat();
    const open = [...this.#open.values()];
    const oldestMs = [...all, ...open].reduce((oldest, { minAtMs }) => Math.min(oldest, minAtMs), Infinity);
    return { bytes: this.#bytes, oldestMs: oldestMs === Infinity ? undefined : oldestMs };
  }

  /** Throws if the lines could not be written; nothing of them is there then. */
  async append(lines: Lines, nowMs: number): Promise<void> {
    if (!accountPattern.test(lines.accountId)) throw new Error('the account has no id');
    await this.#shrink();
    let part = this.#open.get(lines.accountId);
    if (part !== undefined && isOver(part, nowMs)) {
      await this.#closeOrKeep(part);
      part = this.#open.get(lines.accountId);
    }
    if (part === undefined) {
      const path = join(this.#options.folder, 'open', `${lines.accountId}.${lines.firstNumber}.tsv`);
      part = new OpenPart(path, lines.accountId, lines.firstNumber, nowMs);
    }
    try {
      part.append(lines);
    } catch (error) {
      if (part.bytes === 0) rmSync(part.path, { force: true });
      throw error;
    }
    this.#open.set(lines.accountId, part);
    this.#openBytes += lines.bytes.length;
    this.#count(lines.accountId, lines.bytes.length);
  }

  /** Closes a part of an hour that is over, and tells whether there was one. */
  async closeDue(nowMs: number): Promise<boolean> {
    const due = this.#open.values().find((part) => isOver(part, nowMs) && performance.now() >= part.retryAtMs);
    if (due === undefined) return false;
    await this.#closeOrKeep(due);
    return true;
  }

  /** Removes what is too old or too much. */
  async tidy(nowMs: number): Promise<StoreSize> {
    const elapsedMs = performance.now() - this.#tidiedAtMs;
    this.#tidiedAtMs += elapsedMs;
    this.#believedMs = Math.min(nowMs, this.#believedMs + clockRate * elapsedMs);
    const keptFromMs = this.#believedMs - this.#options.days * dayMs;
    for (const parts of this.#closed.values())
      for (const part of parts) if (part.maxAtMs < keptFromMs) this.#remove(part);
    await this.#shrink();
    return this.size;
  }

  async query(filter: DecisionFilter): Promise<DecisionPage> {
    const read = () => readParts(this.#instance, this.#partsFor(filter), filter, this.#options.queries);
    return read().catch((error: unknown) => {
      // A log that was closed meanwhile is read from its new place.
      if (!String(error).includes('No files found')) throw error;
      return read();
    });
  }

  async close(): Promise<void> {
    for (const part of this.#open.values()) await this.#closeOrKeep(part, true);
    this.#writer.closeSync();
    this.#instance.closeSync();
  }

  /** Parts that may have rows for the filter, newest first. */
  #partsFor({ accountId, before = Infinity, fromMs = -Infinity, toMs = Infinity }: DecisionFilter): ReadablePart[] {
    const mayHave = ({ firstNumber, minAtMs, maxAtMs }: ClosedPart | OpenPart): boolean =>
      firstNumber < before && maxAtMs >= fromMs && minAtMs < toMs;
    const open = this.#open.get(accountId);
    const closed = (this.#closed.get(accountId) ?? []).toReversed().filter(mayHave);
    return open !== undefined && mayHave(open)
      ? [{ table: linesTable(open.path), firstNumber: open.firstNumber, rows: open.rows }, ...closed]
      : closed;
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
    const folder = join(this.#options.folder, 'accounts', accountId);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const unfinished = join(this.#options.folder, 'temporary', `${accountId}.${firstNumber}.parquet`);
    try {
      await this.#writer.run(
        `COPY (SELECT ${columnNames} FROM ${linesTable(path)} ORDER BY number) TO ${quoted(unfinished)} ` +
          `(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${partRows}, KV_METADATA {gatehouse_schema: '${schemaVersion}'})`,
      );
      const found = await this.#writer.runAndReadAll(
        `SELECT coalesce(min(at_ms), 0), coalesce(max(at_ms), 0), coalesce(max(number), 0), count(*) FROM ${parquetTable(unfinished)}`,
      );
      const [minAtMs = 0, maxAtMs = 0, lastNumber = 0, rows = 0] = (found.getRows()[0] ?? []).map(Number);
      if (rows > 0) {
        sync(unfinished);
        const closed = join(folder, `${minAtMs}-${maxAtMs}-${firstNumber}-${lastNumber}.parquet`);
        renameSync(unfinished, closed);
        const bytes = statSync(closed).size;
        const table = parquetTable(closed);
        this.#add({ accountId, path: closed, table, rows, firstNumber, lastNumber, minAtMs, maxAtMs, bytes });
      }
      this.#open.delete(accountId);
      this.#openBytes -= part.bytes;
      this.#count(accountId, -part.bytes);
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
    this.#count(part.accountId, part.bytes);
  }

  #remove(part: ClosedPart): void {
    rmSync(part.path, { force: true });
    this.#count(part.accountId, -part.bytes);
    const left = (this.#closed.get(part.accountId) ?? []).filter((each) => each !== part);
    if (left.length === 0) this.#closed.delete(part.accountId);
    else this.#closed.set(part.accountId, left);
  }

  #count(accountId: string, bytes: number): void {
    this.#bytes += bytes;
    this.#bytesOf.add(accountId, bytes);
  }

  /**
   * Removes the oldest part of the account that has most, until all together are within the bound. Open parts count, so that
   * one which grows takes no room of others.
   */
  async #shrink(): Promise<void> {
    const { maxBytes } = this.#options;
    if (this.#openBytes > maxBytes * openShare) {
      const largest = this.#open.values().reduce((most, part) => (part.bytes > most.bytes ? part : most));
      await this.#closeOrKeep(largest);
    }
    while (this.#bytes > maxBytes) {
      let [accountId, most] = ['', 0];
      for (const each of this.#bytesOf.entries()) if (each[1] > most) [accountId, most] = each;
      const [oldest] = this.#closed.get(accountId) ?? [];
      const open = this.#open.get(accountId);
      if (oldest !== undefined) this.#remove(oldest);
      else if (open !== undefined && performance.now() >= open.retryAtMs) await this.#closeOrKeep(open);
      else return;
    }
  }

  /** Finds what is there. Open parts are closed later: a start does not wait for it. */
  #recover(): void {
    const { folder } = this.#options;
    for (const entry of readdirSync(join(folder, 'accounts'), { withFileTypes: true }))
      if (entry.isDirectory() && accountPattern.test(entry.name)) this.#recoverClosed(entry.name);
    for (const file of readdirSync(join(folder, 'temporary')))
      if (unfinishedPattern.test(file)) rmSync(join(folder, 'temporary', file), { force: true });
    for (const entry of readdirSync(join(folder, 'open'), { withFileTypes: true })) {
      const [, accountId, first] = openPattern.exec(entry.name) ?? [];
      if (accountId !== undefined && entry.isFile())
        this.#recoverOpen(join(folder, 'open', entry.name), accountId, Number(first));
    }
  }

  #recoverClosed(accountId: string): void {
    const parts: ClosedPart[] = [];
    for (const file of readdirSync(join(this.#options.folder, 'accounts', accountId))) {
      const [minAtMs, maxAtMs, firstNumber, lastNumber] = (closedPattern.exec(file) ?? []).slice(1).map(Number);
      if (minAtMs === undefined || maxAtMs === undefined || firstNumber === undefined || lastNumber === undefined)
        continue;
      const path = join(this.#options.folder, 'accounts', accountId, file);
      const bytes = statSync(path).size;
      const table = parquetTable(path);
      parts.push({ accountId, path, table, firstNumber, lastNumber, minAtMs, maxAtMs, bytes });
      this.#count(accountId, bytes);
      this.#lastNumber = Math.max(this.#lastNumber, lastNumber);
    }
    if (parts.length > 0)
      this.#closed.set(
        accountId,
        parts.toSorted((a, b) => a.firstNumber - b.firstNumber),
      );
  }

  #recoverOpen(path: string, accountId: string, firstNumber: number): void {
    const lastNumber = cutLine(path);
    // The crash came after the part was closed, or before its first line was there.
    const isClosed = this.#closed.get(accountId)?.some((part) => part.firstNumber === firstNumber);
    if (isClosed === true || lastNumber === undefined) {
      rmSync(path);
      return;
    }
    const part = new OpenPart(path, accountId, firstNumber, 0);
    [part.minAtMs, part.maxAtMs] = [0, Number.MAX_SAFE_INTEGER];
    this.#open.set(accountId, part);
    this.#openBytes += part.bytes;
    this.#count(accountId, part.bytes);
    this.#lastNumber = Math.max(this.#lastNumber, lastNumber);
  }
}

const types = Object.entries(columns)
  .map(([name, type]) => `${name}: '${type}'`)
  .join(', ');

function parquetTable(path: string): string {
  return `read_parquet(${quoted(path)})`;
}

function linesTable(path: string): string {
  return (
    `read_csv(${quoted(path)}, auto_detect = false, header = false, delim = '\t', quote = '', escape = '', ` +
    `new_line = '\\n', nullstr = '\u001f', max_line_size = 65536, buffer_size = 1048576, ignore_errors = true, columns = {${types}})`
  );
}

function isOver({ rows, bytes, openedMs }: OpenPart, nowMs: number): boolean {
  return rows >= partRows || bytes >= partBytes || hourOf(openedMs) !== hourOf(nowMs);
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

/** Removes what a crash has left of a line. Returns the number of the last line that is whole. */
function cutLine(path: string): number | undefined {
  const lines = readFileSync(path);
  const end = lines.lastIndexOf(10) + 1;
  truncateSync(path, end);
  if (end === 0) return undefined;
  const last = lines.subarray(end < 2 ? 0 : lines.lastIndexOf(10, end - 2) + 1, end);
  return Number.parseInt(last.toString('utf8'), 10) || 0;
}
