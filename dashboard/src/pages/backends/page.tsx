import { useState } from 'react';

import { SelectField } from '../../components/field.tsx';
import type { PageProps } from '../../components/page.tsx';
import { useMayWrite } from '../../components/rights.tsx';
import { useUrlState } from '../../lib/url-state.ts';
import { CreateDialog } from '../../resource/form.tsx';
import { ListTabs, Rows } from '../../resource/lists.tsx';
import { ResourcePage } from '../../resource/page.tsx';
import { kindOfBackend } from '../../parts/backends.ts';
import { failoverBackends, weightedBackends } from './group-backends.tsx';
import { httpResponses } from './http-responses.tsx';
import { staticBackends } from './static-backends.tsx';
import { tunnelGroups } from './tunnel-groups.tsx';

export function Page({ id }: PageProps) {
  const [params] = useUrlState();
  const mayWrite = useMayWrite();
  if (id !== undefined) return <BackendPage key={id} id={id} />;
  const open = params.get('kind') ?? undefined;
  return (
    <>
      <ListTabs
        title="Backends"
        lead="Where edges send their traffic: an address, the agents that have a label, a fixed answer, or a choice among others."
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
          {
            value: 'weighted',
            text: 'Weighted',
            list: 'WeightedBackendsList',
            rows: <Rows listed={weightedBackends} />,
          },
          {
            value: 'failover',
            text: 'Failover',
            list: 'FailoverBackendsList',
            rows: <Rows listed={failoverBackends} />,
          },
          {
            value: 'http_response',
            text: 'Fixed answers',
            list: 'HttpResponseBackendsList',
            rows: <Rows listed={httpResponses} />,
          },
        ]}
      />
      {params.has('create') && mayWrite ? <CreateBackend startsWith={open} /> : null}
    </>
  );
}

function BackendPage({ id }: { readonly id: string }) {
  const kind = kindOfBackend(id);
  if (kind === 'tunnel_group') return <ResourcePage resource={tunnelGroups} id={id} />;
  if (kind === 'weighted') return <ResourcePage resource={weightedBackends} id={id} />;
  if (kind === 'failover') return <ResourcePage resource={failoverBackends} id={id} />;
  if (kind === 'http_response') return <ResourcePage resource={httpResponses} id={id} />;
  return <ResourcePage resource={staticBackends} id={id} />;
}

const kinds = [
  ['static', 'An address'],
  ['tunnel_group', 'The agents that have a label'],
  ['weighted', 'One of several backends, by weight'],
  ['failover', 'The first of several backends that can be reached'],
  ['http_response', 'Nowhere: a fixed answer'],
] as const;

function CreateBackend({ startsWith }: { readonly startsWith: string | undefined }) {
  const [kind, setKind] = useState<string>(kinds.find(([each]) => each === startsWith)?.[0] ?? 'static');
  const choice = <SelectField label="Sends traffic to" value={kind} options={kinds} onChange={setKind} />;
  if (kind === 'tunnel_group') return <CreateDialog resource={tunnelGroups} kind={choice} />;
  if (kind === 'weighted') return <CreateDialog resource={weightedBackends} kind={choice} />;
  if (kind === 'failover') return <CreateDialog resource={failoverBackends} kind={choice} />;
  if (kind === 'http_response') return <CreateDialog resource={httpResponses} kind={choice} />;
  return <CreateDialog resource={staticBackends} kind={choice} />;
}
