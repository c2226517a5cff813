import { UserError } from '../../../errors/user-error.ts';
import type { ModuleTarget } from '../../module.ts';
import {
  actionNotForProtocol,
  connectPhaseOfInternal,
  connectPhaseOfRoute,
  phaseNotForProtocol,
  trafficNotEnded,
} from '../errors.ts';
import type { Phase } from '../phases.ts';
import type { Policy } from './read-policy.ts';

const httpPhases: readonly Phase[] = ['on_http_request', 'on_http_response'];

/** Checks that an edge or route comes to all phases that have rules. Throws `UserError`. */
export function checkTarget({ rules }: Policy, target: ModuleTarget): void {
  if (target === 'https_route' && rules.on_tcp_connect.length > 0) throw new UserError(connectPhaseOfRoute);
  if (target !== 'tcp_edge' && target !== 'tls_edge') return;
  checkPhases(rules, httpPhases, target === 'tcp_edge' ? 'a TCP edge' : 'a TLS edge');
  if (target === 'tcp_edge') refuseTermination(rules, 'tcp', 'TLS ends at TLS edges and HTTPS endpoints');
}

/** Something of its own that has a policy, and is neither an edge nor a route. */
export interface PolicyHolder {
  readonly scheme: 'http' | 'https' | 'tcp' | 'tls';
  /** True: others forward to it. */
  readonly isInternal: boolean;
  /** True: nothing is behind it but its policy, which must end every visit. */
  readonly isCloud: boolean;
}

/** Checks that an endpoint can carry the policy out. Throws `UserError`. */
export function checkHolder({ rules }: Policy, { scheme, isInternal, isCloud }: PolicyHolder): void {
  const isHttp = scheme === 'http' || scheme === 'https';
  if (!isHttp) checkPhases(rules, httpPhases, `an endpoint of ${scheme}`);
  if (isInternal) refuseTermination(rules, 'an internal name', 'TLS ends at the endpoint that forwards to it');
  else if (scheme === 'tcp' || scheme === 'http')
    refuseTermination(rules, scheme, 'TLS ends at endpoints of tls and https');
  if (isHttp && isInternal && rules.on_tcp_connect.length > 0) throw new UserError(connectPhaseOfInternal);
  for (const { actions } of rules.on_tcp_connect)
    for (const { type, path } of actions)
      if (isHttp && type === 'forward-internal')
        throw new UserError(actionNotForProtocol, {
          type,
          path,
          scheme,
          remedy: 'Forward requests in on_http_request',
        });
  if (!isCloud) return;
  const phase = isHttp ? 'on_http_request' : 'on_tcp_connect';
  const ends = [...rules.on_tcp_connect, ...rules[phase]].some(
    ({ conditions, actions }) => conditions.length === 0 && actions.at(-1)?.built.ends === true,
  );
  if (!ends) throw new UserError(trafficNotEnded, { phase });
}

function refuseTermination({ on_tcp_connect: rules }: Policy['rules'], scheme: string, remedy: string): void {
  const found = rules.flatMap(({ actions }) => actions).find(({ type }) => type === 'terminate-tls');
  if (found !== undefined)
    throw new UserError(actionNotForProtocol, { type: found.type, path: found.path, scheme, remedy });
}

function checkPhases(rules: Policy['rules'], never: readonly Phase[], what: string): void {
  const found = never.find((phase) => rules[phase].length > 0);
  if (found !== undefined) throw new UserError(phaseNotForProtocol, { phase: found, what, phases: 'on_tcp_connect' });
}
