import { addTo } from '../../../lib/lists-by-key.ts';
import { NotDescribed } from '../../not-described.ts';
import { otherReadings } from '../../../lib/request-path.ts';
import type { Rule } from '../document/read-policy.ts';
import { requestHost } from '../variables/request.ts';
import { requestUrl } from '../variables/request-url.ts';
import type { PolicyVisit } from './policy-visit.ts';
import { joinKeys, noKey } from './rule-key.ts';
import type { PathKey, RuleKey } from './rule-key.ts';

/** Fewer rules by host or path are looked at one by one. */
const leastRules = 16;

/** Rules by their paths, of one host or of any. */
class PathRules {
  readonly #exact = new Map<string, number[]>();
  readonly #prefixes = new Map<string, number[]>();
  #lengths: readonly number[] = [];

  add({ text, isPrefix }: PathKey, at: number): void {
    addTo(isPrefix ? this.#prefixes : this.#exact, text, at);
    if (isPrefix && !this.#lengths.includes(text.length)) this.#lengths = [...this.#lengths, text.length];
  }

  find(path: string, found: number[]): void {
    collect(this.#exact.get(path), found);
    for (const length of this.#lengths)
      if (length <= path.length) collect(this.#prefixes.get(path.slice(0, length)), found);
  }
}

/**
 * Finds the rules that may match a host and a path, where very many name one: a rule whose conditions demand another needs no look at
 * all.
 */
export class RuleIndex {
  readonly #ofAnyHost = new PathRules();
  readonly #ofHost = new Map<string, PathRules>();
  /** Which rules have a key. */
  readonly #isKeyed: readonly boolean[];

  /** Undefined where there are few rules by host or path. */
  static of(rules: readonly Rule[]): RuleIndex | undefined {
    const keys = rules.map(keyOfRule);
    const count = keys.filter(hasKey).length;
    return count < leastRules ? undefined : new RuleIndex(keys);
  }

  private constructor(keys: readonly RuleKey[]) {
    this.#isKeyed = keys.map(hasKey);
    for (const [at, { host, path = { text: '', isPrefix: true } }] of keys.entries()) {
      const paths = host === undefined ? this.#ofAnyHost : (this.#ofHost.get(host) ?? new PathRules());
      if (host !== undefined) this.#ofHost.set(host, paths);
      paths.add(path, at);
    }
  }

  /** Index of the first rule at a place or behind it that may match. */
  next(visit: PolicyVisit, from: number): number {
    // Nothing is asked of the visit before its turn: an explanation may not know it.
    if (this.#isKeyed[from] !== true) return from;
    const candidates = this.#candidatesOf(visit);
    // The rules are looked at one by one where the path can be read in several ways.
    if (candidates === undefined) return from;
    let [low, high] = [0, candidates.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (candidates[middle]! < from) low = middle + 1;
      else high = middle;
    }
    return candidates[low] ?? this.#isKeyed.length;
  }

  #candidatesOf(visit: PolicyVisit): readonly number[] | undefined {
    try {
      const host = this.#ofHost.size === 0 ? '' : requestHost(visit);
      const { path } = requestUrl(visit);
      const known = visit.candidates;
      if (known?.host === host && known.path === path) return known.rules;
      const rules = this.#find(host, path);
      visit.candidates = { host, path, rules };
      return rules;
    } catch (error) {
      if (error instanceof NotDescribed) return undefined;
      throw error;
    }
  }

  #find(host: string, path: string): readonly number[] | undefined {
    if (otherReadings(path)?.length !== 0) return undefined;
    const found: number[] = [];
    this.#ofAnyHost.find(path, found);
    this.#ofHost.get(host)?.find(path, found);
    return found.toSorted((one, other) => one - other);
  }
}

function collect(some: readonly number[] | undefined, into: number[]): void {
  if (some !== undefined) for (const each of some) into.push(each);
}

function hasKey({ host, path }: RuleKey): boolean {
  return host !== undefined || path !== undefined;
}

/** What the conditions of a rule demand, as far as none before it can close what the rule guards. */
function keyOfRule({ conditions, guards }: Rule): RuleKey {
  let key = noKey;
  for (const condition of conditions) {
    key = joinKeys(key, condition.key);
    if (guards && condition.mayFail) break;
  }
  return key;
}
