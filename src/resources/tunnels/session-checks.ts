import type { AgentSession } from '../../agents/server/agent-session.ts';
import type { AgentTunnel } from '../../agents/server/agent-tunnel.ts';
import type { AccessTable } from '../../snapshot/access.ts';
import type { AgentCredential, AgentCredentials } from '../credentials/service.ts';

/** Kinds of changes after which a credential may no longer let its agents in. */
export const credentialKinds: ReadonlySet<string> = new Set(['credential', 'user', 'bot_user']);

export interface SessionChecks {
  readonly access: Pick<AccessTable, 'admit'>;
  readonly credentials: AgentCredentials;
}

/** The reason why an agent that is connected would now be refused, or undefined. `isOfCredential`: its credential may have changed. */
export async function findRefusal(
  session: AgentSession,
  isOfCredential: boolean,
  { access, credentials }: SessionChecks,
): Promise<{ readonly reason: string } | { readonly credential: AgentCredential | undefined }> {
  const { admission, source } = session.facts;
  const { accountId, credentialId } = admission;
  const { refusedBy } = access.admit(accountId, 'agent', source.ip);
  if (refusedBy !== undefined) return { reason: `agents may no longer connect from ${source.text}` };
  if (!isOfCredential) return { credential: undefined };
  const credential = await credentials.find(accountId, credentialId);
  if (credential === undefined) return { reason: 'its credential was deleted, or the owner of it was deactivated' };
  return { credential };
}

/** Tunnels of the session that the acl of its credential does not allow any more. */
export function tunnelsOutside(session: AgentSession, { acl }: AgentCredential): readonly AgentTunnel[] {
  return [...session.tunnels.values()].filter(({ request, url }) => {
    if (request.kind === 'labels') return !acl.allowsLabels(request.labels);
    const { hostname, port, protocol } = new URL(url);
    // A URL without a port of its own is one of HTTPS.
    return protocol === 'tcp:' ? !acl.allowsAddress(hostname, Number(port)) : !acl.allowsName(hostname);
  });
}
