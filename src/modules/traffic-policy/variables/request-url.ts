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
  const { request } = visit;
  return visit.cached('url', request.upstreamTarget, () => readUrl(visit));
}

function readUrl({ request }: PolicyVisit): RequestUrl {
  const target = request.upstreamTarget;
  const { protocol } = request.endpoint();
  const authority = request.host;
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
