/** Filters of the page "Past requests", by their names in the URL; each is a parameter of `GET /decisions`. */
export const requestFilters = {
  since: 'since',
  until: 'until',
  edge: 'edge_id',
  route: 'route_id',
  backend: 'backend_id',
  policy: 'policy_id',
  agent: 'tunnel_session_id',
  source: 'source',
  verdict: 'verdict',
  module: 'module',
  restriction: 'restriction_id',
  person: 'person',
  host: 'host',
  status: 'status',
} as const;

/** Times that end now. */
export const rangeMs = { hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000 } as const;
export type Range = keyof typeof rangeMs;

export type RequestFilter = { readonly [Name in keyof typeof requestFilters]?: string | undefined } & {
  readonly range?: Range;
};

/** Filters by which decisions are counted, too. */
export type CountedFilter = Pick<
  RequestFilter,
  'edge' | 'route' | 'backend' | 'policy' | 'agent' | 'restriction' | 'person'
>;

/** The same under the names of the API. */
export function countedOf(filter: CountedFilter): Readonly<Record<string, string>> {
  const given = Object.entries(requestFilters).flatMap(([name, parameter]) => {
    // A filter has no other names than these.
    const value = filter[name as keyof CountedFilter];
    return value === undefined ? [] : [[parameter, value]];
  });
  return Object.fromEntries(given) as Record<string, string>;
}

/** The path of the page "Past requests" that shows the decisions which pass the filter. */
export function pastRequests(filter: RequestFilter = {}): string {
  const given = Object.entries(filter).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const query = new URLSearchParams(given).toString();
  return query === '' ? '/requests' : `/requests?${query}`;
}

/** The path of the page that explains a request: by the id that its visitor reads out, or by that of its decision. */
export function explanationOf({ id, request_id: requestId }: { readonly id: string; readonly request_id?: string }) {
  return `/requests/${encodeURIComponent(requestId ?? id)}`;
}
