import { UserError } from '../../../errors/user-error.ts';
import type { ModuleTarget } from '../../module.ts';
import { connectPhaseOfRoute, phaseNotForProtocol } from '../errors.ts';
import type { Phase } from '../phases.ts';
import type { Policy } from './read-policy.ts';

const httpPhases: readonly Phase[] = ['on_http_request', 'on_http_response'];

/** Checks that an edge or route comes to all phases that have rules. Throws `UserError`. */
export function checkTarget({ rules }: Policy, target: ModuleTarget): void {
  if (target === 'https_route' && rules.on_tcp_connect.length > 0) throw new UserError(connectPhaseOfRoute);
  if (target !== 'tcp_edge' && target !== 'tls_edge') return;
  checkPhases(rules, httpPhases, target === 'tcp_edge' ? 'a TCP edge' : 'a TLS edge');
}

function checkPhases(rules: Policy['rules'], never: readonly Phase[], what: string): void {
  const found = never.find((phase) => rules[phase].length > 0);
  if (found !== undefined) throw new UserError(phaseNotForProtocol, { phase: found, what, phases: 'on_tcp_connect' });
}
