import { quote } from '../../../errors/user-error.ts';
import type { Overload, Work } from '../../../lib/cel/environment.ts';
import { bool, listOf, string } from '../../../lib/cel/types.ts';
import type { Type } from '../../../lib/cel/types.ts';
import { asList } from '../../../lib/cel/values.ts';
import type { CelMap, Value } from '../../../lib/cel/values.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';
import { cookieType, queryParams, requestCookies, requestHeaders } from './request.ts';
import { responseCookies, responseHeaders, setCookieType } from './response.ts';

type Functions = Readonly<Record<string, readonly Overload<PolicyVisit>[]>>;
type Find = (visit: PolicyVisit) => CelMap;

function plain(
  count: number,
  result: Type,
  run: (texts: readonly string[], work: Work<PolicyVisit>) => Value,
): readonly Overload<PolicyVisit>[] {
  return [
    {
      isMethod: false,
      parameters: Array.from({ length: count }, () => string),
      result,
      // Arguments are of the types of the parameters whenever it is called.
      run: (values, work) => run(values as readonly string[], work),
    },
  ];
}

const listIn = (find: Find) => plain(1, listOf(string), ([name = ''], { subject }) => find(subject).find(name) ?? []);
const hasIn = (find: Find) => plain(1, bool, ([name = ''], { subject }) => find(subject).get(name) !== undefined);
const firstIn = (find: Find, type: Type) =>
  plain(1, type, ([name = ''], work) => {
    const [first] = asList(find(work.subject).find(name) ?? []) ?? [];
    if (first === undefined) throw work.fault(`there is no cookie ${JSON.stringify(name.slice(0, 60))}`);
    return first;
  });

export const ofRequests: Functions = {
  getReqHeader: listIn(requestHeaders),
  hasReqHeader: hasIn(requestHeaders),
  getReqCookie: firstIn(requestCookies, cookieType),
  hasReqCookie: hasIn(requestCookies),
  getQueryParam: listIn(queryParams),
  hasQueryParam: hasIn(queryParams),
};

export const ofResponses: Functions = {
  getResHeader: listIn(responseHeaders),
  hasResHeader: hasIn(responseHeaders),
  getResCookie: firstIn(responseCookies, setCookieType),
  hasResCookie: hasIn(responseCookies),
};

export const ofAnyPhase: Functions = {
  'secrets.get': plain(2, string, ([vault = '', name = ''], work) => {
    const { accountId, services } = work.subject.engine;
    const value = services.secrets.get(accountId, vault, name);
    if (value === undefined) {
      const detail = `there is no secret ${quote(name)} in a vault ${quote(vault)}`;
      throw work.fault('a secret that it names is missing', detail);
    }
    return value;
  }),
};
