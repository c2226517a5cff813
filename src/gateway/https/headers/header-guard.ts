import type { HeaderList } from '../../../modules/module.ts';

/** Limits of the cache of each route: number of names, and length of a name. */
const cachedLimit = 64;
const cachedLength = 40;
const plainName = /^[A-Za-z0-9]+$/;
const separators = /[^a-z0-9]/g;

/**
 * Tells which names a route's header rules remove, also in spellings that many upstreams read as the same name: CGI and
 * its successors turn `X-Internal`, `X_Internal` and `X.Internal` into one variable, so removing one must remove all. It
 * runs the rules themselves on a name, and caches the result.
 */
export class HeaderGuard {
  readonly #rewrite: (headers: HeaderList) => HeaderList;
  /** Made by the first request: most routes of a large installation are quiet. */
  #cache: Map<string, boolean> | undefined;

  constructor(rewrite: (headers: HeaderList) => HeaderList) {
    this.#rewrite = rewrite;
  }

  /** Returns true if the rules remove this name, or one that differs from it only in punctuation. */
  removes(name: string): boolean {
    this.#cache ??= new Map();
    const known = this.#cache.get(name);
    if (known !== undefined) return known;
    const removed = this.#ask(name);
    // Clients choose names freely; the limit keeps them from filling the memory.
    if (this.#cache.size < cachedLimit && name.length <= cachedLength) this.#cache.set(name, removed);
    return removed;
  }

  /** Returns false for a name that the rules set or remove: an upstream may merge trailers into the headers. */
  allowsTrailer(name: string): boolean {
    const folded = foldName(name.toLowerCase());
    const adds = this.#rewrite([]).some((added, at) => at % 2 === 0 && foldName(added.toLowerCase()) === folded);
    return !adds && !this.removes(name);
  }

  #ask(name: string): boolean {
    const lower = name.toLowerCase();
    if (this.#drops(lower)) return true;
    if (plainName.test(lower)) return false;
    return ['-', '_', '.'].some((separator) => this.#drops(lower.replaceAll(separators, separator)));
  }

  #drops(name: string): boolean {
    // `host` is replaced rather than removed, and never comes from the client's list.
    return name !== 'host' && this.#rewrite([name, '']).length === this.#rewrite([]).length;
  }
}

/** Returns the spelling that stands for all names that differ from it only in punctuation. */
export function foldName(lower: string): string {
  return lower.replaceAll(separators, '-');
}
