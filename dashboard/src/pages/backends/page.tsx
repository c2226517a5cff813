import { useState } from 'react';

import { SelectField } from '../../components/field.tsx';
import type { PageProps } from '../../components/page.tsx';
import { useMayWrite } from '../../components/rights.tsx';
import { useUrlState } from '../../lib/url-state.ts';
import { CreateDialog } from '../../resource/form.tsx';
import { ListTabs, Rows } from '../../resource/lists.tsx';
import { ResourcePage } from '../../resource/page.tsx';
import { staticBackends } from './static-backends.tsx';
import { tunnelGroups } from './tunnel-groups.tsx';

export function Page({ id }: PageProps) {
  const [params] = useUrlState();
  const mayWrite = useMayWrite();
  if (id !== undefined) {
    return id.startsWith('bkdtg_') ? (
      <ResourcePage key={id} resource={tunnelGroups} id={id} />
    ) : (
      <ResourcePage key={id} resource={staticBackends} id={id} />
    );
  }
  const open = params.get('kind') ?? undefined;
  return (
    <>
      <ListTabs
        title="Backends"
        lead="Where edges send their traffic: an address, or the agents that have a label."
        action="Create backend"
        what="backends"
        label="Kinds of backends"
        path="/backends"
        open={open}
        tabs={[
          { text: 'Addresses', list: 'StaticBackendsList', rows: <Rows listed={staticBackends} /> },
          {
            value: 'tunnel_group',
            text: 'Tunnel groups',
            list: 'TunnelGroupBackendsList',
            rows: <Rows listed={tunnelGroups} />,
          },
        ]}
      />
      {params.has('create') && mayWrite ? <CreateBackend startsWith={open} /> : null}
    </>
  );
}

function CreateBackend({ startsWith }: { readonly startsWith: string | undefined }) {
  const [kind, setKind] = useState(startsWith === 'tunnel_group' ? 'tunnel_group' : 'static');
  const choice = (
    <SelectField
      label="Sends traffic to"
      value={kind}
      options={[
        ['static', 'An address'],
        ['tunnel_group', 'The agents that have a label'],
      ]}
      onChange={setKind}
    />
  );
  return kind === 'static' ? (
    <CreateDialog resource={staticBackends} kind={choice} />
  ) : (
    <CreateDialog resource={tunnelGroups} kind={choice} />
  );
}
