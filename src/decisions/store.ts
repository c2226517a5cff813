import {
  existsSync,
  mkdirSync,
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
import { answer } from './answer.ts';
import { Archive } from './archive.ts';
import type { Archived } from './archive.ts';
import { cannotUse, openEngine } from './engine.ts';
import type { Answer, Asked, DecisionPage, QuestionKind, Started, StoreOptions, StoreSize } from './messages.ts';
import { OpenPart } from './open-part.ts';
import type { Lines } from './open-part.ts';
import type { ClosedPart, Parts } from './parts.ts';
import { readClosedAfter, readOpenAfter } from './read-after.ts';
import { readWithin } from './reading.ts';
import type { Reading } from './reading.ts';
import { Summaries } from './summaries.ts';
import { decisionsEnd, linesTable, parquetTable, partRows, sync, writeDecisions } from './tables.ts';

/** A part is closed when it has so many bytes or `partRows`, and at the end of every hour. */
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
/** Names of files of version 1 do not say so. */
const closedPattern = /^(\d+)-(\d+)-(\d+)-(\d+)(?:\.2)?\.parquet$/;
const openPattern = /^(\w+)\.(\d+)\.tsv$/;
/** Files that this store and its engine leave in `temporary`. */
const unfinishedPattern = /^(?:\w+\.\d+\.parquet|duckdb_temp.*)$/;

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
  readonly #summaries: Summaries;
  readonly #archive: Archive | undefined;
  /** Until when decisions of an account were removed before the archive had them. */
  readonly #lostToMs = new Map<string, number>();
  /** Accounts with parts that may have waited long enough for a summary by the hour. */
  readonly #grown = new Set<string>();
  /** Until when decisions of an account were removed to make room. */
  readonly #removedToMs = new Map<string, number>();
  /** The last number that was removed, by account. */
  readonly #removedTo = new Map<string, number>();
  readonly #beganMs: number;
  #keptFromMs = 0;
  #lastNumber = 0;
  /** The time by which ages are told. */
  #believedMs = Date.now();
  #tidiedAtMs = performance.now();

  static async open(options: StoreOptions): Promise<DecisionStore> {
    const { folder } = options;
    const folders = ['', 'open', 'accounts', 'summaries', 'temporary'].map((each) => join(folder, each));
    try {
      for (const each of folders) mkdirSync(each, { recursive: true, mode: 0o700 });
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
    this.#summaries = new Summaries({
      folder: options.folder,
      writer,
      counted: (accountId, bytes) => {
        this.#count(accountId, bytes);
      },
      limits: options.summaries,
    });
    const path = join(options.folder, 'gateway');
    if (!existsSync(path)) writeFileSync(path, `${newId('dst')}\n`, { mode: 0o600 });
    this.#beganMs = Math.min(Date.now(), Math.floor(statSync(path).mtimeMs));
    const localFolder = (accountId: string): string => join(options.folder, 'accounts', accountId);
    const gateway = readFileSync(path, 'utf8').trim();
    this.#archive =
      options.archive === undefined ? undefined : new Archive({ base: options.archive, gateway, localFolder });
  }

  get started(): Started {
    return { gateway: readFileSync(join(this.#options.folder, 'gateway'), 'utf8').trim() };
  }

  /** Number of the newest decision that was there at the start; 0 where there was none. */
  get lastNumber(): number {
    return this.#lastNumber;
  }

  get size(): StoreSize {
    const all = [...this.#closed.values()].flat();
    const open = [...this.#open.values()];
    const oldestMs = [...all, ...open].reduce((oldest, { minAtMs }) => Math.min(oldest, minAtMs), Infinity);
    const archive = this.#archive?.stateOf(this.#closed);
    return { bytes: this.#bytes, oldestMs: oldestMs === Infinity ? undefined : oldestMs, ...(archive && { archive }) };
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

  /** Sums up parts of an account by the hour, and tells whether there may be more to do. */
  async rollUpDue(nowMs: number): Promise<boolean> {
    const [accountId] = this.#grown;
    if (accountId === undefined) return false;
    const hasMore = await this.#summaries
      .rollUp(accountId, this.#closed.get(accountId) ?? [], nowMs)
      .catch(() => false);
    if (!hasMore) this.#grown.delete(accountId);
    return this.#grown.size > 0;
  }

  /** Removes what is too old or too much. */
  async tidy(nowMs: number): Promise<StoreSize> {
    const elapsedMs = performance.now() - this.#tidiedAtMs;
    this.#tidiedAtMs += elapsedMs;
    this.#believedMs = Math.min(nowMs, this.#believedMs + clockRate * elapsedMs);
    const keptFromMs = this.#believedMs - this.#options.days * dayMs;
    this.#keptFromMs = keptFromMs;
    for (const parts of this.#closed.values())
      for (const part of parts) if (part.maxAtMs < keptFromMs) this.#remove(part);
    await this.#shrink();
    return this.size;
  }

  async ask<Kind extends Exclude<QuestionKind, 'after'>>(kind: Kind, asked: Asked<Kind>): Promise<Answer<Kind>> {
    const local = this.#partsOf(asked.accountId);
    const { fromMs } = asked;
    if (this.#archive === undefined || (fromMs !== undefined && fromMs >= local.keptFromMs))
      return this.#read(kind, asked);
    // The kind is that of the question.
    if (kind === 'list') return this.#listArchived(asked as Asked<'list'>);
    if (fromMs === undefined) return this.#read(kind, asked);
    const range = { fromMs, toMs: local.keptFromMs };
    const found = await this.#archive.find(asked.accountId, range, oldestOf(local));
    return this.#read(kind, asked, found);
  }

  /** Decisions behind a number, oldest first; what only the archive has is gone here. */
  async after(asked: Asked<'after'>): Promise<Answer<'after'>> {
    const { accountId, after } = asked;
    const removedTo = this.#removedTo.get(accountId) ?? 0;
    const closed = this.#closed.get(accountId)?.find(({ lastNumber }) => lastNumber > after);
    // What is still there from before the removed ones comes first.
    const isCut = after < removedTo && (closed?.firstNumber ?? Infinity) > removedTo;
    const from = isCut ? { ...asked, after: removedTo } : asked;
    if (closed !== undefined) {
      const read = (reading: Reading) => readClosedAfter(reading, closed, from);
      return { ...(await readWithin(this.#instance, this.#options.queries ?? {}, read)), isCut };
    }
    const open = this.#open.get(accountId);
    if (open === undefined) return { rows: [], seen: from.after, hasMore: false, isCut };
    return { ...readOpenAfter(open, from), isCut };
  }

  /** Copies closed parts to the archive; nobody waits for it. */
  async archiveDue(): Promise<void> {
    await this.#archive?.copyDue(this.#closed);
  }

  #read<Kind extends Exclude<QuestionKind, 'after'>>(
    kind: Kind,
    asked: Asked<Kind>,
    found?: Archived,
  ): Promise<Answer<Kind>> {
    const read = () =>
      answer(kind, asked, this.#instance, this.#withArchived(asked.accountId, found), this.#options.queries);
    return read().catch((error: unknown) => {
      // A log that was closed meanwhile is read from its new place.
      if (!String(error).includes('No files found')) throw error;
      return read();
    });
  }

  #withArchived(accountId: string, found: Archived | undefined): Parts {
    const local = this.#partsOf(accountId);
    if (found === undefined) return local;
    const older = found.parts.filter(({ lastNumber }) => lastNumber < oldestOf(local));
    const lostToMs = this.#lostToMs.get(accountId) ?? 0;
    return {
      ...local,
      closed: [...local.closed, ...older],
      keptFromMs: Math.min(local.keptFromMs, Math.max(found.fromMs, lostToMs)),
    };
  }

  /** A page goes on in the archive where the store has no more. */
  async #listArchived(asked: Asked<'list'>): Promise<DecisionPage> {
    const { accountId, limit, before = Infinity, fromMs = 0, toMs = Infinity } = asked;
    const oldest = oldestOf(this.#partsOf(accountId));
    const page: DecisionPage = before <= oldest ? { rows: [] } : await this.#read('list', asked);
    if (page.rows.length >= limit || page.cutAt !== undefined) return page;
    const range = { fromMs, toMs: Math.min(toMs, Math.floor(before / 1000) + 1) };
    const found = await this.#archive?.find(accountId, range, oldest);
    if (found === undefined) {
      if (before <= oldest) throw new Error('the archive of decisions does not answer');
      return { ...page, cutAt: oldest };
    }
    const parts = { ...this.#partsOf(accountId), open: undefined, closed: found.parts };
    const rest = { ...asked, limit: limit - page.rows.length };
    const older = await answer('list', rest, this.#instance, parts, this.#options.queries);
    const rows = [...page.rows, ...older.rows];
    const cutAt = older.cutAt ?? (rows.length < limit && found.hasMore ? found.fromMs * 1000 : undefined);
    return cutAt === undefined ? { rows } : { rows, cutAt };
  }

  async close(): Promise<void> {
    for (const part of this.#open.values()) await this.#closeOrKeep(part, true);
    this.#writer.closeSync();
    this.#instance.closeSync();
  }

  #partsOf(accountId: string): Parts {
    const open = this.#open.get(accountId);
    const { minutes, hours } = this.#summaries.of(accountId);
    return {
      open: open && {
        table: linesTable(open.path),
        firstNumber: open.firstNumber,
        minAtMs: open.minAtMs,
        maxAtMs: open.maxAtMs,
        rows: open.rows,
      },
      closed: (this.#closed.get(accountId) ?? []).toReversed(),
      minutes,
      hours,
      beganMs: this.#beganMs,
      keptFromMs: Math.max(this.#beganMs, this.#keptFromMs, this.#removedToMs.get(accountId) ?? 0),
    };
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
    let added: ClosedPart | undefined;
    try {
      await this.#writer.run(writeDecisions(linesTable(path), unfinished));
      const found = await this.#writer.runAndReadAll(
        `SELECT coalesce(min(at_ms), 0), coalesce(max(at_ms), 0), coalesce(max(number), 0), count(*) FROM ${parquetTable(unfinished)}`,
      );
      const [minAtMs = 0, maxAtMs = 0, lastNumber = 0, rows = 0] = (found.getRows()[0] ?? []).map(Number);
      if (rows > 0) {
        sync(unfinished);
        const closed = join(folder, `${minAtMs}-${maxAtMs}-${firstNumber}-${lastNumber}${decisionsEnd}`);
        renameSync(unfinished, closed);
        const bytes = statSync(closed).size;
        const table = parquetTable(closed);
        added = { accountId, path: closed, table, rows, firstNumber, lastNumber, minAtMs, maxAtMs, bytes };
        this.#add(added);
      }
      this.#open.delete(accountId);
      this.#openBytes -= part.bytes;
      this.#count(accountId, -part.bytes);
      rmSync(path, { force: true });
    } finally {
      rmSync(unfinished, { force: true });
    }
    if (added === undefined) return;
    this.#grown.add(accountId);
    // Without a summary, its decisions are counted one by one when somebody asks.
    await this.#summaries.sumUp(added).catch(() => {});
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
    this.#summaries.forget(part.accountId, part.lastNumber);
    this.#noteRemoved(part, 'removed', this.#removedToMs);
    this.#noteTime(part.accountId, 'removed-number', part.lastNumber, this.#removedTo);
    if (this.#archive?.losesWith(part) === true) this.#noteRemoved(part, 'lost', this.#lostToMs);
    const left = (this.#closed.get(part.accountId) ?? []).filter((each) => each !== part);
    if (left.length === 0) this.#closed.delete(part.accountId);
    else this.#closed.set(part.accountId, left);
  }

  /** Keeps until when decisions were removed, so that nobody takes what is gone for nothing. */
  #noteRemoved({ accountId, maxAtMs }: ClosedPart, name: string, times: Map<string, number>): void {
    // The clock may have been ahead when the decisions were made.
    const untilMs = Math.max(times.get(accountId) ?? 0, Math.min(maxAtMs + 1, Date.now()));
    this.#noteTime(accountId, name, untilMs, times);
  }

  #noteTime(accountId: string, name: string, until: number, times: Map<string, number>): void {
    times.set(accountId, until);
    try {
      writeFileSync(join(this.#options.folder, 'accounts', accountId, name), String(until), { mode: 0o600 });
    } catch {
      // On a full disk it is known until the next start.
    }
  }

  #recoverRemoved(accountId: string, name: string, times: Map<string, number>, inMs = 1): void {
    const path = join(this.#options.folder, 'accounts', accountId, name);
    if (existsSync(path)) times.set(accountId, Number(readFileSync(path, 'utf8')) || Date.now() * inMs);
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
    this.#recoverRemoved(accountId, 'removed', this.#removedToMs);
    this.#recoverRemoved(accountId, 'lost', this.#lostToMs);
    this.#recoverRemoved(accountId, 'removed-number', this.#removedTo, 1_000);
    const sorted = parts.toSorted((a, b) => a.firstNumber - b.firstNumber);
    this.#summaries.recover(accountId, sorted);
    if (sorted.length === 0) return;
    this.#closed.set(accountId, sorted);
    this.#grown.add(accountId);
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

/** Number of the oldest decision in the store. */
function oldestOf({ closed, open }: Parts): number {
  return closed.at(-1)?.firstNumber ?? open?.firstNumber ?? Infinity;
}

function isOver({ rows, bytes, openedMs }: OpenPart, nowMs: number): boolean {
  return rows >= partRows || bytes >= partBytes || hourOf(openedMs) !== hourOf(nowMs);
}

function hourOf(ms: number): number {
  return Math.floor(ms / hourMs);
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
