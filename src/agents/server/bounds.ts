import { agentStreamsInUse } from '../../errors/shared.ts';
import type { ErrorDefinition } from '../../errors/user-error.ts';
import type { BoundReports } from '../../lib/bound-reports.ts';
import { signInTooLarge, signInTooLate, tooManyPending, tooMuchUnread } from '../errors.ts';
import type { AgentSession } from './agent-session.ts';
import type { AgentLimits } from './limits.ts';

/** Names of bounds as metrics and the log show them: those of their settings. */
export type AgentBound =
  | 'agent_max_sessions'
  | 'agent_max_tunnels'
  | 'agent_max_streams'
  | 'agent_rust_streams'
  | 'agent_unread_mib'
  | 'agent_auth_seconds'
  | 'agent_auth_kib'
  | 'agent_pending';

export type AgentBoundReports = BoundReports<AgentBound>;

/** The errors that the log names. Undefined: the agent itself is answered with the error. */
export const agentBoundErrors: Readonly<Record<AgentBound, ErrorDefinition<never> | undefined>> = {
  agent_max_sessions: undefined,
  agent_max_tunnels: undefined,
  agent_max_streams: agentStreamsInUse,
  agent_rust_streams: agentStreamsInUse,
  agent_unread_mib: tooMuchUnread,
  agent_auth_seconds: signInTooLate,
  agent_auth_kib: signInTooLarge,
  agent_pending: tooManyPending,
};

const kibibyte = 1024;
const mebibyte = 1024 * 1024;

/** The bounds of a listener's sessions, which it holds in these. */
export function watchSessions(
  reports: AgentBoundReports,
  limits: AgentLimits,
  sessions: ReadonlySet<AgentSession>,
): void {
  const most = (read: (session: AgentSession) => number): number => {
    let found = 0;
    for (const session of sessions) found = Math.max(found, read(session));
    return found;
  };
  const streamsOf = (family: 'rust' | 'other') =>
    most(({ facts, streams }) => (facts.agent.family === family ? streams : 0));
  const { streamsPerSession, tunnelsPerSession, unreadBytes, authMs, authBytes } = limits;
  reports.watch('agent_max_tunnels', tunnelsPerSession, () => most(({ tunnels }) => tunnels.size));
  reports.watch('agent_max_streams', streamsPerSession.other, () => streamsOf('other'));
  reports.watch('agent_rust_streams', streamsPerSession.rust, () => streamsOf('rust'));
  reports.watch('agent_unread_mib', unreadBytes / mebibyte, () => most(({ unreadBytes: held }) => held) / mebibyte);
  reports.watch('agent_auth_seconds', authMs / 1000);
  reports.watch('agent_auth_kib', authBytes / kibibyte);
}
