import type { TunnelKind } from '../agent-client/target.ts';

/** Commands that run our own agent. */
const agentNames: ReadonlySet<string> = new Set<TunnelKind>(['http', 'tcp', 'tls']);

/** True for the name of a command that needs nothing of the service. */
export function isAgentCommand(name: string): boolean {
  return agentNames.has(name);
}
