import { normalizePath, otherReadings } from './request-path.ts';

/** Values by path, of which a request is for the exact one, or that of the longest prefix. Paths are compared as `normalizePath` spells them. */
export class PathTable<Value> {
  /** Undefined if there are none, as in most tables: there may be very many. */
  #exact: Map<string, Value> | undefined;
  readonly #prefixes = new Map<string, Value>();
  #longestPrefix = 0;

  add(matchType: 'exact_path' | 'path_prefix', path: string, value: Value): void {
    const match = normalizePath(path);
    if (matchType === 'exact_path') {
      (this.#exact ??= new Map()).set(match, value);
    } else {
      this.#prefixes.set(match, value);
      this.#longestPrefix = Math.max(this.#longestPrefix, match.length);
    }
  }

  *values(): Generator<Value> {
    yield* this.#prefixes.values();
    if (this.#exact !== undefined) yield* this.#exact.values();
  }

  /**
   * Returns 'ambiguous' if another reading of the path leads to another value: upstreams differ on whether `//` is `/`,
   * whether `;x` belongs to a segment, and how often they decode.
   */
  choose(matchPath: string): Value | 'ambiguous' | undefined {
    const value = this.#lookUp(matchPath);
    const isClear = otherReadings(matchPath)?.every((reading) => this.#lookUp(reading) === value) === true;
    return isClear ? value : 'ambiguous';
  }

  #lookUp(path: string): Value | undefined {
    return this.#exact?.get(path) ?? this.#longestMatch(path);
  }

  /** A prefix covers whole segments: `/blog` covers `/blog`, `/blog/` and `/blog/a`; `/blog/` covers the latter two. */
  #longestMatch(path: string): Value | undefined {
    const whole = this.#prefixes.get(path);
    if (whole !== undefined) return whole;
    let slash = path.lastIndexOf('/', this.#longestPrefix);
    while (slash >= 0) {
      const value = this.#prefixes.get(path.slice(0, slash + 1)) ?? this.#prefixes.get(path.slice(0, slash));
      if (value !== undefined) return value;
      slash = slash === 0 ? -1 : path.lastIndexOf('/', slash - 1);
    }
    return undefined;
  }
}
