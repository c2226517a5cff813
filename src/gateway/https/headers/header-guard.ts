import { foldName } from '../../../lib/http-syntax.ts';

/** Limits of the cache of each route: number of names, and length of a name. */
const cachedLimit = 64;
const cachedLength = 40;

/** Names of headers, in lower case. */
interface Rules {
  readonly adds: readonly string[];
  readonly removes: readonly string[];
  /** Nothing may stand beside these that differs from them in punctuation alone. */
  readonly sole: readonly string[];
  readonly checked: readonly string[];
}

/**
 * Tells which names a route's header rules remove, also in spellings that many upstreams read as the same name: CGI and
 * its successors turn `X-Internal`, `X_Internal` and `X.Internal` into one variable, so removing one must remove all.
 * For the same reason nothing stands beside the header whose token is checked.
 */
export class HeaderGuard {
  readonly #rules: Rules;
  /** The rules' names, folded, and the cache: made by the first request, as most routes of a large installation are quiet. */
  #removed: ReadonlySet<string> | undefined;
  #cache: Map<string, boolean> | undefined;

  constructor(rules: Rules) {
    this.#rules = rules;
  }

  /** Returns true if the rules remove this name, or one that differs from it only in punctuation. */
  removes(name: string): boolean {
    this.#cache ??= new Map();
    const known = this.#cache.get(name);
    if (known !== undefined) return known;
    this.#removed ??= new Set(this.#rules.removes.map(foldName));
    const lower = name.toLowerCase();
    const { sole } = this.#rules;
    const removed = this.#removed.has(foldName(lower)) || (isLike(lower, sole) && !sole.includes(lower));
    // Clients choose names freely; the limit keeps them from filling the memory.
    if (this.#cache.size < cachedLimit && name.length <= cachedLength) this.#cache.set(name, removed);
    return removed;
  }

  /** Returns true for a header whose token was checked: what it says is true whoever has sent it. */
  hasChecked(name: string): boolean {
    return this.#rules.checked.includes(name.toLowerCase());
  }

  /** Returns false for a name that the rules set or remove: an upstream may merge trailers into the headers. */
  allowsTrailer(name: string): boolean {
    const lower = name.toLowerCase();
    const { adds, sole } = this.#rules;
    return !isLike(lower, adds) && !isLike(lower, sole) && !this.removes(name);
  }
}

/** True if one of the names is this, or differs from it in punctuation alone. */
function isLike(lower: string, names: readonly string[]): boolean {
  return names.some((name) => foldName(name) === foldName(lower));
}
