import type { HeaderList } from '../../../modules/module.ts';

/** Names remembered for each route, and the length of the longest. */
const rememberedLimit = 64;
const rememberedLength = 40;
const plainName = /^[A-Za-z0-9]+$/;
const separators = /[^a-z0-9]/g;

/**
 * Knows which names a route's header rules take away, also in spellings that many upstreams read as the same name: CGI
 * and its heirs turn `X-Internal`, `X_Internal` and `X.Internal` into one variable, so removing one must remove all.
 * It asks the rules themselves, and remembers what they said.
 */
export class HeaderGuard {
  readonly #rewrite: (headers: HeaderList) => HeaderList;
  /** Made when the first request comes: most routes of a large installation are quiet. */
  #remembered: Map<string, boolean> | undefined;

  constructor(rewrite: (headers: HeaderList) => HeaderList) {
    this.#rewrite = rewrite;
  }

  /** True if the rules remove this name, or one that differs from it only in punctuation. */
  removes(name: string): boolean {
    this.#remembered ??= new Map();
    const known = this.#remembered.get(name);
    if (known !== undefined) return known;
    const removed = this.#ask(name);
    // Clients choose names freely; the bound keeps them from filling the memory.
    if (this.#remembered.size < rememberedLimit && name.length <= rememberedLength) this.#remembered.set(name, removed);
    return removed;
  }

  /** A trailer that an upstream merges into the headers must not bring in what the rules set or remove. */
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

/** The spelling that stands for all that differ from it only in punctuation. */
export function foldName(lower: string): string {
  return lower.replaceAll(separators, '-');
}
