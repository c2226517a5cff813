import type { TunnelKind } from '../agent-client/target.ts';

/** Commands that run our own agent. */
const agentNames: ReadonlySet<string> = new Set<TunnelKind>(['http', 'tcp', 'tls']);

/** Commands and groups for the machine of the service alone; `check` is another name of `doctor`. */
const hostNames = new Set('serve doctor check accounts ca keys restrictions backup restore move'.split(' '));

/** True for the name of a command that needs nothing of the service. */
export function isAgentCommand(name: string): boolean {
  return agentNames.has(name);
}

/** True for the name of a command that needs nothing of those that talk to a server. */
export function isHostCommand(name: string): boolean {
  return hostNames.has(name);
}
