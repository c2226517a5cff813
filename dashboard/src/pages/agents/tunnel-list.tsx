import { Link } from 'wouter';

import type { Tunnel } from '../../../../client/src/index.ts';
import { CopyButton } from '../../components/copy.tsx';
import type { Column } from '../../components/table.tsx';
import { labelsText } from '../../parts/backends.ts';
import { timeColumn } from '../../resource/columns.tsx';
import type { Listed, Rows } from '../../resource/describe.ts';

/** Where visitors reach it, or the labels by which a tunnel group finds it. */
export function servedAt({ public_url: url, labels }: Tunnel): string {
  return url ?? labelsText(labels ?? {});
}

export const tunnelColumns: readonly Column<Tunnel>[] = [
  {
    id: 'serves',
    head: 'Serves',
    width: '40%',
    sortBy: servedAt,
    cell: (tunnel) => (
      <>
        <span className="row">
          <code className="main" title={servedAt(tunnel)}>
            {servedAt(tunnel)}
          </code>
          {tunnel.public_url === undefined ? null : <CopyButton text={tunnel.public_url} />}
        </span>
        <span className="sub m1 mono">{tunnel.forwards_to}</span>
      </>
    ),
  },
  {
    id: 'forwards',
    head: 'Forwards to',
    width: '24%',
    priority: 'p1',
    sortBy: ({ forwards_to: to }) => to,
    cell: ({ forwards_to: to }) => <code className="main">{to}</code>,
  },
  {
    id: 'kind',
    head: 'Kind',
    sortBy: ({ proto }) => proto ?? 'labels',
    cell: ({ proto, backends = [] }) =>
      proto === undefined ? <LabelsOf backends={backends} /> : <span className="soft">{proto.toUpperCase()}</span>,
  },
  timeColumn('Opened', ({ started_at: at }) => at),
];

function LabelsOf({ backends: [first] }: { readonly backends: readonly { readonly id: string }[] }) {
  return first === undefined ? (
    <span className="muted nowrap">labels, in no group</span>
  ) : (
    <Link className="nowrap" to={`/backends/${first.id}`}>
      labels, in a group
    </Link>
  );
}

const rows: Rows<Tunnel> = {
  columns: tunnelColumns,
  filters: [
    {
      name: 'kind',
      label: 'Kind',
      options: { http: 'HTTP', https: 'HTTPS', tcp: 'TCP', tls: 'TLS', labels: 'labels' },
      matches: ({ proto }, value) => (proto ?? 'labels') === value,
    },
  ],
  searchText: (tunnel) => `${servedAt(tunnel)} ${tunnel.forwards_to} ${tunnel.id} ${tunnel.metadata}`,
};

export const tunnels: Listed<'TunnelsList'> = {
  list: 'TunnelsList',
  noun: ['tunnel', 'tunnels'],
  icon: 'agent',
  hrefOf: ({ tunnel_session: session }) => `/agents/${session.id}`,
  filterHint: 'URL, label, target or id',
  whenEmpty: ['No tunnels', 'A tunnel is what one agent serves: a name, a port, or a label.'],
  Rows: ({ render }) => render(rows),
};
