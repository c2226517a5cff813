import { foldName } from '../../../lib/http-syntax.ts';
import type { Pipeline } from '../../../modules/module.ts';

/** Limits of the cache of each route: number of names, and length of a name. */
const cachedLimit = 64;
const cachedLength = 40;

type Rules = Pick<Pipeline, 'rewriteRequest' | 'removedFromRequest' | 'tokenRule'>;

/**
 * Tells which names a route's header rules remove, also in spellings that many upstreams read as the same name: CGI and
 * its successors turn `X-Internal`, `X_Internal` and `X.Internal` into one variable, so removing one must remove all.
 * For the same reason nothing stands beside the header whose token is checked.
 */
export class HeaderGuard {
  readonly #pipeline: Rules;
  /** The rules' names, folded, and the cache: made by the first request, as most routes of a large installation are quiet. */
  #removed: ReadonlySet<string> | undefined;
  #cache: Map<string, boolean> | undefined;

  constructor(pipeline: Rules) {
    this.#pipeline = pipeline;
  }

  /** Returns true if the rules remove this name, or one that differs from it only in punctuation. */
  removes(name: string): boolean {
    this.#cache ??= new Map();
    const known = this.#cache.get(name);
    if (known !== undefined) return known;
    this.#removed ??= new Set(this.#pipeline.removedFromRequest.map(foldName));
    const lower = name.toLowerCase();
    const removed = this.#removed.has(foldName(lower)) || (this.#isOfToken(lower) && lower !== this.#tokenHeader);
    // Clients choose names freely; the limit keeps them from filling the memory.
    if (this.#cache.size < cachedLimit && name.length <= cachedLength) this.#cache.set(name, removed);
    return removed;
  }

  /** Returns false for a name that the rules set or remove: an upstream may merge trailers into the headers. */
  allowsTrailer(name: string): boolean {
    const folded = foldName(name.toLowerCase());
    const added = this.#pipeline.rewriteRequest?.([]) ?? [];
    const adds = added.some((text, at) => at % 2 === 0 && foldName(text.toLowerCase()) === folded);
    return !adds && !this.#isOfToken(name.toLowerCase()) && !this.removes(name);
  }

  get #tokenHeader(): string | undefined {
    return this.#pipeline.tokenRule?.header;
  }

  #isOfToken(lower: string): boolean {
    return this.#tokenHeader !== undefined && foldName(lower) === foldName(this.#tokenHeader);
  }
}
