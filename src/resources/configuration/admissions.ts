import { everybody, exampleOf, inBoth, isEmpty, onlyInFirst } from '../../lib/ip/address-sets.ts';
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

interface Door {
  readonly to: string;
  readonly places: readonly string[];
  readonly guards: Guards;
}

/** The state of a configuration, and whom its lists of IP policies admit. */
class Side {
  readonly policies: ReadonlyMap<string, EntryFields>;
  readonly restrictions: readonly EntryFields[];
  readonly #admitted = new Map<string, AddressSet>();
  readonly #nameOf: (id: string) => string;
  readonly #pace: Pace;
  /** Lists whose policies are the same there are not looked through again. */
  readonly #former: Side | undefined;

  constructor(entries: Entries, nameOf: (id: string) => string, pace: Pace, former?: Side) {
    this.policies = entries.get('ip_policies') ?? new Map();
    this.restrictions = [...(entries.get('ip_restrictions')?.values() ?? [])];
    this.#nameOf = nameOf;
    this.#pace = pace;
    this.#former = former;
  }

  /** Policies by name or id. */
  async admittedBy(list: readonly string[]): Promise<AddressSet> {
    const names = [...new Set(list.map(this.#nameOf))].toSorted();
    const key = JSON.stringify(names);
    const known = this.#admitted.get(key);
    if (known !== undefined) return known;
    if (
      this.#former !== undefined &&
      names.every((name) => this.#former?.policies.get(name) === this.policies.get(name))
    )
      return this.#former.admittedBy(names);
    const columns = new RuleColumns();
    for (const name of names) {
      for (const rule of (this.policies.get(name)?.['rules'] ?? []) as readonly RuleEntry[]) {
        append(columns, rule);
        if (this.#pace.isDue) await this.#pace.giveWay();
      }
    }
    const { admitted } = await finishInTurns(coverRules(columns), this.#pace);
    this.#admitted.set(key, admitted);
    return admitted;
  }

  /** Addresses that every enforced restriction of the type lets in. */
  async restrictedTo(type: string): Promise<AddressSet> {
    let admitted = everybody;
    for (const restriction of this.restrictions) {
      if (restriction['type'] !== type || restriction['enforced'] !== true) continue;
      admitted = await this.#cut(admitted, await this.admittedBy(restriction['ip_policies'] as readonly string[]));
    }
    return admitted;
  }

  /** Addresses that are not refused at a door for what they are. */
  async passing({ lists, ranges }: Guards): Promise<AddressSet> {
    let admitted = await this.restrictedTo('endpoints');
    for (const list of lists) admitted = await this.#cut(admitted, await this.admittedBy(list));
    for (const columns of ranges)
      admitted = await this.#cut(admitted, (await finishInTurns(coverRules(columns), this.#pace)).admitted);
    return admitted;
  }

  /** Addresses that are spared a login. */
  async spared({ spared }: Guards): Promise<readonly AddressSet[]> {
    return Promise.all(spared.map((list) => this.admittedBy(list)));
  }

  #cut(one: AddressSet, other: AddressSet): Promise<AddressSet> {
    return finishInTurns(inBoth(one, other), this.#pace);
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
 * Tells whom a change admits who was refused before: everything that can be told from addresses is certain. An empty list means
 * that it admits nobody new.
 */
export async function newAdmissions(
  before: Entries,
  after: Entries,
  users: readonly OtherUser[],
  nameOf: (id: string) => string,
  pace: Pace,
): Promise<readonly Admission[]> {
  const was = new Side(before, nameOf, pace);
  const is = new Side(after, nameOf, pace, was);
  const found: Admission[] = [];
  const fresh = async (now: AddressSet, old: AddressSet) => finishInTurns(onlyInFirst(now, old), pace);
  for (const [type, to] of types) {
    const added = await fresh(await is.restrictedTo(type), await was.restrictedTo(type));
    if (!isEmpty(added)) found.push(yes(to, added, 'the IP restrictions let it in now'));
  }
  for (const { id, policies, isWhole } of users) {
    const added = await fresh(await is.admittedBy(policies), await was.admittedBy(policies));
    if (isWhole && !isEmpty(added)) found.push(yes(id, added, 'its IP policies let it in now'));
    else if (!isWhole && policies.some((each) => was.policies.get(nameOf(each)) !== is.policies.get(nameOf(each))))
      found.push({
        to: id,
        answer: 'unknown',
        example: undefined,
        text: 'it goes by an IP policy that changes, and by more',
      });
  }
  const [oldDoors, newDoors] = [await doorsOf(before, pace), await doorsOf(after, pace)];
  for (const [key, door] of newDoors) {
    if (pace.isDue) await pace.giveWay();
    const old = oldDoors.get(key);
    const passing = await is.passing(door.guards);
    if (isEmpty(passing)) continue;
    if (old === undefined || door.places.some((place) => !old.places.includes(place)))
      found.push(newPlace(door, passing));
    else found.push(...(await changed(old, door, passing)));
  }
  for (const [key, { to }] of oldDoors)
    if (!newDoors.has(key) && [...newDoors.values()].some(({ to: other }) => edgeOf(other) === edgeOf(to)))
      found.push({
        to,
        answer: 'unknown',
        example: undefined,
        text: 'it goes, and other routes of the edge get its paths',
      });
  found.push(...takenOver([...oldDoors.values()], [...newDoors.values()]));
  return found;

  async function changed(old: Door, door: Door, passing: AddressSet): Promise<readonly Admission[]> {
    const { to, guards } = door;
    const unknown = (text: string): readonly Admission[] => [{ to, answer: 'unknown', example: undefined, text }];
    const [others, former] = [guards.others, old.guards.others];
    const differing = [...former].filter(([name, text]) => others.has(name) && others.get(name) !== text);
    if (differing.length > 0) return unknown(`its ${differing.map(([name]) => name).join(' and ')} changes`);
    const gone = [...former.keys()].filter((name) => !others.has(name));
    const mixed = guards.mixed.filter((each) => was.policies.get(nameOf(each)) !== is.policies.get(nameOf(each)));
    if (mixed.length > 0) return unknown('its traffic policy goes by an IP policy that changes, and by more');
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
      const without = await finishInTurns(inBoth(await fresh(spared, sparedBefore[at] ?? spared), passing), pace);
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

/** Edges, routes and endpoints that people reach, by name. */
async function doorsOf(entries: Entries, pace: Pace): Promise<ReadonlyMap<string, Door>> {
  const doors = new Map<string, Door>();
  const add = async (
    to: string,
    places: readonly string[],
    modules: EntryFields,
    target: Parameters<typeof guardsOf>[2],
  ) => {
    doors.set(to, { to, places, guards: await guardsOf(modules, 'ip_policies', target) });
    if (pace.isDue) await pace.giveWay();
  };
  for (const [kind, target] of [
    ['tcp_edges', 'tcp_edge'],
    ['tls_edges', 'tls_edge'],
  ] as const)
    for (const [name, { hostports, ...fields }] of entries.get(kind) ?? [])
      if (hostports !== undefined)
        await add(`${kind} ${name}`, hostports as readonly string[], modulesIn(fields, target), target);
  for (const [name, { hostports, routes = {}, ...fields }] of entries.get('https_edges') ?? []) {
    if (hostports === undefined) continue;
    for (const [match, route] of Object.entries(routes as Readonly<Record<string, EntryFields>>)) {
      const modules = { ...modulesIn(fields, 'https_edge'), ...modulesIn(route, 'https_route') };
      await add(
        `https_edges ${name}, route ${match}${route['match_type'] === 'exact_path' ? ' (exact)' : ''}`,
        hostports as readonly string[],
        modules,
        'https_route',
      );
    }
  }
  for (const [name, { url, traffic_policy: value }] of entries.get('cloud_endpoints') ?? [])
    await add(`cloud_endpoints ${name}`, [String(url)], { traffic_policy: { enabled: true, value } }, 'agent_endpoint');
  return doors;
}

function modulesIn(fields: EntryFields, target: Parameters<typeof modulesFor>[0]): EntryFields {
  return Object.fromEntries(
    modulesFor(target).flatMap(({ name }) => (fields[name] === undefined ? [] : [[name, fields[name]]])),
  );
}

/** Names that nobody has any more, where a wildcard gets their visitors. */
function takenOver(old: readonly Door[], now: readonly Door[]): readonly Admission[] {
  const held = new Set(now.flatMap(({ places }) => places));
  const left = new Set(old.flatMap(({ places }) => places).filter((place) => !held.has(place)));
  return now.flatMap(({ to, places }): readonly Admission[] => {
    const wildcard = places.find(
      (place) => place.startsWith('*.') && [...left].some((name) => name.endsWith(place.slice(1))),
    );
    if (wildcard === undefined) return [];
    return [{ to, answer: 'unknown', example: undefined, text: `${wildcard} gets the visitors of names that go` }];
  });
}

function edgeOf(to: string): string {
  return to.startsWith('https_edges ') ? (to.split(', route ')[0] ?? '') : '';
}
