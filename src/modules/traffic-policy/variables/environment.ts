import type { Environment, Overload, Variable } from '../../../lib/cel/environment.ts';
import { functions } from '../../../lib/cel/functions/index.ts';
import { any, listOf, objectOf, string } from '../../../lib/cel/types.ts';
import type { Value } from '../../../lib/cel/values.ts';
import { errorField } from '../actions/failure-result.ts';
import { actions } from '../actions/index.ts';
import type { Phase } from '../phases.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';
import { clientCertificateVariables } from './client-certificate.ts';
import { connectionVariables } from './connection.ts';
import { ofAnyPhase, ofRequests, ofResponses } from './functions.ts';
import { whyNotOffered } from './not-offered.ts';
import { placeVariables } from './places.ts';
import { requestVariables } from './request.ts';
import { responseVariables } from './response.ts';
import type { Variables } from './variable.ts';

type Functions = Readonly<Record<string, readonly Overload<PolicyVisit>[]>>;

const everywhere: Variables = {
  ...connectionVariables,
  ...clientCertificateVariables,
  'time.now': { type: string, isSure: true, get: () => new Date().toISOString().replace(/\.\d{3}Z$/, 'Z') },
};

/** Results of actions, under the vendor's name and our own. */
function resultVariables(): Variables {
  return Object.fromEntries(
    actions.flatMap(({ result }) => {
      if (result === undefined) return [];
      const { name, fields } = result;
      const variable = { type: objectOf(name, fields), get: (visit: PolicyVisit) => visit.result(name) };
      return [
        [`actions.ngrok.${name}`, variable],
        [`actions.gatehouse.${name}`, variable],
      ];
    }),
  );
}

/** Results of `terminate-tls`: what was agreed on. A handshake that fails comes to no rule. */
function resultsOfTls(variables: Variables): Variables {
  const agreed = Object.entries(variables).flatMap(([name, variable]) =>
    name.startsWith('conn.tls.') ? [[name.slice('conn.tls'.length), variable] as const] : [],
  );
  const own = [
    ['.error', { type: errorField, get: () => undefined }],
    ['.warnings', { type: listOf(string), get: () => [] }],
  ] as const;
  const all = ['ngrok', 'gatehouse'].flatMap((vendor) =>
    [...agreed, ...own].map(([field, variable]) => [`actions.${vendor}.terminate_tls${field}`, variable] as const),
  );
  return Object.fromEntries(all);
}

const made = new Map<string, Environment<PolicyVisit>>();

/** What expressions of a phase may name. Places of visitors are known only if the operator has named a database of them. */
export function environmentOf(phase: Phase): Environment<PolicyVisit> {
  const known = made.get(phase) ?? makeEnvironment(phase);
  made.set(phase, known);
  return known;
}

function makeEnvironment(phase: Phase): Environment<PolicyVisit> {
  const isHttp = phase !== 'on_tcp_connect';
  const isAnswer = phase === 'on_http_response';
  const variables: Variables = {
    ...everywhere,
    ...placeVariables,
    ...resultVariables(),
    ...resultsOfTls(everywhere),
    ...(isHttp ? requestVariables : {}),
    ...(isAnswer ? responseVariables : {}),
  };
  const own: Functions = {
    ...ofAnyPhase,
    ...(isHttp ? ofRequests : {}),
    ...(isAnswer ? ofResponses : {}),
  };
  return {
    variables: new Map(Object.entries(variables)),
    free: new Map([['vars', variableOf]]),
    functions: new Map<string, readonly Overload<PolicyVisit>[]>([...functions, ...Object.entries(own)]),
    notOffered: whyNotOffered(phase),
  };
}

function variableOf(name: string): Variable<PolicyVisit> {
  return { type: any, get: ({ vars }): Value | undefined => vars.get(name) };
}
