import type { ConfigurationDiff } from '../../../../client/src/index.ts';
import { kindOf, namesIn } from './kinds.ts';
import type { PastEntry } from './kinds.ts';

type Step = ConfigurationDiff['steps'][number];

/** A difference of one thing, or of one route of an edge. */
export interface Difference {
  readonly key: string;
  readonly step: Step;
  readonly fields: Step['fields'];
}

/** Differences at one place that people reach, or at several that share what differs. */
export interface Guarded {
  readonly title: string;
  readonly differences: readonly Difference[];
}

/** Differences by what they guard: a policy stands at the route that it is used at. */
export function byWhatIsGuarded(steps: readonly Step[], then: readonly PastEntry[]): readonly Guarded[] {
  const known = new Map(then.map((entry) => [`${entry.kind} ${entry.name}`, entry]));
  const routes: RoutesOf = ({ kind, name }) => Object.keys(routesOf(known.get(`${kind} ${name}`)));
  const placesOf = placesByName(then, steps, routes);
  const groups = new Map<string, Difference[]>();
  for (const step of steps) {
    for (const [title, difference] of placed(step, routes, placesOf)) {
      const group = groups.get(title) ?? [];
      groups.set(title, group);
      group.push(difference);
    }
  }
  return [...groups].map(([title, differences]) => ({ title, differences }));
}

/** Paths of the routes that an edge had. */
type RoutesOf = (step: Step) => readonly string[];
type PlacesOf = (kind: string, name: string) => readonly string[];

function placed(
  step: Step,
  routes: RoutesOf,
  placesOf: PlacesOf,
): readonly (readonly [title: string, difference: Difference])[] {
  const { kind, name, fields } = step;
  const key = `${kind} ${name}`;
  if (kind === 'https_edges') {
    const byRoute = Map.groupBy(fields, ({ field }) => routeOf(field, routes(step)));
    return [...byRoute].map(([route, some]) => [placeOf(name, route), { key: `${key} ${route}`, step, fields: some }]);
  }
  const noun = kindOf(kind).noun;
  const places = kindOf(kind).scope === 'own' ? [] : placesOf(kind, name);
  const title =
    kindOf(kind).scope === 'own'
      ? name
      : places.length === 0
        ? `Used nowhere: ${noun} ${name}`
        : places.length < 3
          ? places.join(' and ')
          : `${places[0]} and ${places.length - 1} more`;
  return [[title, { key, step, fields }]];
}

function placeOf(edge: string, route: string | undefined): string {
  return route === undefined ? edge : `${edge}, route ${route}`;
}

/** The route of an edge that a field lies in; undefined for one of the edge itself. Paths may have dots. */
function routeOf(field: string, routes: readonly string[]): string | undefined {
  if (!field.startsWith('routes.')) return undefined;
  const way = field.slice('routes.'.length);
  const known = routes.filter((route) => way === route || way.startsWith(`${route}.`));
  return known.toSorted((one, other) => other.length - one.length)[0] ?? way;
}

function routesOf(entry: Pick<PastEntry, 'fields'> | undefined): Readonly<Record<string, unknown>> {
  // Entries of this kind have their routes by path.
  return (entry?.fields['routes'] ?? {}) as Record<string, unknown>;
}

/** Places that a policy, backend or authority serves, then or now, also through backends that share traffic among others. */
function placesByName(then: readonly PastEntry[], steps: readonly Step[], routes: RoutesOf): PlacesOf {
  const users = new Map<string, Set<string>>();
  const note = (user: string, fields: unknown): void => {
    for (const [scope, name] of namesIn(fields)) {
      const key = `${scope} ${name}`;
      users.set(key, (users.get(key) ?? new Set()).add(user));
    }
  };
  for (const entry of then) noteEntry(entry, note);
  for (const step of steps) {
    const { kind, name, fields } = step;
    if (kind === 'ip_policies') continue;
    const known = routes(step);
    for (const { field, after } of fields)
      note(userOf(kind, name, routeOf(field, known)), { [field.split('.').at(-1) ?? field]: after });
  }
  const placesOf = (key: string, seen: ReadonlySet<string>): readonly string[] =>
    [...(users.get(key) ?? [])].flatMap((user) => {
      if (!user.startsWith('backends ')) return [user];
      return seen.has(user) ? [] : placesOf(user, new Set([...seen, user]));
    });
  return (kind, name) => [...new Set(placesOf(`${kindOf(kind).scope} ${name}`, new Set()))].toSorted();
}

function noteEntry({ kind, name, fields }: PastEntry, note: (user: string, fields: unknown) => void): void {
  if (kind === 'ip_policies') return;
  const { routes: _, ...own } = fields;
  note(userOf(kind, name, undefined), own);
  for (const [route, parts] of Object.entries(routesOf({ fields }))) note(userOf(kind, name, route), parts);
}

function userOf(kind: string, name: string, route: string | undefined): string {
  return kindOf(kind).scope === 'backends' ? `backends ${name}` : placeOf(name, route);
}
