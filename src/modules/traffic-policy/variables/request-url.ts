import { normalizePath } from '../../../lib/request-path.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';

/** The URL of a request, as rules have changed it so far. */
export interface RequestUrl {
  readonly scheme: string;
  readonly host: string;
  /** Undefined where it is not written. */
  readonly port: number | undefined;
  readonly authority: string;
  /** In the spelling in which paths are compared. */
  readonly path: string;
  readonly rawPath: string;
  /** Without "?". */
  readonly query: string;
  readonly raw: string;
}

export function requestUrl(visit: PolicyVisit): RequestUrl {
  const url = visit.cached('url', visit.request.upstreamTarget, () => readUrl(visit));
  const { reading, authority } = visit;
  if (reading !== undefined) return { ...url, path: reading };
  // The authority may change without the rest.
  return authority === undefined || url.authority === authority ? url : readUrl(visit);
}

function readUrl({ request, authority: rewritten }: PolicyVisit): RequestUrl {
  const target = request.upstreamTarget;
  const { protocol } = request.endpoint();
  const authority = rewritten ?? request.host;
  const colon = authority.lastIndexOf(':');
  const mark = target.indexOf('?');
  const rawPath = mark < 0 ? target : target.slice(0, mark);
  return {
    scheme: protocol,
    host: colon < 0 ? authority : authority.slice(0, colon),
    port: colon < 0 ? undefined : Number(authority.slice(colon + 1)),
    authority,
    path: normalizePath(rawPath),
    rawPath,
    query: mark < 0 ? '' : target.slice(mark + 1),
    raw: `${protocol}://${authority}${target}`,
  };
}

/** Path and query, where there is one. */
export function uriOf({ path, query }: RequestUrl): string {
  return query === '' ? path : `${path}?${query}`;
}

export function textOfUrl(url: RequestUrl): string {
  return `${url.scheme}://${url.authority}${uriOf(url)}`;
}
