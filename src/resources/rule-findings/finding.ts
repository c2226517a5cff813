/** A rule, by its policy and the canonical text of its CIDR. */
export interface RuleRef {
  readonly policyId: string;
  readonly cidr: string;
  readonly action: 'allow' | 'deny';
}

/** IP policies that decide together wherever they are used so. */
export interface PolicyList {
  readonly policyIds: readonly string[];
  /** Ids of what uses them so; a policy that nothing uses has none. */
  readonly users: readonly string[];
  /** False: something else decides along with them. */
  readonly isWhole: boolean;
}

/** Something that visitors reach. */
export interface Door {
  /** Id of the edge, route or endpoint. */
  readonly id: string;
  /** Path of its resource. */
  readonly path: string;
  /** Where it is reached, in words. */
  readonly name: string;
}

/** In the order in which they are listed. */
export const findingKinds = [
  'rule_contradictory',
  'admits_nobody',
  'admits_everybody',
  'unguarded',
  'cannot_tell',
  'rule_duplicate',
  'rule_shadowed',
  'rule_needless',
] as const;
export type FindingKind = (typeof findingKinds)[number];

export type Finding =
  | {
      readonly kind: 'rule_contradictory' | 'rule_duplicate' | 'rule_shadowed' | 'rule_needless';
      readonly rule: RuleRef;
      /** The rule that decides in its place, or the first of those; a needless one has none. */
      readonly by: RuleRef | undefined;
    }
  | { readonly kind: 'admits_nobody' | 'admits_everybody'; readonly list: PolicyList }
  | { readonly kind: 'unguarded' | 'cannot_tell'; readonly door: Door };

/** Findings of one kind that are kept; all are counted. */
export const mostOfKind = 250;

export class FindingList {
  readonly totals = new Map<FindingKind, number>(findingKinds.map((kind) => [kind, 0]));
  readonly #kept = new Map<FindingKind, Finding[]>(findingKinds.map((kind) => [kind, []]));
  /** False: there was more than is looked at. */
  isComplete = true;

  /** `make` is called for those that are kept. */
  add(kind: FindingKind, make: () => Finding): void {
    const kept = this.#kept.get(kind) ?? [];
    if (kept.length < mostOfKind) kept.push(make());
    this.totals.set(kind, (this.totals.get(kind) ?? 0) + 1);
  }

  get kept(): readonly Finding[] {
    return [...this.#kept.values()].flat();
  }
}
