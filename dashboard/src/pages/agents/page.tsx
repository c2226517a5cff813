import { useEffect } from 'react';

import type { OperationId } from '../../../../client/src/index.ts';
import { useLive } from '../../api/live.ts';
import type { PageProps } from '../../components/page.tsx';
import { useMayWrite } from '../../components/rights.tsx';
import { useUrlState } from '../../lib/url-state.ts';
import { CreateDialog } from '../../resource/form.tsx';
import { ListTabs, Rows } from '../../resource/lists.tsx';
import { ResourcePage } from '../../resource/page.tsx';
import { credentials } from './credentials.tsx';
import { SessionDetail } from './session-detail.tsx';
import { sessions } from './session-list.tsx';
import { tunnels } from './tunnel-list.tsx';

/** Agents come and go by themselves. */
const live: readonly OperationId[] = ['TunnelSessionsList', 'TunnelSessionsGet', 'TunnelsList'];

export function Page({ id }: PageProps) {
  useLive(live);
  // Tunnels have no page of their own: the list shows the one.
  const tunnel = id?.startsWith('tn_') === true ? id : undefined;
  if (id === undefined || tunnel !== undefined) return <AgentLists tunnel={tunnel} />;
  return id.startsWith('cr_') ? (
    <ResourcePage key={id} resource={credentials} id={id} />
  ) : (
    <SessionDetail key={id} id={id} />
  );
}

function AgentLists({ tunnel }: { readonly tunnel: string | undefined }) {
  const [params, setParams] = useUrlState();
  const mayWrite = useMayWrite();
  const isNamed = params.has('q');
  useEffect(() => {
    if (tunnel !== undefined && !isNamed) setParams({ q: tunnel });
  }, [tunnel, isNamed, setParams]);
  return (
    <>
      <ListTabs
        title="Agents"
        lead="Programs behind NAT that keep a connection to Gatehouse and serve visitors through it."
        action="Connect an agent"
        label="Agents"
        path="/agents"
        param="tab"
        open={tunnel === undefined ? (params.get('tab') ?? undefined) : 'tunnels'}
        tabs={[
          { text: 'Sessions', list: 'TunnelSessionsList', rows: <Rows listed={sessions} /> },
          { value: 'tunnels', text: 'Tunnels', list: 'TunnelsList', rows: <Rows listed={tunnels} /> },
          { value: 'credentials', text: 'Credentials', list: 'CredentialsList', rows: <Rows listed={credentials} /> },
        ]}
      />
      {params.has('create') && mayWrite ? <CreateDialog resource={credentials} /> : null}
    </>
  );
}
