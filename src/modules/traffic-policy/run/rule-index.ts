import { otherReadings } from '../../../lib/request-path.ts';
import type { Rule } from '../document/read-policy.ts';
import { requestUrl } from '../variables/request-url.ts';
import type { PolicyVisit } from './policy-visit.ts';

/** Fewer rules by path are looked at one by one. */
const leastRules = 16;

const exactForm = /^\s*req\.url\.path\s*==\s*(?:'([^'\\]*)'|"([^"\\]*)")\s*$/;
const prefixForm = /^\s*req\.url\.path\s*\.\s*startsWith\(\s*(?:'([^'\\]*)'|"([^"\\]*)")\s*\)\s*$/;

/**
 * Finds the rules that may match a path, where the first condition of very many names one: a condition that is not true needs no look at
 * the rest of its rule.
 */
export class RuleIndex {
  readonly #exact = new Map<string, number[]>();
  readonly #prefixes = new Map<string, number[]>();
  readonly #lengths: readonly number[];
  /** Indexes of rules that must be looked at in any case. */
  readonly #others: number[] = [];
  readonly #end: number;

  /** Undefined where there are few rules by path. */
  static of(rules: readonly Rule[]): RuleIndex | undefined {
    const byPath = rules.filter(({ conditions: [first] }) => first !== undefined && keyOf(first.source) !== undefined);
    return byPath.length < leastRules ? undefined : new RuleIndex(rules);
  }

  private constructor(rules: readonly Rule[]) {
    this.#end = rules.length;
    for (const [at, { conditions }] of rules.entries()) {
      const key = conditions[0] && keyOf(conditions[0].source);
      if (key === undefined) this.#others.push(at);
      else add(key.isPrefix ? this.#prefixes : this.#exact, key.text, at);
    }
    this.#lengths = [...new Set(Array.from(this.#prefixes.keys(), ({ length }) => length))];
  }

  /** Index of the first rule at a place or behind it that may match. */
  next(visit: PolicyVisit, from: number): number {
    const { path } = requestUrl(visit);
    const candidates = visit.cached('candidates', path, () => this.#candidates(path));
    // The rules are looked at one by one where the path can be read in several ways.
    if (candidates === undefined) return from;
    let [low, high] = [0, candidates.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (candidates[middle]! < from) low = middle + 1;
      else high = middle;
    }
    return candidates[low] ?? this.#end;
  }

  #candidates(path: string): readonly number[] | undefined {
    if (otherReadings(path)?.length !== 0) return undefined;
    const found = [...this.#others, ...(this.#exact.get(path) ?? [])];
    for (const length of this.#lengths)
      if (length <= path.length) found.push(...(this.#prefixes.get(path.slice(0, length)) ?? []));
    return found.toSorted((one, other) => one - other);
  }
}

function keyOf(source: string): { readonly text: string; readonly isPrefix: boolean } | undefined {
  const exact = exactForm.exec(source);
  const found = exact ?? prefixForm.exec(source);
  const text = found?.[1] ?? found?.[2];
  return text === undefined ? undefined : { text, isPrefix: exact === null };
}

function add(map: Map<string, number[]>, key: string, at: number): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [at]);
  else known.push(at);
}
