import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { ArchiveProgress } from './archive-progress.ts';
import type { ArchiveState } from './messages.ts';
import type { ClosedPart } from './parts.ts';
import { decisionsEnd, parquetTable } from './tables.ts';

const dayMs = 86_400_000;
/** Days of an account that one question looks into. */
const mostDays = 31;
/** Longest wait for lists of files; a question goes on without an archive that takes longer. */
const listMs = 2_000;
/** Names of files that are set aside, of which the state tells so many. */
const mostNames = 20;
/**
 * Copies that may hang at once. Each has a thread, of which this process has four; a list may hang too, and the engine needs the
 * last one.
 */
const mostStuck = 2;
/** After so many failures in a row, the others are left for later: it is the archive, and not the files. */
const mostFailures = 3;
const usualTimes: Times = { retryMs: 60_000, longestMs: 3_600_000, hangsMs: 10_000 };
const dayPattern = /^\d{4}-\d\d-\d\d$/;
const filePattern = /^(\w+)-(\d+)-(\d+)-(\d+)-(\d+)(?:\.2)?\.parquet$/;

interface Times {
  /** Pause after a failure; that of one file is doubled from time to time. */
  readonly retryMs: number;
  readonly longestMs: number;
  /** A copy that takes longer is not waited for, and the archive is not read until another one has succeeded. */
  readonly hangsMs: number;
}

interface Options {
  /** The folder, or the mount of a bucket. */
  readonly base: string;
  /** Names the store: several may have the same archive. */
  readonly gateway: string;
  /** The folder of an account in the store. */
  readonly localFolder: (accountId: string) => string;
  readonly times?: Times;
}

type Accounts = ReadonlyMap<string, readonly ClosedPart[]>;

interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Archived {
  /** Newest first. */
  readonly parts: readonly ClosedPart[];
  /** Everything from here on is among the parts. */
  readonly fromMs: number;
  /** True: there are earlier days within the range. */
  readonly hasMore: boolean;
}

/** The archive as a whole cannot be used. */
class Unusable extends Error {}

/**
 * Copies closed parts to `<base>/<account>/<day>/`, each once, and finds them there. Whatever the archive does, nothing waits for it but
 * the copy itself; a file that cannot be copied, or hangs, is set aside, and tried again later and later.
 */
export class Archive {
  readonly #options: Options;
  readonly #times: Times;
  readonly #progress: ArchiveProgress;
  /** Paths of parts that are being copied. One that hangs stays here. */
  readonly #running = new Set<string>();
  /** Resolves when nobody lists files. */
  #listing: Promise<unknown> = Promise.resolve();
  #isCopying = false;
  #hangs = false;
  #retryAtMs = 0;
  #lost = 0;
  #fault: string | undefined;

  constructor(options: Options) {
    this.#options = options;
    this.#times = options.times ?? usualTimes;
    const { retryMs: firstMs, longestMs } = this.#times;
    this.#progress = new ArchiveProgress(options.localFolder, { firstMs, longestMs });
  }

  /** How it stands with these parts. */
  stateOf(accounts: Accounts): ArchiveState {
    const waiting = [...accounts.values()].flat().filter((part) => !this.#progress.isDone(part)).length;
    const { aside } = this.#progress;
    const fault = this.#hangs ? tooLong(this.#times.hangsMs) : this.#fault;
    // While nothing can be copied, no file is to blame.
    const some = fault === undefined ? [...aside].slice(0, mostNames) : [];
    const names = some.map(([path, { cause }]) => ({ file: basename(path), cause }));
    return { waiting, lost: this.#lost, fault, aside: aside.size, names };
  }

  /** Copies what is not there yet, an oldest part of each account by turns. Parts are given oldest first; never rejects. */
  async copyDue(accounts: Accounts): Promise<void> {
    if (this.#isCopying || performance.now() < this.#retryAtMs) return;
    this.#isCopying = true;
    try {
      let failures = 0;
      for (let hasTried = true; hasTried;) {
        hasTried = false;
        for (const [accountId, parts] of accounts) {
          if (this.#running.size >= mostStuck) throw new Unusable(tooLong(this.#times.hangsMs));
          const due = this.#progress.next(parts, ({ path }) => this.#running.has(path));
          if (due === undefined) continue;
          hasTried = true;
          const cause = await this.#tryOne(due, () => accounts.get(accountId) ?? []);
          failures = cause === undefined ? 0 : failures + 1;
          if (failures >= mostFailures) throw new Unusable(cause);
        }
      }
      this.#fault = undefined;
    } catch (error) {
      this.#fault = error instanceof Error ? error.message : String(error);
      this.#retryAtMs = performance.now() + this.#times.retryMs;
    } finally {
      this.#isCopying = false;
    }
  }

  /** Returns why it failed; rejects if the archive as a whole cannot be used. `partsOf` gives all of the account. */
  async #tryOne(part: ClosedPart, partsOf: () => readonly ClosedPart[]): Promise<string | undefined> {
    this.#running.add(part.path);
    const copied = this.#copy(part)
      // It was removed meanwhile, which was counted.
      .catch((error: unknown) => {
        if (existsSync(part.path)) throw error;
      })
      .then(() => {
        this.#succeeded(part, partsOf());
      })
      .finally(() => {
        this.#running.delete(part.path);
        if (this.#running.size === 0) this.#hangs = false;
      });
    const waited = new AbortController();
    const late = sleep(this.#times.hangsMs, 'late', { signal: waited.signal, ref: false }).catch(() => 'late');
    try {
      if ((await Promise.race([copied, late])) !== 'late') return undefined;
    } catch (error) {
      if (error instanceof Unusable) throw error;
      return this.#failed(part, error instanceof Error ? error.message : String(error));
    } finally {
      waited.abort();
    }
    this.#hangs = true;
    // It may still succeed, or fail, when nobody waits for it.
    copied.catch(() => {});
    return this.#failed(part, tooLong(this.#times.hangsMs));
  }

  #succeeded(part: ClosedPart, parts: readonly ClosedPart[]): void {
    this.#hangs = false;
    if (this.#fault !== undefined) this.#progress.retryAll();
    this.#fault = undefined;
    this.#progress.done(part, parts);
  }

  #failed(part: ClosedPart, cause: string): string {
    this.#progress.failed(part, cause);
    return cause;
  }

  /** Whether a part that is removed now would be nowhere; it is counted then. */
  losesWith(part: ClosedPart): boolean {
    const isDone = this.#progress.isDone(part);
    this.#progress.forget(part);
    if (isDone) return false;
    this.#lost += 1;
    return true;
  }

  /** Finds parts of this store that are older than its own. Undefined: the archive does not answer. */
  async find(accountId: string, range: Range, beforeNumber: number): Promise<Archived | undefined> {
    if (this.#hangs) return undefined;
    const { promise: overdue, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(resolve, listMs, undefined);
    // One after the other: each that hangs takes a thread.
    const listed = this.#listing.then(() => this.#list(accountId, range, beforeNumber));
    this.#listing = listed.catch(() => {});
    try {
      return await Promise.race([listed, overdue]);
    } catch {
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  async #list(accountId: string, { fromMs, toMs }: Range, beforeNumber: number): Promise<Archived> {
    const folder = join(this.#options.base, accountId);
    const found = (await namesIn(folder)).filter((name) => dayPattern.test(name)).toSorted();
    const within = found.filter((day) => Date.parse(day) < toMs && Date.parse(day) + dayMs > fromMs).toReversed();
    const days = within.slice(0, mostDays);
    const parts: ClosedPart[] = [];
    for (const day of days)
      for (const name of await namesIn(join(folder, day))) {
        const part = this.#partOf(accountId, join(folder, day, name), name);
        if (part !== undefined && part.lastNumber < beforeNumber) parts.push(part);
      }
    const hasMore = within.length > days.length;
    const firstMs = Date.parse(found[0] ?? '');
    const reachMs = hasMore ? Date.parse(days.at(-1) ?? '') : Math.max(fromMs, Number.isNaN(firstMs) ? toMs : firstMs);
    return { parts: parts.toSorted((a, b) => b.firstNumber - a.firstNumber), fromMs: reachMs, hasMore };
  }

  #partOf(accountId: string, path: string, name: string): ClosedPart | undefined {
    const [, gateway, ...numbers] = filePattern.exec(name) ?? [];
    if (gateway !== this.#options.gateway) return undefined;
    const [firstNumber = 0, lastNumber = 0, minAtMs = 0, maxAtMs = 0] = numbers.map(Number);
    return { accountId, path, table: parquetTable(path), firstNumber, lastNumber, minAtMs, maxAtMs, bytes: 0 };
  }

  async #copy({ accountId, path, firstNumber, lastNumber, minAtMs, maxAtMs, bytes }: ClosedPart): Promise<void> {
    const { base, gateway } = this.#options;
    // Not made: below a mount that is missing, it would be a folder of this disk.
    const found = await stat(base).catch((error: unknown) => {
      throw new Unusable(error instanceof Error ? error.message : String(error), { cause: error });
    });
    if (!found.isDirectory()) throw new Unusable('it is not a folder');
    const folder = join(base, accountId, new Date(minAtMs).toISOString().slice(0, 10));
    const end = path.endsWith(decisionsEnd) ? decisionsEnd : '.parquet';
    const name = `${gateway}-${firstNumber}-${lastNumber}-${minAtMs}-${maxAtMs}${end}`;
    const target = join(folder, name);
    if (await isThere(target, bytes)) return;
    await mkdir(folder, { recursive: true });
    // Other engines leave out what begins with a dot.
    const unfinished = join(folder, `.${name}.unfinished`);
    try {
      await copyFile(path, unfinished);
      await rename(unfinished, target);
    } catch (error) {
      await rm(unfinished, { force: true }).catch(() => {});
      if (!cannotRename(error)) throw error;
      // A bucket shows an object once all of it is there.
      await copyFile(path, target);
    }
    if (!(await isThere(target, bytes))) {
      await rm(target, { force: true }).catch(() => {});
      throw new Error(`${name} is not whole in it`);
    }
  }
}

function tooLong(ms: number): string {
  return `it takes longer than ${ms / 1000} seconds for a file`;
}

/** Whether a mount has no rename, as those of some buckets. */
function cannotRename(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const syscall = error instanceof Error && 'syscall' in error ? error.syscall : undefined;
  return syscall === 'rename' && ['ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EPERM', 'EXDEV', 'EIO'].includes(String(code));
}

async function isThere(path: string, bytes: number): Promise<boolean> {
  return stat(path).then(
    ({ size }) => size === bytes,
    () => false,
  );
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  });
}
