import { quote, UserError } from '../../errors/user-error.ts';
import { Pace } from '../../lib/pace.ts';
import { finishInTurns } from '../../lib/steps.ts';
import type { ConfigurationKind, EntryFields } from '../configuration-kind.ts';
import { diffFields } from './diff.ts';
import type { FieldChange } from './diff.ts';
import { atPlace, placeOf } from './entry-place.ts';
import { duplicateName, nameOfOtherKind, tooManyEntries } from './errors.ts';
import type { State, StateEntry } from './state.ts';

/** An entry of a request, which has passed its schema. */
export interface DeclaredEntry {
  readonly kind: string;
  readonly name: string;
}

export type Action = 'create' | 'change' | 'delete';

/** One step from what is to what is declared. */
export interface Step {
  readonly action: Action;
  readonly kind: ConfigurationKind;
  readonly name: string;
  /** Undefined for a creation. */
  readonly entry: StateEntry | undefined;
  /** Empty for a deletion. */
  readonly fields: EntryFields;
  /** The same, with what the entry leaves as it is, and without secrets. */
  readonly whole: EntryFields;
  /** Empty where the entry stays the same, and only what it names is another resource. */
  readonly changes: readonly FieldChange[];
}

export interface Plan {
  readonly steps: readonly Step[];
  /** Entries that are as they are declared already. */
  readonly unchanged: number;
}

/** Entries in canonical form. */
export type Declared = readonly {
  readonly kind: ConfigurationKind;
  readonly name: string;
  readonly fields: EntryFields;
}[];

export async function acceptDeclared(
  kinds: readonly ConfigurationKind[],
  entries: readonly DeclaredEntry[],
  limit: number,
  isAbandoned: () => boolean,
): Promise<Declared> {
  if (entries.length > limit) throw new UserError(tooManyEntries, { count: entries.length, limit });
  const byKind = new Map(kinds.map((kind) => [kind.kind, kind]));
  const seen = new Map<string, DeclaredEntry>();
  const pace = new Pace(isAbandoned);
  const declared: Declared[number][] = [];
  for (const entry of entries) {
    const { kind: kindName, name, ...fields } = entry;
    const kind = byKind.get(kindName);
    if (kind === undefined) throw new Error(`the schema has let the kind ${quote(kindName)} pass`);
    const key = `${kind.scope} ${name}`;
    const first = seen.get(key);
    if (first !== undefined)
      throw new UserError(duplicateName, { name: quote(name), first: placeOf(first), second: placeOf(entry) });
    seen.set(key, entry);
    declared.push({ kind, name, fields: await atPlace(entry, async () => kind.accept(fields)) });
    if (pace.isDue) await pace.giveWay();
  }
  return declared;
}

export interface PlanOptions {
  /** What is not declared goes. */
  readonly prune: boolean;
  /** What cannot become what is declared under its name is deleted, and made anew. */
  readonly replaces?: boolean;
}

export async function planSteps(
  state: State,
  declared: Declared,
  kinds: readonly ConfigurationKind[],
  { prune, replaces = false }: PlanOptions,
  isAbandoned: () => boolean,
): Promise<Plan> {
  const steps: Step[] = [];
  const same: Step[] = [];
  const pace = new Pace(isAbandoned);
  const declaredEntries = new Set<StateEntry>();
  const kindOfName = new Map<string, string>();
  const diff = (...given: Parameters<typeof diffFields>) => finishInTurns(diffFields(...given), pace);
  for (const ofKind of state.entries.values())
    for (const { kind, name } of ofKind.values()) kindOfName.set(`${kind.scope} ${name}`, kind.kind);
  for (const { kind, name, fields } of declared) {
    const found = state.entries.get(kind.kind)?.get(name);
    const entry = replaces && found !== undefined && isOther(kind, found.fields, fields) ? undefined : found;
    if (pace.isDue) await pace.giveWay();
    if (entry === undefined) {
      const other = kindOfName.get(`${kind.scope} ${name}`);
      if (other !== undefined && !replaces)
        throw new UserError(nameOfOtherKind, {
          name: `${quote(name)} (${placeOf({ kind: kind.kind, name })})`,
          kind: other,
        });
      const whole = kind.compared?.(fields, undefined) ?? fields;
      const changes = await diff(kind, {}, whole);
      steps.push({ action: 'create', kind, name, entry, fields, whole, changes });
      continue;
    }
    declaredEntries.add(entry);
    const declaredWhole = withUndeclared(entry.fields, fields, kind);
    const whole = kind.compared?.(declaredWhole, entry.fields) ?? declaredWhole;
    const changes = await diff(kind, entry.fields, whole);
    (changes.length > 0 ? steps : same).push({ action: 'change', kind, name, entry, fields, whole, changes });
  }
  const unchanged = declaredEntries.size - steps.filter(({ action }) => action === 'change').length;
  if (replaces) steps.push(...namingReplaced(same, steps, kindOfName));
  if (prune) {
    for (const kind of kinds) {
      for (const entry of state.entries.get(kind.kind)?.values() ?? []) {
        if (declaredEntries.has(entry)) continue;
        const changes = await diff(kind, entry.fields, {});
        steps.push({ action: 'delete', kind, name: entry.name, entry, fields: {}, whole: {}, changes });
      }
    }
  }
  return { steps, unchanged };
}

/** Entries that stay the same, and name what is another resource from now on. */
function namingReplaced(
  same: readonly Step[],
  steps: readonly Step[],
  kindOfName: ReadonlyMap<string, string>,
): readonly Step[] {
  const created = steps.filter(({ action }) => action === 'create').map(({ kind, name }) => `${kind.scope} ${name}`);
  const replaced = new Set(created.filter((name) => kindOfName.has(name)));
  if (replaced.size === 0) return [];
  return same.filter(({ kind, fields }) =>
    (kind.names?.(fields) ?? []).some(({ scope, name }) => replaced.has(`${scope} ${name}`)),
  );
}

function isOther(kind: ConfigurationKind, one: EntryFields, other: EntryFields): boolean {
  const { fixed = [] } = kind;
  return fixed.some((field) => one[field] !== other[field]) || kind.isOther?.(one, other) === true;
}

/** A set that the entry does not mention, such as the rules of a policy, is left as it is. */
function withUndeclared(before: EntryFields, declared: EntryFields, { sets = [] }: ConfigurationKind): EntryFields {
  const kept = sets.filter((field) => declared[field] === undefined && before[field] !== undefined);
  return kept.length === 0
    ? declared
    : { ...declared, ...Object.fromEntries(kept.map((field) => [field, before[field]])) };
}
