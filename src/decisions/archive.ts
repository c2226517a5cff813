import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { copyFile, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

import type { ArchiveState } from './messages.ts';
import type { ClosedPart } from './parts.ts';
import { parquetTable } from './tables.ts';

const dayMs = 86_400_000;
/** Days of an account that one question looks into. */
const mostDays = 31;
/** Longest wait for lists of files; a question goes on without an archive that takes longer. */
const listMs = 2_000;
/** Pause after a failure. */
const retryMs = 60_000;
/** An archive that takes longer for a file is not read meanwhile. */
const hangsMs = 10_000;
const dayPattern = /^\d{4}-\d\d-\d\d$/;
const filePattern = /^(\w+)-(\d+)-(\d+)-(\d+)-(\d+)\.parquet$/;

interface Options {
  /** The folder, or the mount of a bucket. */
  readonly base: string;
  /** Names the store: several may have the same archive. */
  readonly gateway: string;
  /** The folder of an account in the store. */
  readonly localFolder: (accountId: string) => string;
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

/**
 * Copies closed parts to `<base>/<account>/<day>/`, each once, and finds them there. Whatever the archive does, nothing waits for it but
 * the copy itself.
 */
export class Archive {
  readonly #options: Options;
  /** Number of the last decision that is in the archive, by account. */
  readonly #doneTo = new Map<string, number>();
  #isCopying = false;
  #busySinceMs: number | undefined;
  #retryAtMs = 0;
  #lost = 0;
  #fault: string | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /** How it stands with these parts. */
  stateOf(accounts: Accounts): ArchiveState {
    const fault = this.#hangs ? 'it takes longer than ten seconds for a file' : this.#fault;
    const waiting = [...accounts.values()].flat().filter((part) => !this.#isDone(part)).length;
    return { waiting, lost: this.#lost, fault };
  }

  get #hangs(): boolean {
    return this.#busySinceMs !== undefined && performance.now() - this.#busySinceMs > hangsMs;
  }

  /** Copies what is not there yet, an oldest part of each account by turns. Parts are given oldest first; never rejects. */
  async copyDue(accounts: Accounts): Promise<void> {
    if (this.#isCopying || performance.now() < this.#retryAtMs) return;
    this.#isCopying = true;
    try {
      for (let hasCopied = true; hasCopied;) {
        hasCopied = false;
        for (const accountId of accounts.keys()) {
          const due = (accounts.get(accountId) ?? []).find((part) => !this.#isDone(part));
          if (due === undefined) continue;
          this.#busySinceMs = performance.now();
          try {
            await this.#copy(due);
          } catch (error) {
            // It was removed meanwhile, which was counted.
            if (existsSync(due.path)) throw error;
          }
          this.#busySinceMs = undefined;
          this.#note(due);
          hasCopied = true;
        }
      }
      this.#fault = undefined;
    } catch (error) {
      this.#fault = error instanceof Error ? error.message : String(error);
      this.#retryAtMs = performance.now() + retryMs;
    } finally {
      this.#busySinceMs = undefined;
      this.#isCopying = false;
    }
  }

  /** Whether a part that is removed now would be nowhere; it is counted then. */
  losesWith(part: ClosedPart): boolean {
    if (this.#isDone(part)) return false;
    this.#lost += 1;
    return true;
  }

  /** Finds parts of this store that are older than its own. Undefined: the archive does not answer. */
  async find(accountId: string, range: Range, beforeNumber: number): Promise<Archived | undefined> {
    if (this.#hangs) return undefined;
    const { promise: overdue, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(resolve, listMs, undefined);
    try {
      return await Promise.race([this.#list(accountId, range, beforeNumber), overdue]);
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
    if (!(await stat(base)).isDirectory()) throw new Error('it is not a folder');
    const folder = join(base, accountId, new Date(minAtMs).toISOString().slice(0, 10));
    const name = `${gateway}-${firstNumber}-${lastNumber}-${minAtMs}-${maxAtMs}.parquet`;
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

  #isDone({ accountId, lastNumber }: ClosedPart): boolean {
    return lastNumber <= this.#doneUpTo(accountId);
  }

  #doneUpTo(accountId: string): number {
    let done = this.#doneTo.get(accountId);
    if (done === undefined) {
      const path = this.#notePath(accountId);
      done = existsSync(path) ? Number(readFileSync(path, 'utf8')) || 0 : 0;
      this.#doneTo.set(accountId, done);
    }
    return done;
  }

  #note({ accountId, lastNumber }: ClosedPart): void {
    this.#doneTo.set(accountId, lastNumber);
    try {
      writeFileSync(this.#notePath(accountId), String(lastNumber), { mode: 0o600 });
    } catch {
      // After the next start, what is there already is found.
    }
  }

  #notePath(accountId: string): string {
    return join(this.#options.localFolder(accountId), 'archived');
  }
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
