import { readQuery } from '../../../lib/cel/functions/encodings.ts';
import { int, listOf, mapOf, objectOf, string, timestamp } from '../../../lib/cel/types.ts';
import { CelMap } from '../../../lib/cel/values.ts';
import { addTo } from '../../../lib/lists-by-key.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';
import { timestampOf } from './connection.ts';
import { contentVariables, firstOf, headerMap, headersType, lengthOf, noValues, toText } from './header-values.ts';
import { userAgentVariables } from './user-agent.ts';
import { requestUrl, textOfUrl, uriOf } from './request-url.ts';
import type { Variables } from './variable.ts';

const versions = { '1.0': 'HTTP/1.0', '1.1': 'HTTP/1.1', '2': 'HTTP/2.0' } as const;
export const cookieType = objectOf('cookie', { name: string, value: string });

export function requestHeaders(visit: PolicyVisit): CelMap {
  return visit.cached('req.headers', visit.headers, () => {
    visit.spend(visit.headers.length * 6);
    return headerMap(visit.headers);
  });
}

export function requestCookies(visit: PolicyVisit): CelMap {
  return visit.cached('req.cookies', visit.headers, () => {
    const cookies = new Map<string, CelMap[]>();
    for (let at = 0; at < visit.headers.length; at += 2) {
      if (visit.headers[at]?.toLowerCase() !== 'cookie') continue;
      for (const pair of (visit.headers[at + 1] ?? '').split(';')) {
        visit.spend(24);
        const mark = pair.indexOf('=');
        if (mark < 0) continue;
        const name = pair.slice(0, mark).trim();
        addTo(cookies, name, CelMap.of({ name, value: toText(pair.slice(mark + 1).trim()) }));
      }
    }
    return new CelMap(cookies, { absent: noValues });
  });
}

export function queryParams(visit: PolicyVisit): CelMap {
  const { query } = requestUrl(visit);
  return visit.cached(
    'req.url.query_params',
    query,
    () => new CelMap(readQuery(query, visit.frame), { absent: noValues }),
  );
}

function header(visit: PolicyVisit, name: string): string | undefined {
  const headers = visit.headersWith(name);
  return visit.cached(name, headers, () => firstOf(headers, name));
}

export function requestHost(visit: PolicyVisit): string {
  return header(visit, 'host') ?? visit.request.host;
}

export const requestVariables: Variables = {
  'req.method': { type: string, isSure: true, get: ({ request }) => request.method },
  'req.host': { type: string, isSure: true, get: requestHost },
  'req.version': { type: string, isSure: true, get: ({ request }) => versions[request.httpVersion] },
  'req.location': { type: string, get: (visit) => header(visit, 'location') },
  'req.headers': { type: headersType, isSure: true, get: requestHeaders },
  'req.cookies': { type: mapOf(string, listOf(cookieType)), isSure: true, get: requestCookies },
  'req.content_length': { type: int, get: (visit) => lengthOf(header(visit, 'content-length')) },
  ...contentVariables('req', header),
  'req.user_agent': { type: string, isSure: true, get: (visit) => header(visit, 'user-agent') ?? '' },
  ...userAgentVariables,
  'req.ts.header_received': { type: timestamp, isSure: true, get: ({ startedMs }) => timestampOf(startedMs) },
  'req.url': { type: string, isSure: true, get: (visit) => textOfUrl(requestUrl(visit)) },
  'req.url.scheme': { type: string, isSure: true, get: (visit) => requestUrl(visit).scheme },
  'req.url.authority': { type: string, isSure: true, get: (visit) => requestUrl(visit).authority },
  'req.url.host': { type: string, isSure: true, get: (visit) => requestUrl(visit).host },
  'req.url.port': {
    type: int,
    get(visit) {
      const { port } = requestUrl(visit);
      return port === undefined ? undefined : BigInt(port);
    },
  },
  'req.url.path': { type: string, isSure: true, get: (visit) => requestUrl(visit).path },
  'req.url.query': { type: string, isSure: true, get: (visit) => requestUrl(visit).query },
  'req.url.uri': { type: string, isSure: true, get: (visit) => uriOf(requestUrl(visit)) },
  'req.url.user_password': { type: string, get: () => undefined },
  'req.url.raw': { type: string, isSure: true, get: (visit) => requestUrl(visit).raw },
  'req.url.raw_path': { type: string, isSure: true, get: (visit) => requestUrl(visit).rawPath },
  'req.url.query_params': { type: mapOf(string, listOf(string)), isSure: true, get: queryParams },
};
