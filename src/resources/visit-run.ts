import { refusals } from '../errors/refusals.ts';
import type { IpAddress } from '../lib/ip/address.ts';
import type { Pace } from '../lib/pace.ts';
import { PathTable } from '../lib/path-table.ts';
import { checkRequestPath } from '../lib/request-path.ts';
import { explain } from '../modules/explain.ts';
import type { DescribedVisitor, ToldStep } from '../modules/explain.ts';
import { buildModules, namedParts } from '../modules/index.ts';
import type { NamedPart } from '../modules/index.ts';
import { isOwnPath } from '../modules/own-paths.ts';
import type { VisitorIdentity } from '../modules/sign-in.ts';
import type { AccessRules, Step } from '../modules/step.ts';
import type { ModuleSettings, SnapshotEntry } from '../snapshot/contract.ts';

/** Facts that are kept of a request or connection. */
export interface KeptVisit extends Pick<DescribedVisitor, 'person' | 'hasSignedIn'> {
  readonly source: IpAddress;
  /** Empty for a port; undefined: the place has the name or port. */
  readonly host: string | undefined;
  readonly port: number;
  readonly method: string | undefined;
  /** Without the query; undefined where it is not kept whole. */
  readonly path: string | undefined;
  /** The route that it took, which counts where the path is not known. */
  readonly routeId: string;
}

export type VisitVerdict =
  | 'allowed'
  | 'refused'
  /** Nothing is there for it: no edge, no name, no route, or something that cannot be loaded. */
  | 'not_served'
  /** On something that is not kept. */
  | 'depends';

/** Something that a visit meets on its way. */
export interface Met {
  readonly kind: 'ip_restriction' | 'edge' | 'route' | 'module';
  /** Of the restriction, or of the edge or route. */
  readonly id: string;
  readonly effect: 'passes' | 'warns' | 'refuses' | 'depends' | 'answers' | 'not_served' | 'not_reached';
  readonly policyIds: readonly string[];
  /** Undefined for all but modules. */
  readonly step: ToldStep | undefined;
  /** Why nothing is there. */
  readonly reason: string | undefined;
}

export interface VisitRun {
  readonly verdict: VisitVerdict;
  readonly met: readonly Met[];
  /** What decided, or what it depends on first. */
  readonly by: Met | undefined;
  /** Settings of the modules that it met, by name. */
  readonly settings?: ModuleSettings;
}

/** A restriction that every visit meets first. */
export interface MetRestriction {
  readonly id: string;
  readonly enforced: boolean;
  readonly ip_policy_ids: readonly string[];
}

export type VisitAccess = Pick<AccessRules, 'allows' | 'denies'>;

/** The modules of an edge or route, which are built once. */
interface Door {
  readonly id: string;
  readonly settings: ModuleSettings;
  readonly modules: readonly NamedPart[];
}

/** An edge or endpoint, as visits meet it. */
export interface Place {
  readonly id: string;
  readonly isLoaded: boolean;
  /** Keys of the logins that its routes ask for. */
  readonly signInKeys: ReadonlySet<string>;
  readonly hasName: (host: string, port: number) => boolean;
  /** Undefined: it has no routes. */
  readonly routes: PathTable<Door> | undefined;
  readonly byId: ReadonlyMap<string, Door>;
  /** What decides for all; undefined: its routes do. */
  readonly door: Door | undefined;
}

const refusalCodes: ReadonlySet<number> = new Set(refusals.map(({ code }) => code));
const connectionPhases: ReadonlySet<Step['phase']> = new Set(['connection', 'handshake']);
const phaseOrder = ['connection', 'handshake', 'request'] as const;

/** Builds what gateways build of an entry. Undefined: nobody visits such a thing. */
export async function openPlace(entry: SnapshotEntry, pace: Pace): Promise<Place | undefined> {
  if (entry.kind === 'https_edge') {
    const names = entry.hostports.map((each) => each.slice(0, each.lastIndexOf(':')));
    const routes = new PathTable<Door>();
    const byId = new Map<string, Door>();
    let isLoaded = true;
    const signInKeys = new Set<string>();
    for (const { id, matchType, match, modules } of entry.routes) {
      const door = doorOf(id, modules);
      routes.add(matchType, match, door);
      byId.set(id, door);
      const built = tryBuild(modules);
      isLoaded &&= built !== undefined;
      for (const { signIn = [] } of built?.steps ?? []) for (const { key } of [signIn].flat()) signInKeys.add(key);
      if (pace.isDue) await pace.giveWay();
    }
    const hasName = (host: string) => names.some((name) => covers(name, host));
    return { id: entry.id, isLoaded, signInKeys, hasName, routes, byId, door: undefined };
  }
  if (entry.kind !== 'tcp_edge' && entry.kind !== 'tls_endpoint') return undefined;
  const hasName =
    entry.kind === 'tcp_edge'
      ? (_host: string, port: number) => entry.ports.includes(port)
      : (host: string) => entry.names.some((name) => covers(name, host));
  const isLoaded =
    tryBuild(entry.modules) !== undefined && !(entry.kind === 'tls_endpoint' && entry.fault !== undefined);
  const door = doorOf(entry.id, entry.modules);
  return { id: entry.id, isLoaded, signInKeys: new Set(), hasName, routes: undefined, byId: new Map(), door };
}

function doorOf(id: string, settings: ModuleSettings): Door {
  const modules = namedParts(settings).filter(({ isEnabled }) => isEnabled);
  return { id, settings, modules: modules.map((part) => ({ ...part, build: once(part.build) })) };
}

function once<Result>(make: () => Result): () => Result {
  let made: { readonly result: Result } | undefined;
  return () => (made ??= { result: make() }).result;
}

function tryBuild(modules: ModuleSettings) {
  try {
    return buildModules(modules).shared;
  } catch {
    return undefined;
  }
}

/** The first label of a name may stand for any one label. */
function covers(name: string, host: string): boolean {
  return (
    name === host || (name.startsWith('*.') && host.indexOf('.') > 0 && host.slice(host.indexOf('.')) === name.slice(1))
  );
}

/** Settings of the modules that a visit would meet; undefined: none. */
export function settingsMet(place: Place | 'unknown' | undefined, visit: KeptVisit): ModuleSettings | undefined {
  if (place === undefined || place === 'unknown') return undefined;
  const door = place.door ?? routeOf(place, visit);
  return 'effect' in door ? undefined : door.settings;
}

/** Sends a visit past the restrictions of the account and what stands before a place, in the order of a gateway. */
export function runVisit(
  place: Place | 'unknown' | undefined,
  restrictions: readonly MetRestriction[],
  access: VisitAccess,
  visit: KeptVisit,
): VisitRun {
  const met: Met[] = [];
  if (place === undefined) return ended(met, nothing('edge', '', 'it is not there'));
  if (place !== 'unknown' && visit.host !== undefined && !place.hasName(visit.host, visit.port))
    return ended(met, nothing('edge', place.id, 'it has another name or port'));
  for (const { id, enforced, ip_policy_ids: policyIds } of restrictions) {
    const effect = access.allows(policyIds, visit.source) ? 'passes' : enforced ? 'refuses' : 'warns';
    met.push({ kind: 'ip_restriction', id, effect, policyIds, step: undefined, reason: undefined });
  }
  const refusal = met.find(({ effect }) => effect === 'refuses');
  if (refusal !== undefined) return { verdict: 'refused', met, by: refusal };
  if (place === 'unknown')
    return ended(met, nothing('edge', '', 'endpoints of agents are not in the change log', 'depends'));
  if (!place.isLoaded) {
    // A connection that is not served is refused.
    const told = ended(met, nothing('edge', place.id, 'it cannot be loaded'));
    return place.routes === undefined ? { ...told, verdict: 'refused' } : told;
  }
  const door = place.door ?? routeOf(place, visit);
  if ('effect' in door) return ended(met, door);
  return throughDoor(place, door, met, access, visit);
}

function nothing(kind: Met['kind'], id: string, reason: string, effect: Met['effect'] = 'not_served'): Met {
  return { kind, id, effect, policyIds: [], step: undefined, reason };
}

function ended(met: readonly Met[], last: Met): VisitRun {
  return { verdict: last.effect === 'depends' ? 'depends' : 'not_served', met: [...met, last], by: last };
}

/** The route of a visit, or why there is none. */
function routeOf({ id, routes, byId, signInKeys }: Place, { path, routeId }: KeptVisit): Door | Met {
  if (path === undefined) {
    const known = byId.size === 1 ? [...byId.values()][0] : undefined;
    return known ?? nothing('edge', id, 'it depends on the path, which is not kept whole', 'depends');
  }
  const checked = checkRequestPath(path);
  if (!checked.ok) return nothing('edge', id, `its path ${checked.reason}`);
  if (signInKeys.size > 0 && isOwnPath(checked.matchPath))
    return nothing('edge', id, 'the login itself answers', 'depends');
  const route = routes?.choose(checked.matchPath);
  if (route === 'ambiguous') return nothing('edge', id, 'its path can be read as that of another route');
  return route ?? nothing('route', routeId, 'no route has its path');
}

/** In the order of phases, in which a gateway runs them. */
function throughDoor(
  { routes }: Place,
  { id, modules, settings }: Door,
  before: readonly Met[],
  access: VisitAccess,
  { source, person, hasSignedIn, method }: KeptVisit,
): VisitRun {
  const isHttps = routes !== undefined;
  const told = explain(modules, { source, person, hasSignedIn, method }, access);
  const inOrder = phaseOrder.flatMap((phase) =>
    isHttps || connectionPhases.has(phase) ? told.filter((step) => step.phase === phase) : [],
  );
  const ofAnswers = isHttps ? told.filter(({ phase, word }) => phase === undefined && word === 'depends') : [];
  const met = [...before];
  let by: Met | undefined;
  let mayHaveAnswered = false;
  for (const step of inOrder) {
    if (by !== undefined && by.effect !== 'depends') {
      met.push(meet(id, step, 'not_reached'));
      continue;
    }
    const now = meet(id, step, effectOf(step, isHttps));
    met.push(now);
    if (now.effect === 'passes' || now.effect === 'warns') continue;
    if (now.effect === 'depends') {
      // A step of a connection lets in or refuses, and never answers.
      mayHaveAnswered ||= step.phase === 'request';
      by ??= now;
    } else if (!mayHaveAnswered || by === undefined) by = now;
  }
  for (const step of ofAnswers) {
    const now = meet(id, step, by?.effect === 'refuses' || by?.effect === 'not_served' ? 'not_reached' : 'depends');
    met.push(now);
    if (now.effect === 'depends' && by?.effect !== 'depends') by = now;
  }
  return { verdict: verdictBy(by), met, by, settings };
}

function meet(id: string, step: ToldStep, effect: Met['effect']): Met {
  const policyIds = step.asked.flatMap((asked) => asked.policyIds);
  return { kind: 'module', id, effect, policyIds, step, reason: undefined };
}

function effectOf({ word, code, status, warns }: ToldStep, isHttps: boolean): Met['effect'] {
  if (word === 'depends') return 'depends';
  if (status !== undefined) return 'answers';
  if (word === 'passes') return warns.length > 0 ? 'warns' : 'passes';
  // A connection gets no answer: all that ends it refuses.
  return !isHttps || refusalCodes.has(code ?? 0) ? 'refuses' : 'not_served';
}

function verdictBy(by: Met | undefined): VisitVerdict {
  if (by === undefined || by.effect === 'answers') return 'allowed';
  if (by.effect === 'refuses') return 'refused';
  return by.effect === 'not_served' ? 'not_served' : 'depends';
}

/** All that somebody may be of whom the e-mail address or the subject is kept, and neither groups nor claims. */
export function whoMayBe(person: string): readonly VisitorIdentity[] | undefined {
  if (person === '') return undefined;
  const known = { subject: person, name: undefined, groups: [], hasMoreGroups: true, claims: {} } as const;
  const bySubject = { ...known, email: undefined, emailVerified: false };
  if (!person.includes('@')) return [bySubject];
  return [bySubject, ...[true, false].map((emailVerified) => ({ ...known, email: person, emailVerified }))];
}
