import { useEffect, useMemo } from 'react';

import type { OperationId } from '../../../../client/src/index.ts';
import { useLive } from '../../api/live.ts';
import type { PageProps } from '../../components/page.tsx';
import { useMayWrite } from '../../components/rights.tsx';
import { useUrlState } from '../../lib/url-state.ts';
import { CreateDialog } from '../../resource/form.tsx';
import { ListTabs, Rows } from '../../resource/lists.tsx';
import { ResourcePage } from '../../resource/page.tsx';
import { credentials } from './credentials.tsx';
import { endpoints } from './endpoint-list.tsx';
import { SessionDetail } from './session-detail.tsx';
import { sessions } from './session-list.tsx';
import { tunnels } from './tunnel-list.tsx';

/** Agents come and go by themselves. */
const live: readonly OperationId[] = ['TunnelSessionsList', 'TunnelSessionsGet', 'TunnelsList', 'EndpointsList'];

export function Page({ id }: PageProps) {
  useLive(live);
  // Tunnels and endpoints have no page of their own: the list shows the one.
  const found = useMemo(() => listOf(id), [id]);
  if (id === undefined || found !== undefined) return <AgentLists {...(found === undefined ? {} : { found })} />;
  return id.startsWith('cr_') ? (
    <ResourcePage key={id} resource={credentials} id={id} />
  ) : (
    <SessionDetail key={id} id={id} />
  );
}

interface Found {
  readonly tab: 'tunnels' | 'endpoints';
  readonly id: string;
}

function listOf(id: string | undefined): Found | undefined {
  if (id?.startsWith('tn_') === true) return { tab: 'tunnels', id };
  return id?.startsWith('ep_') === true ? { tab: 'endpoints', id } : undefined;
}

function AgentLists({ found }: { readonly found?: Found }) {
  const [params, setParams] = useUrlState();
  const mayWrite = useMayWrite();
  const id = found?.id;
  const isNamed = params.has('q');
  useEffect(() => {
    if (id !== undefined && !isNamed) setParams({ q: id });
  }, [id, isNamed, setParams]);
  return (
    <>
      <ListTabs
        title="Agents"
        lead="Programs behind NAT that keep a connection to Gatehouse and serve visitors through it."
        action="Connect an agent"
        label="Agents"
        path="/agents"
        param="tab"
        open={found?.tab ?? params.get('tab') ?? undefined}
        tabs={[
          { text: 'Sessions', list: 'TunnelSessionsList', rows: <Rows listed={sessions} /> },
          { value: 'tunnels', text: 'Tunnels', list: 'TunnelsList', rows: <Rows listed={tunnels} /> },
          { value: 'endpoints', text: 'Endpoints', list: 'EndpointsList', rows: <Rows listed={endpoints} /> },
          { value: 'credentials', text: 'Credentials', list: 'CredentialsList', rows: <Rows listed={credentials} /> },
        ]}
      />
      {params.has('create') && mayWrite ? <CreateDialog resource={credentials} /> : null}
    </>
  );
}
