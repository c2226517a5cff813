import { Link } from 'wouter';

import type { Tunnel } from '../../../../client/src/index.ts';
import { CopyButton } from '../../components/copy.tsx';
import { ListRows } from '../../components/list-page.tsx';
import type { ChoiceFilter } from '../../components/list-search.ts';
import type { Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { labelsText } from '../../parts/backends.ts';

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
  {
    id: 'opened',
    head: 'Opened',
    priority: 'p2',
    isNumber: true,
    sortBy: ({ started_at: at }) => at,
    cell: ({ started_at: at }) => <Time at={at} />,
  },
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

const filters: readonly ChoiceFilter<Tunnel>[] = [
  {
    name: 'kind',
    label: 'Kind',
    options: [
      ['http', 'HTTP'],
      ['https', 'HTTPS'],
      ['tcp', 'TCP'],
      ['tls', 'TLS'],
      ['labels', 'labels'],
    ],
    matches: ({ proto }, value) => (proto ?? 'labels') === value,
  },
];

export function TunnelList() {
  return (
    <ListRows
      list="TunnelsList"
      noun={['tunnel', 'tunnels']}
      columns={tunnelColumns}
      filters={filters}
      filterHint="URL, label, target or id"
      searchText={textOf}
      keyOf={({ id }) => id}
      hrefOf={({ tunnel_session: session }) => `/agents/${session.id}`}
      icon="agent"
      whenEmpty={{ title: 'No tunnels', text: 'A tunnel is what one agent serves: a name, a port, or a label.' }}
    />
  );
}

const textOf = (tunnel: Tunnel): string => `${servedAt(tunnel)} ${tunnel.forwards_to} ${tunnel.id} ${tunnel.metadata}`;
