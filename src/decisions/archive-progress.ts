import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { ClosedPart } from './parts.ts';

/** Pauses before a file that could not be copied is tried again: doubled from time to time, up to the longest. */
export interface Pauses {
  readonly firstMs: number;
  readonly longestMs: number;
}

interface SetAside {
  tries: number;
  retryAtMs: number;
  readonly cause: string;
}

interface OfAccount {
  /** All up to this number are in the archive; kept in a file. */
  to: number;
  /** Last numbers of later ones that are there as well, while an earlier one is set aside. After a start they are found again. */
  readonly beyond: Set<number>;
}

/** Which closed parts the archive has, and which are set aside because they could not be copied. */
export class ArchiveProgress {
  readonly #folderOf: (accountId: string) => string;
  readonly #pauses: Pauses;
  readonly #accounts = new Map<string, OfAccount>();
  /** By path. */
  readonly #aside = new Map<string, SetAside>();

  constructor(folderOf: (accountId: string) => string, pauses: Pauses) {
    this.#folderOf = folderOf;
    this.#pauses = pauses;
  }

  isDone({ accountId, lastNumber }: ClosedPart): boolean {
    const { to, beyond } = this.#of(accountId);
    return lastNumber <= to || beyond.has(lastNumber);
  }

  /** The oldest part that is to be copied now. Parts are of one account, oldest first. */
  next(parts: readonly ClosedPart[], isRunning: (part: ClosedPart) => boolean): ClosedPart | undefined {
    const nowMs = performance.now();
    return parts.find(
      (part) => !this.isDone(part) && !isRunning(part) && (this.#aside.get(part.path)?.retryAtMs ?? 0) <= nowMs,
    );
  }

  /** Notes that a part is there. Parts are all of its account, oldest first. */
  done(part: ClosedPart, parts: readonly ClosedPart[]): void {
    this.#aside.delete(part.path);
    const of = this.#of(part.accountId);
    of.beyond.add(part.lastNumber);
    const { to } = of;
    for (const { lastNumber } of parts) {
      if (lastNumber > of.to && !of.beyond.delete(lastNumber)) break;
      of.to = Math.max(of.to, lastNumber);
    }
    if (of.to > to) this.#write(part.accountId, of.to);
  }

  failed({ path }: ClosedPart, cause: string): void {
    const tries = (this.#aside.get(path)?.tries ?? 0) + 1;
    const pauseMs = Math.min(this.#pauses.firstMs * 2 ** (tries - 1), this.#pauses.longestMs);
    this.#aside.set(path, { tries, retryAtMs: performance.now() + pauseMs, cause });
  }

  /** Has those that are set aside tried again at once: it was not their fault. */
  retryAll(): void {
    for (const each of this.#aside.values()) each.retryAtMs = 0;
  }

  /** A part is gone. */
  forget({ accountId, path, lastNumber }: ClosedPart): void {
    this.#aside.delete(path);
    this.#of(accountId).beyond.delete(lastNumber);
  }

  /** Why parts are set aside, by path. */
  get aside(): ReadonlyMap<string, { readonly cause: string }> {
    return this.#aside;
  }

  #of(accountId: string): OfAccount {
    let of = this.#accounts.get(accountId);
    if (of === undefined) {
      const path = this.#pathOf(accountId);
      of = { to: existsSync(path) ? Number(readFileSync(path, 'utf8')) || 0 : 0, beyond: new Set() };
      this.#accounts.set(accountId, of);
    }
    return of;
  }

  #write(accountId: string, to: number): void {
    try {
      writeFileSync(this.#pathOf(accountId), String(to), { mode: 0o600 });
    } catch {
      // After the next start, what is there already is found.
    }
  }

  #pathOf(accountId: string): string {
    return join(this.#folderOf(accountId), 'archived');
  }
}
