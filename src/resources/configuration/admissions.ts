import { everybody, exampleOf, inBoth, isEmpty, nobody, onlyInFirst } from '../../lib/ip/address-sets.ts';
import type { AddressSet } from '../../lib/ip/address-sets.ts';
import { coverRules, RuleColumns } from '../../lib/ip/rule-coverage.ts';
import { parseCidr } from '../../lib/ip/cidr.ts';
import { Pace } from '../../lib/pace.ts';
import { finishInTurns } from '../../lib/steps.ts';
import type { EntryFields } from '../configuration-kind.ts';
import { modulesFor } from '../../modules/index.ts';
import { guardsOf } from '../guards.ts';
import type { Guards } from '../guards.ts';
import type { RuleEntry } from '../rule-entries.ts';
import { mostAdmissions } from './schema.ts';

/** Entries by kind and name. */
export type Entries = ReadonlyMap<string, ReadonlyMap<string, EntryFields>>;

/** What a change means for one thing that people reach. */
export interface Admission {
  /** In words: "https_edges shop, route /". */
  readonly to: string;
  /** unknown: it may admit somebody new, which cannot be told. */
  readonly answer: 'yes' | 'unknown';
  /** An address that is newly admitted. */
  readonly example: string | undefined;
  readonly text: string;
}

/** Lists of IP policies that something outside of the configuration goes by, such as an API key. */
export interface OtherUser {
  readonly id: string;
  readonly policies: readonly string[];
  /** False: it decides by more than these. */
  readonly isWhole: boolean;
}

/** An endpoint of an agent that has the visitors of every name below a wildcard. */
export interface AgentWildcard {
  readonly id: string;
  readonly url: string;
}

export interface Beside {
  readonly users: readonly OtherUser[];
  readonly wildcards: readonly AgentWildcard[];
}

export interface Admissions {
  readonly answer: 'yes' | 'no' | 'unknown';
  /** Certain ones first; at most `mostAdmissions`. */
  readonly admissions: readonly Admission[];
  readonly total: number;
}

/** What is gone through for one plan. */
export const admissionLimits = {
  /** Rules, and ranges of sets that are compared: beyond, nothing is told. */
  mostRules: 8_000_000,
  /** Those whose sets are kept, in 32 MB at most. */
  mostKept: 1_000_000,
};

/** More than is gone through for one plan. */
export class TooMuchToTell extends Error {
  override readonly name = 'TooMuchToTell';
}

/** Counts what is gone through. */
class Work {
  readonly pace: Pace;
  #left = admissionLimits.mostRules;
  #free = admissionLimits.mostKept;

  constructor(pace: Pace) {
    this.pace = pace;
  }

  spend(rules: number): void {
    this.#left -= rules;
    if (this.#left < 0) throw new TooMuchToTell('too many rules are compared');
  }

  /** Whether a set of so many rules may be kept. */
  mayKeep(rules: number): boolean {
    if (rules > this.#free) return false;
    this.#free -= rules;
    return true;
  }

  async cover(columns: RuleColumns): Promise<AddressSet> {
    return (await finishInTurns(coverRules(columns), this.pace)).admitted;
  }

  async combine(how: typeof inBoth, one: AddressSet, other: AddressSet): Promise<AddressSet> {
    this.spend(sizeOf(one) + sizeOf(other));
    return finishInTurns(how(one, other), this.pace);
  }
}

function sizeOf({ ipv4, ipv6 }: AddressSet): number {
  return ipv4.length + ipv6.length / 4;
}

class Found {
  readonly #kept = { yes: [] as Admission[], unknown: [] as Admission[] };
  #total = 0;

  add(...all: readonly Admission[]): void {
    for (const each of all) {
      const kept = this.#kept[each.answer];
      if (kept.length < mostAdmissions) kept.push(each);
      this.#total += 1;
    }
  }

  finish(): Admissions {
    const { yes: certain, unknown: open } = this.#kept;
    const answer = certain.length > 0 ? 'yes' : open.length > 0 ? 'unknown' : 'no';
    return { answer, admissions: [...certain, ...open].slice(0, mostAdmissions), total: this.#total };
  }
}

interface Door {
  readonly to: string;
  /** The HTTPS edge of a route. */
  readonly edge?: string;
  /** Routes of an edge have the same list. */
  readonly places: readonly string[];
  readonly guards: Guards;
}

/** The state of a configuration, and whom its lists of IP policies admit. */
class Side {
  readonly policies: ReadonlyMap<string, EntryFields>;
  /** Restrictions that are enforced, by type. */
  readonly #lists: ReadonlyMap<unknown, readonly EntryFields[]>;
  readonly #admitted = new Map<string, AddressSet>();
  readonly #passing = new Map<string, AddressSet>();
  readonly #restricted = new Map<string, AddressSet>();
  readonly #nameOf: (id: string) => string;
  readonly #work: Work;
  /** What is the same there is not looked through again. */
  readonly #former: Side | undefined;

  constructor(entries: Entries, nameOf: (id: string) => string, work: Work, former?: Side) {
    this.policies = entries.get('ip_policies') ?? new Map();
    const restrictions = [...(entries.get('ip_restrictions')?.values() ?? [])];
    this.#lists = Map.groupBy(
      restrictions.filter(({ enforced }) => enforced === true),
      ({ type }) => type,
    );
    this.#nameOf = nameOf;
    this.#work = work;
    this.#former = former;
  }

  /** Policies by name or id. */
  async admittedBy(list: readonly string[]): Promise<AddressSet> {
    const names = this.#namesOf(list);
    if (this.#former !== undefined && this.#isFormer(names)) return this.#former.admittedBy(names);
    const key = JSON.stringify(names);
    const known = this.#admitted.get(key);
    if (known !== undefined) return known;
    const columns = new RuleColumns();
    for (const name of names) {
      const rules = (this.policies.get(name)?.['rules'] ?? []) as readonly RuleEntry[];
      this.#work.spend(rules.length);
      for (const rule of rules) {
        append(columns, rule);
        if (this.#work.pace.isDue) await this.#work.pace.giveWay();
      }
    }
    const admitted = await this.#work.cover(columns);
    if (this.#work.mayKeep(columns.count)) this.#admitted.set(key, admitted);
    return admitted;
  }

  /** Addresses that every enforced restriction of the type lets in. */
  async restrictedTo(type: string): Promise<AddressSet> {
    const known = this.#restricted.get(type);
    if (known !== undefined) return known;
    let admitted = everybody;
    const lists = this.#listsOf(type);
    if (this.#former !== undefined && this.#isFormerRestriction(type)) admitted = await this.#former.restrictedTo(type);
    else for (const list of lists) admitted = await this.#work.combine(inBoth, admitted, await this.admittedBy(list));
    this.#restricted.set(type, admitted);
    return admitted;
  }

  /** Addresses that are not refused at a door for what they are. */
  async passing(guards: Guards): Promise<AddressSet> {
    const { lists, ranges } = guards;
    if (this.#former !== undefined && this.isFormer(guards)) return this.#former.passing(guards);
    const key = JSON.stringify(lists.map((list) => this.#namesOf(list)));
    let admitted = this.#passing.get(key);
    if (admitted === undefined) {
      admitted = await this.restrictedTo('endpoints');
      for (const list of lists) admitted = await this.#work.combine(inBoth, admitted, await this.admittedBy(list));
      if (lists.length === 0 || this.#work.mayKeep(sizeOf(admitted))) this.#passing.set(key, admitted);
    }
    for (const columns of ranges) {
      this.#work.spend(columns.count);
      admitted = await this.#work.combine(inBoth, admitted, await this.#work.cover(columns));
    }
    return admitted;
  }

  /** Addresses that are spared a login. */
  async spared({ spared }: Guards): Promise<readonly AddressSet[]> {
    const sets: AddressSet[] = [];
    for (const list of spared) sets.push(await this.admittedBy(list));
    return sets;
  }

  /** True where all that these guards name is as it was. */
  isFormer({ lists, spared, mixed }: Guards): boolean {
    return this.#isFormerRestriction('endpoints') && [...lists, ...spared, mixed].every((list) => this.#isFormer(list));
  }

  #isFormer(list: readonly string[]): boolean {
    const former = this.#former;
    if (former === undefined) return false;
    return list.every((each) => former.policies.get(this.#nameOf(each)) === this.policies.get(this.#nameOf(each)));
  }

  #isFormerRestriction(type: string): boolean {
    if (this.#former === undefined) return false;
    const [was, is] = [this.#former.#listsOf(type), this.#listsOf(type)];
    return was.length === is.length && is.every((list, at) => list === was[at] && this.#isFormer(list));
  }

  /** Lists of the enforced restrictions of a type. */
  #listsOf(type: string): readonly (readonly string[])[] {
    return this.#lists.get(type)?.map((each) => each['ip_policies'] as readonly string[]) ?? [];
  }

  #namesOf(list: readonly string[]): readonly string[] {
    return [...new Set(list.map(this.#nameOf))].toSorted();
  }
}

function append(columns: RuleColumns, rule: RuleEntry): void {
  const [text, action] =
    typeof rule === 'string'
      ? rule.startsWith('!')
        ? [rule.slice(1), 'deny' as const]
        : [rule, 'allow' as const]
      : [rule.cidr, rule.action ?? 'allow'];
  const parsed = parseCidr(text);
  // Entries in canonical form have been checked.
  if (parsed.ok) columns.append(parsed.cidr, action);
}

/**
 * Tells whom a change admits who was refused before: everything that can be told from addresses is certain. Throws
 * `TooMuchToTell`.
 */
export async function newAdmissions(
  before: Entries,
  after: Entries,
  { users, wildcards }: Beside,
  nameOf: (id: string) => string,
  pace: Pace,
): Promise<Admissions> {
  const work = new Work(pace);
  const was = new Side(before, nameOf, work);
  const is = new Side(after, nameOf, work, was);
  const found = new Found();
  const fresh = async (now: AddressSet, old: AddressSet) =>
    now === old ? nobody : work.combine(onlyInFirst, now, old);
  const isChanged = (each: string) => was.policies.get(nameOf(each)) !== is.policies.get(nameOf(each));
  const authorities = changedAuthorities(before, after);
  for (const [type, to] of types) {
    const added = await fresh(await is.restrictedTo(type), await was.restrictedTo(type));
    if (!isEmpty(added)) found.add(yes(to, added, 'the IP restrictions let it in now'));
  }
  for (const { id, policies, isWhole } of users) {
    if (pace.isDue) await pace.giveWay();
    if (!policies.some(isChanged)) continue;
    if (!isWhole) found.add(unknown(id, 'it goes by an IP policy that changes, and by more'));
    else {
      const added = await fresh(await is.admittedBy(policies), await was.admittedBy(policies));
      if (!isEmpty(added)) found.add(yes(id, added, 'its IP policies let it in now'));
    }
  }
  const known = new Map<EntryFields, readonly Door[]>();
  const oldDoors = await doorsOf(before, pace, known);
  const newDoors = await doorsOf(after, pace, known);
  const isNewPlace = placeComparison();
  for (const [key, door] of newDoors) {
    if (pace.isDue) await pace.giveWay();
    const old = oldDoors.get(key);
    if (door === old && is.isFormer(door.guards) && !asksFor(door, authorities)) continue;
    const passing = await is.passing(door.guards);
    if (isEmpty(passing)) continue;
    if (old === undefined || isNewPlace(door.places, old.places)) found.add(newPlace(door, passing));
    else found.add(...(await changed(old, door, passing)));
  }
  const edges = new Set<string>();
  for (const { edge } of newDoors.values()) if (edge !== undefined) edges.add(edge);
  for (const [key, { to, edge }] of oldDoors) {
    if (pace.isDue) await pace.giveWay();
    if (edge !== undefined && !newDoors.has(key) && edges.has(edge))
      found.add(unknown(to, 'it goes, and other routes of the edge get its paths'));
  }
  found.add(...(await takenOver(oldDoors, newDoors, wildcards, pace)));
  return found.finish();

  async function changed(old: Door, door: Door, passing: AddressSet): Promise<readonly Admission[]> {
    const { to, guards } = door;
    const [others, former] = [guards.others, old.guards.others];
    const differing = [...former].filter(([name, text]) => others.has(name) && others.get(name) !== text);
    if (differing.length > 0) return [unknown(to, `its ${differing.map(([name]) => name).join(' and ')} changes`)];
    if (asksFor(door, authorities))
      return [unknown(to, 'another certificate authority gets the name of one of its own')];
    const gone = [...former.keys()].filter((name) => !others.has(name));
    if (guards.mixed.some(isChanged))
      return [unknown(to, 'its traffic policy goes by an IP policy that changes, and by more')];
    const added = await fresh(passing, await was.passing(old.guards));
    const asks = guards.isUnknown
      ? ', if its traffic policy does'
      : guards.asksEverybody
        ? ', with what it asks for'
        : '';
    if (!isEmpty(added)) {
      const told = yes(to, added, `its addresses let it in now${asks}`);
      return [guards.isUnknown ? { ...told, answer: 'unknown' } : told];
    }
    if (gone.length > 0) {
      const told = yes(to, passing, `${gone.join(' and ')} is not asked for any more`);
      return [guards.isUnknown || old.guards.isUnknown ? { ...told, answer: 'unknown' } : told];
    }
    const [sparedNow, sparedBefore] = [await is.spared(guards), await was.spared(old.guards)];
    for (const [at, spared] of sparedNow.entries()) {
      const without = await work.combine(inBoth, await fresh(spared, sparedBefore[at] ?? spared), passing);
      if (!isEmpty(without)) return [yes(to, without, 'it needs no login any more')];
    }
    return [];
  }
}

const types = [
  ['api', 'the API'],
  ['dashboard', 'the dashboard'],
  ['agent', 'agents'],
  ['endpoints', 'endpoints of agents'],
] as const;

function yes(to: string, added: AddressSet, why: string): Admission {
  const example = exampleOf(added);
  return { to, answer: 'yes', example, text: `${example} is admitted newly: ${why}` };
}

function newPlace({ to, guards: { asksEverybody, isUnknown } }: Door, passing: AddressSet): Admission {
  const told = yes(to, passing, `it is new there${asksEverybody ? ', and asks for something' : ''}`);
  return isUnknown ? { ...told, answer: 'unknown' } : told;
}

function unknown(to: string, text: string): Admission {
  return { to, answer: 'unknown', example: undefined, text };
}

/** Names of certificate authorities that are others than before. */
function changedAuthorities(before: Entries, after: Entries): ReadonlySet<string> {
  const changed = new Set<string>();
  const former = before.get('certificate_authorities');
  for (const [name, { ca_pem }] of after.get('certificate_authorities') ?? [])
    if (former?.has(name) === true && former.get(name)?.['ca_pem'] !== ca_pem) changed.add(name);
  return changed;
}

/** Whether a visitor must show a certificate of one of these. */
function asksFor({ guards }: Door, authorities: ReadonlySet<string>): boolean {
  const text = authorities.size === 0 ? undefined : guards.others.get('mutual_tls');
  if (text === undefined) return false;
  // The settings of an entry.
  const { certificate_authorities: named = [] } = JSON.parse(text) as {
    readonly certificate_authorities?: readonly string[];
  };
  return named.some((each) => authorities.has(each));
}

/** Whether a list of places has one that another has not. Routes of an edge have the same, and follow each other. */
function placeComparison(): (now: readonly string[], old: readonly string[]) => boolean {
  let last: { readonly now: unknown; readonly old: unknown; readonly isNew: boolean } | undefined;
  return (now, old) => {
    if (last?.now !== now || last.old !== old) {
      const held = new Set(old);
      last = { now, old, isNew: now.some((place) => !held.has(place)) };
    }
    return last.isNew;
  };
}

/** Edges, routes and endpoints that people reach, by name; `known`: those of entries that were seen already. */
async function doorsOf(
  entries: Entries,
  pace: Pace,
  known: Map<EntryFields, readonly Door[]>,
): Promise<ReadonlyMap<string, Door>> {
  const doors = new Map<string, Door>();
  for (const kind of ['tcp_edges', 'tls_edges', 'https_edges', 'cloud_endpoints'] as const) {
    for (const [name, fields] of entries.get(kind) ?? []) {
      const own = known.get(fields) ?? (await doorsOfEntry(kind, name, fields, pace));
      known.set(fields, own);
      for (const door of own) doors.set(door.to, door);
      if (pace.isDue) await pace.giveWay();
    }
  }
  return doors;
}

async function doorsOfEntry(
  kind: 'tcp_edges' | 'tls_edges' | 'https_edges' | 'cloud_endpoints',
  name: string,
  fields: EntryFields,
  pace: Pace,
): Promise<readonly Door[]> {
  const to = `${kind} ${name}`;
  if (kind === 'cloud_endpoints') {
    const modules = { traffic_policy: { enabled: true, value: fields['traffic_policy'] } };
    return [{ to, places: [String(fields['url'])], guards: await guardsOf(modules, 'ip_policies', 'agent_endpoint') }];
  }
  // One that is reached nowhere has no visitors.
  const places = fields['hostports'] as readonly string[] | undefined;
  if (places === undefined) return [];
  if (kind !== 'https_edges') {
    const target = kind === 'tcp_edges' ? 'tcp_edge' : 'tls_edge';
    return [{ to, places, guards: await guardsOf(modulesIn(fields, target), 'ip_policies', target) }];
  }
  const doors: Door[] = [];
  const ofEdge = modulesIn(fields, 'https_edge');
  for (const [match, route] of Object.entries((fields['routes'] ?? {}) as Readonly<Record<string, EntryFields>>)) {
    const guards = await guardsOf({ ...ofEdge, ...modulesIn(route, 'https_route') }, 'ip_policies', 'https_route');
    const exact = route['match_type'] === 'exact_path' ? ' (exact)' : '';
    doors.push({ to: `${to}, route ${match}${exact}`, edge: name, places, guards });
    if (pace.isDue) await pace.giveWay();
  }
  return doors;
}

function modulesIn(fields: EntryFields, target: Parameters<typeof modulesFor>[0]): EntryFields {
  return Object.fromEntries(
    modulesFor(target).flatMap(({ name }) => (fields[name] === undefined ? [] : [[name, fields[name]]])),
  );
}

/** Wildcards that get the visitors of names that nobody has any more. */
async function takenOver(
  old: ReadonlyMap<string, Door>,
  now: ReadonlyMap<string, Door>,
  wildcards: readonly AgentWildcard[],
  pace: Pace,
): Promise<readonly Admission[]> {
  const held = new Set<string>();
  const lists = new Map<readonly string[], string>();
  for (const { to, places } of now.values()) {
    if (!lists.has(places)) for (const place of places) held.add(place);
    lists.set(places, to);
    if (pace.isDue) await pace.giveWay();
  }
  const left = new Set<string>();
  for (const { places } of old.values()) {
    if (!lists.has(places)) for (const place of places) if (!held.has(place)) noteWildcards(left, hostOf(place));
    if (pace.isDue) await pace.giveWay();
  }
  if (left.size === 0) return [];
  const all = [
    ...[...lists].map(([places, to]) => ({ to, places })),
    ...wildcards.map(({ id, url }) => ({ to: id, places: [url] })),
  ];
  return all.flatMap(({ to, places }): readonly Admission[] => {
    const wildcard = places.find((place) => left.has(hostOf(place)));
    return wildcard === undefined ? [] : [unknown(to, `${wildcard} gets the visitors of names that go`)];
  });
}

/** Notes every wildcard above a name, which has few labels. */
function noteWildcards(wildcards: Set<string>, name: string): void {
  for (let at = name.indexOf('.'); at >= 0; at = name.indexOf('.', at + 1)) wildcards.add(`*${name.slice(at)}`);
}

/** Of `app.example.com:443` or `https://app.example.com`. */
function hostOf(place: string): string {
  const name = place.slice(place.indexOf('://') < 0 ? 0 : place.indexOf('://') + 3);
  const end = name.lastIndexOf(':');
  return end < 0 ? name : name.slice(0, end);
}
