import { bool, duration, int, listOf, mapOf, objectOf, string, timestamp } from '../../../lib/cel/types.ts';
import { CelMap, Duration } from '../../../lib/cel/values.ts';
import type { Value } from '../../../lib/cel/values.ts';
import { addTo } from '../../../lib/lists-by-key.ts';
import type { HeaderList } from '../../step.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';
import { timestampOf } from './connection.ts';
import { contentVariables, firstOf, headerMap, headersType, noValues, toText } from './header-values.ts';
import type { Variables } from './variable.ts';

export const setCookieType = objectOf('cookie', {
  name: string,
  value: string,
  path: string,
  domain: string,
  same_site: string,
  secure: bool,
  http_only: bool,
  expires: timestamp,
  max_age: duration,
  unparsed_attributes: mapOf(string, string),
});

const noHeaders: HeaderList = [];

function headersOf({ answer }: PolicyVisit): HeaderList {
  return answer?.headers ?? noHeaders;
}

export function responseHeaders(visit: PolicyVisit): CelMap {
  const headers = headersOf(visit);
  return visit.cached('res.headers', headers, () => {
    visit.spend(headers.length * 6);
    return headerMap(headers);
  });
}

/** Cookies that the answer sets. Of several of one name the one with the longest path comes first. */
export function responseCookies(visit: PolicyVisit): CelMap {
  const headers = headersOf(visit);
  return visit.cached('res.cookies', headers, () => {
    const cookies = new Map<string, SetCookie[]>();
    for (let at = 0; at < headers.length; at += 2) {
      if (headers[at]?.toLowerCase() !== 'set-cookie') continue;
      visit.spend(20);
      const cookie = readCookie(toText(headers[at + 1] ?? ''));
      addTo(cookies, cookie.name, cookie);
    }
    const sorted = Array.from(cookies, ([name, all]) => {
      const longestFirst = all.toSorted((one, other) => other.pathLength - one.pathLength);
      return [name, longestFirst.map(({ value }) => value)] as const;
    });
    return new CelMap(sorted, { absent: noValues });
  });
}

interface SetCookie {
  readonly name: string;
  readonly pathLength: number;
  readonly value: CelMap;
}

function readCookie(text: string): SetCookie {
  const [pair = '', ...attributes] = text.split(';');
  const [name, value] = cut(pair);
  const fields: Record<string, Value> = { name, value, secure: false, http_only: false };
  const others: (readonly [string, string])[] = [];
  for (const attribute of attributes) {
    const [given, of] = cut(attribute);
    const lower = given.toLowerCase();
    if (lower === 'secure') fields['secure'] = true;
    else if (lower === 'httponly') fields['http_only'] = true;
    else if (lower === 'path' || lower === 'domain') fields[lower] = of;
    else if (lower === 'samesite') fields['same_site'] = of;
    else if (lower === 'max-age' && /^-?\d{1,10}$/.test(of))
      fields['max_age'] = new Duration(BigInt(of) * 1_000_000_000n);
    else if (lower === 'expires' && !Number.isNaN(Date.parse(of))) fields['expires'] = timestampOf(Date.parse(of));
    else others.push([given, of]);
  }
  const path = fields['path'];
  return {
    name,
    pathLength: typeof path === 'string' ? path.length : 0,
    value: CelMap.of({ ...fields, unparsed_attributes: new CelMap(others) }),
  };
}

function cut(pair: string): readonly [name: string, value: string] {
  const mark = pair.indexOf('=');
  return mark < 0 ? [pair.trim(), ''] : [pair.slice(0, mark).trim(), pair.slice(mark + 1).trim()];
}

function header(visit: PolicyVisit, name: string): string | undefined {
  return firstOf(headersOf(visit), name);
}

export const responseVariables: Variables = {
  'res.status_code': { type: int, isSure: true, get: ({ answer }) => BigInt(answer?.status ?? 0) },
  'res.content_length': {
    type: int,
    get: ({ answer }) => (answer?.contentLength === undefined ? undefined : BigInt(answer.contentLength)),
  },
  'res.location': { type: string, get: (visit) => header(visit, 'location') },
  'res.headers': { type: headersType, isSure: true, get: responseHeaders },
  'res.cookies': { type: mapOf(string, listOf(setCookieType)), isSure: true, get: responseCookies },
  ...contentVariables('res', header),
};
