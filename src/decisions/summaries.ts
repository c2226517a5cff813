import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

import type { DuckDBConnection } from '@duckdb/node-api';

import { quoted } from './engine.ts';
import type { SummaryLimits } from './messages.ts';
import type { ClosedPart, Summary } from './parts.ts';
import { summaryOf, summaryVersion, summedUp } from './summary-sql.ts';
import { parquetTable, sync } from './tables.ts';

/** A summary with more rows has counts of all together only. */
const mostRows = 65_536;
const hourMs = 3_600_000;
const usualLimits: SummaryLimits = { leastRows: 2_048, least: 16, most: 64 };
const pattern = /^(\d+)-(\d+)-(\d+)-(\d+)-(each|all)\.(minutes|hours)\.parquet$/;
/** Readers look for some rows of a selection: a small group is skipped whole. */
const groupRows = 4_096;

interface OfAccount {
  readonly minutes: Map<number, Summary>;
  /** Newest first. */
  hours: Summary[];
}

interface Options {
  readonly folder: string;
  readonly writer: DuckDBConnection;
  /** Called with what the files of an account take more, or less. */
  readonly counted: (accountId: string, bytes: number) => void;
  readonly limits?: Partial<SummaryLimits> | undefined;
}

/** Files with counts of closed parts, by account: by the minute of one part, and by the hour of several. */
export class Summaries {
  readonly #options: Options;
  readonly #limits: SummaryLimits;
  readonly #accounts = new Map<string, OfAccount>();

  constructor(options: Options) {
    this.#options = options;
    this.#limits = { ...usualLimits, ...options.limits };
  }

  of(accountId: string): Readonly<OfAccount> {
    return this.#accounts.get(accountId) ?? { minutes: new Map(), hours: [] };
  }

  /** Finds the summaries of closed parts, which are given oldest first, and removes those of parts that are gone. */
  recover(accountId: string, parts: readonly ClosedPart[]): void {
    const folder = this.#folderOf(accountId);
    const [oldest] = parts;
    let names: readonly string[] = [];
    try {
      names = readdirSync(folder);
    } catch {
      // Nothing was summed up yet.
    }
    for (const name of names) {
      const [, first, last, min, max, extent, unit] = pattern.exec(name) ?? [];
      if (unit === undefined) continue;
      const path = join(folder, name);
      const [firstNumber, lastNumber, minAtMs, maxAtMs] = [Number(first), Number(last), Number(min), Number(max)];
      const bytes = statSync(path).size;
      const summary = { path, firstNumber, lastNumber, minAtMs, maxAtMs, hasEach: extent === 'each', bytes };
      if (oldest === undefined || lastNumber < oldest.firstNumber) rmSync(path, { force: true });
      else this.#add(accountId, unit, summary);
    }
  }

  /** Sums up a part that was closed now. Without a summary it is counted when it is read. */
  async sumUp(part: ClosedPart): Promise<void> {
    if ((part.rows ?? 0) >= this.#limits.leastRows)
      await this.#write(part.accountId, 'minutes', [part], summaryOf(part.table));
  }

  /** Sums up by the hour what has waited for it, and tells whether there was something. Parts are given oldest first. */
  async rollUp(accountId: string, parts: readonly ClosedPart[], nowMs: number): Promise<boolean> {
    const { minutes, hours } = this.of(accountId);
    const coveredTo = hours[0]?.lastNumber ?? 0;
    // Hours that go on are left out: an hour whose parts are in two files would still be right, but has more of them.
    const due = parts.filter((part) => part.firstNumber > coveredTo && part.maxAtMs < nowMs - (nowMs % hourMs));
    if (due.length < this.#limits.least) return false;
    const some = due.slice(0, this.#limits.most);
    const tables = some.map((part) => {
      const summary = minutes.get(part.firstNumber);
      return summary === undefined
        ? `SELECT * FROM (${summaryOf(part.table)})`
        : `SELECT * FROM ${parquetTable(summary.path)}`;
    });
    const hasEach = some.every((part) => minutes.get(part.firstNumber)?.hasEach !== false);
    await this.#write(accountId, 'hours', some, summedUp(`(${tables.join(' UNION ALL ')})`, hourMs), hasEach);
    return true;
  }

  /** Removes what is of parts that are gone: all up to this number. */
  forget(accountId: string, lastNumber: number): void {
    const of = this.#accounts.get(accountId);
    if (of === undefined) return;
    for (const summary of [...of.minutes.values(), ...of.hours]) {
      if (summary.lastNumber > lastNumber) continue;
      rmSync(summary.path, { force: true });
      this.#options.counted(accountId, -summary.bytes);
      of.minutes.delete(summary.firstNumber);
    }
    of.hours = of.hours.filter((summary) => summary.lastNumber > lastNumber);
    if (of.minutes.size === 0 && of.hours.length === 0) this.#accounts.delete(accountId);
  }

  async #write(
    accountId: string,
    unit: 'minutes' | 'hours',
    parts: readonly ClosedPart[],
    query: string,
    mayHaveEach = true,
  ): Promise<void> {
    const { writer, folder } = this.#options;
    const [firstNumber, lastNumber] = [parts[0]?.firstNumber ?? 0, parts.at(-1)?.lastNumber ?? 0];
    const minAtMs = Math.min(...parts.map((part) => part.minAtMs));
    const maxAtMs = Math.max(...parts.map((part) => part.maxAtMs));
    const unfinished = join(folder, 'temporary', `${accountId}.${firstNumber}.parquet`);
    try {
      await writer.run(`CREATE OR REPLACE TEMP TABLE summary AS ${query}`);
      const found = await writer.runAndReadAll('SELECT count(*) FROM summary');
      const hasEach = mayHaveEach && Number(found.getRows()[0]?.[0] ?? 0) <= mostRows;
      await writer.run(
        `COPY (SELECT * FROM summary ${hasEach ? '' : "WHERE dimension = 'all'"} ORDER BY dimension, key, at_ms) TO ${quoted(unfinished)} ` +
          `(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${groupRows}, KV_METADATA {gatehouse_summary: '${summaryVersion}'})`,
      );
      sync(unfinished);
      mkdirSync(this.#folderOf(accountId), { recursive: true, mode: 0o700 });
      const extent = hasEach ? 'each' : 'all';
      const name = `${firstNumber}-${lastNumber}-${minAtMs}-${maxAtMs}-${extent}.${unit}.parquet`;
      const path = join(this.#folderOf(accountId), name);
      renameSync(unfinished, path);
      const bytes = statSync(path).size;
      this.#add(accountId, unit, { path, firstNumber, lastNumber, minAtMs, maxAtMs, hasEach, bytes });
    } finally {
      rmSync(unfinished, { force: true });
      await writer.run('DROP TABLE IF EXISTS temp.summary');
    }
  }

  #add(accountId: string, unit: string, summary: Summary): void {
    const of = this.#accounts.get(accountId) ?? { minutes: new Map<number, Summary>(), hours: [] };
    this.#accounts.set(accountId, of);
    if (unit === 'minutes') of.minutes.set(summary.firstNumber, summary);
    else of.hours = [summary, ...of.hours].toSorted((a, b) => b.firstNumber - a.firstNumber);
    this.#options.counted(accountId, summary.bytes);
  }

  #folderOf(accountId: string): string {
    return join(this.#options.folder, 'summaries', accountId);
  }
}
