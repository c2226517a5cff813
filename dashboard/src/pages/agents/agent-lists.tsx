import { useEffect } from 'react';

import { useList } from '../../api/queries.ts';
import { Button } from '../../components/button.tsx';
import { PageHead, Tabs } from '../../components/page.tsx';
import { useMayWrite } from '../../components/rights.tsx';
import { useUrlState } from '../../lib/url-state.ts';
import { CreateCredential } from './create-credential.tsx';
import { CredentialList } from './credential-list.tsx';
import { EndpointList } from './endpoint-list.tsx';
import { SessionList } from './session-list.tsx';
import { TunnelList } from './tunnel-list.tsx';

type Tab = 'sessions' | 'tunnels' | 'endpoints' | 'credentials';

export function AgentLists({ found }: { readonly found?: { readonly tab: Tab; readonly id: string } }) {
  const [params, setParams] = useUrlState();
  const mayWrite = useMayWrite();
  const open = found?.tab ?? params.get('tab') ?? 'sessions';
  const { data: sessions } = useList('TunnelSessionsList');
  const { data: tunnels } = useList('TunnelsList');
  const { data: endpoints } = useList('EndpointsList');
  const { data: credentials } = useList('CredentialsList');
  const id = found?.id;
  const isNamed = params.has('q');
  useEffect(() => {
    if (id !== undefined && !isNamed) setParams({ q: id });
  }, [id, isNamed, setParams]);
  return (
    <>
      <PageHead
        title="Agents"
        lead="Programs behind NAT that hold a connection to Gatehouse and serve through it."
        actions={
          mayWrite ? (
            <Button look="primary" icon="plus" shortcut="c" onClick={() => setParams({ create: '1' })}>
              Connect an agent
            </Button>
          ) : undefined
        }
      />
      <Tabs
        label="Agents"
        tabs={[
          { to: '/agents', text: 'Sessions', count: sessions?.length, isOpen: open === 'sessions' },
          { to: '/agents?tab=tunnels', text: 'Tunnels', count: tunnels?.length, isOpen: open === 'tunnels' },
          { to: '/agents?tab=endpoints', text: 'Endpoints', count: endpoints?.length, isOpen: open === 'endpoints' },
          {
            to: '/agents?tab=credentials',
            text: 'Credentials',
            count: credentials?.length,
            isOpen: open === 'credentials',
          },
        ]}
      />
      {open === 'sessions' ? <SessionList /> : null}
      {open === 'tunnels' ? <TunnelList /> : null}
      {open === 'endpoints' ? <EndpointList /> : null}
      {open === 'credentials' ? <CredentialList /> : null}
      {params.has('create') && mayWrite ? <CreateCredential onClose={() => setParams({ create: undefined })} /> : null}
    </>
  );
}
