import { normalizePath, otherReadings } from './request-path.ts';

/** Values by path, of which a request is for the exact one, or that of the longest prefix. Paths are compared as `normalizePath` spells them. */
export class PathTable<Value> {
  /** Undefined if there are none, as in most tables: there may be very many. */
  #exact: Map<string, Value> | undefined;
  /** Most tables have one prefix: a map for each would take most of their memory. */
  #onlyPrefix: string | undefined;
  #ofOnly: Value | undefined;
  /** Undefined unless there are several, of which it has all. */
  #prefixes: Map<string, Value> | undefined;
  #longestPrefix = 0;

  add(matchType: 'exact_path' | 'path_prefix', path: string, value: Value): void {
    const match = normalizePath(path);
    if (matchType === 'exact_path') {
      (this.#exact ??= new Map()).set(match, value);
    } else {
      this.#setPrefix(match, value);
      this.#longestPrefix = Math.max(this.#longestPrefix, match.length);
    }
  }

  *values(): Generator<Value> {
    if (this.#prefixes !== undefined) yield* this.#prefixes.values();
    else if (this.#ofOnly !== undefined) yield this.#ofOnly;
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

  #setPrefix(path: string, value: Value): void {
    if (this.#onlyPrefix === undefined || (this.#onlyPrefix === path && this.#prefixes === undefined)) {
      this.#onlyPrefix = path;
      this.#ofOnly = value;
      return;
    }
    // The value is set where the prefix is.
    this.#prefixes ??= new Map([[this.#onlyPrefix, this.#ofOnly as Value]]);
    this.#prefixes.set(path, value);
  }

  #ofPrefix(path: string): Value | undefined {
    if (this.#prefixes !== undefined) return this.#prefixes.get(path);
    return path === this.#onlyPrefix ? this.#ofOnly : undefined;
  }

  #lookUp(path: string): Value | undefined {
    return this.#exact?.get(path) ?? this.#longestMatch(path);
  }

  /** A prefix covers whole segments: `/blog` covers `/blog`, `/blog/` and `/blog/a`; `/blog/` covers the latter two. */
  #longestMatch(path: string): Value | undefined {
    const whole = this.#ofPrefix(path);
    if (whole !== undefined) return whole;
    let slash = path.lastIndexOf('/', this.#longestPrefix);
    while (slash >= 0) {
      const value = this.#ofPrefix(path.slice(0, slash + 1)) ?? this.#ofPrefix(path.slice(0, slash));
      if (value !== undefined) return value;
      slash = slash === 0 ? -1 : path.lastIndexOf('/', slash - 1);
    }
    return undefined;
  }
}
