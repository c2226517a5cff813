import { useMemo } from 'react';

import type { OperationId } from '../../../../client/src/index.ts';
import { useLive } from '../../api/live.ts';
import type { PageProps } from '../../components/page.tsx';
import { AgentLists } from './agent-lists.tsx';
import { CredentialDetail } from './credential-detail.tsx';
import { SessionDetail } from './session-detail.tsx';

/** Agents come and go by themselves. */
const live: readonly OperationId[] = ['TunnelSessionsList', 'TunnelSessionsGet', 'TunnelsList', 'EndpointsList'];

export function Page({ id }: PageProps) {
  useLive(live);
  // Tunnels and endpoints have no page of their own: the list shows the one.
  const found = useMemo(() => listOf(id), [id]);
  if (id === undefined || found !== undefined) return <AgentLists {...(found === undefined ? {} : { found })} />;
  return id.startsWith('cr_') ? <CredentialDetail key={id} id={id} /> : <SessionDetail key={id} id={id} />;
}

function listOf(id: string | undefined): { readonly tab: 'tunnels' | 'endpoints'; readonly id: string } | undefined {
  if (id?.startsWith('tn_') === true) return { tab: 'tunnels', id };
  return id?.startsWith('ep_') === true ? { tab: 'endpoints', id } : undefined;
}
