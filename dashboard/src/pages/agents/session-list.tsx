import { useMemo } from 'react';
import { Link } from 'wouter';

import type { TunnelSession } from '../../../../client/src/index.ts';
import { useList } from '../../api/queries.ts';
import type { Column } from '../../components/table.tsx';
import { FirstOf, timeColumn } from '../../resource/columns.tsx';
import type { Listed, RowsProps } from '../../resource/describe.ts';
import { useCredentialName } from '../../parts/credential-names.ts';
import { servedAt } from './tunnel-list.tsx';

export const sessions: Listed<'TunnelSessionsList'> = {
  list: 'TunnelSessionsList',
  noun: ['session', 'sessions'],
  icon: 'agent',
  hrefOf: ({ id }) => `/agents/${id}`,
  filterHint: 'Credential, address, URL or version',
  whenEmpty: [
    'No agent is connected',
    'An agent signs in with the token of a credential, and serves a program that has no address of its own.',
  ],
  footNote: 'A session is here while its agent is connected. A silent agent is dropped, and comes back by itself.',
  Rows: SessionRows,
};

function SessionRows({ render }: RowsProps<TunnelSession>) {
  const name = useCredentialName();
  const { data: tunnels } = useList('TunnelsList');
  const served = useMemo(() => {
    const bySession = Map.groupBy(tunnels ?? [], ({ tunnel_session: session }) => session.id);
    return (id: string): readonly string[] => bySession.get(id)?.map(servedAt) ?? [];
  }, [tunnels]);
  const columns = useMemo(() => columnsOf(name, served), [name, served]);
  const searchText = useMemo(
    () => (session: TunnelSession) =>
      `${name(session.credential.id)} ${session.ip} ${session.os} ${session.agent_version} ${session.metadata} ${session.id} ${served(session.id).join(' ')}`,
    [name, served],
  );
  return render({ columns, searchText });
}

function columnsOf(
  name: (id: string) => string,
  served: (id: string) => readonly string[],
): readonly Column<TunnelSession>[] {
  return [
    {
      id: 'agent',
      head: 'Agent',
      width: '26%',
      sortBy: ({ credential }) => name(credential.id).toLowerCase(),
      cell: (session) => (
        <>
          <Link className="main" to={`/agents/${session.id}`} data-row-link>
            {name(session.credential.id)}
          </Link>
          <span className="sub">
            {session.os} · {session.agent_version}
          </span>
          {session.metadata === '' ? null : <span className="sub mono">{session.metadata}</span>}
          <span className="sub m1 mono">{served(session.id)[0]}</span>
        </>
      ),
    },
    {
      id: 'source',
      head: 'Source',
      sortBy: ({ ip }) => ip,
      cell: ({ ip }) => <code className="nowrap">{ip}</code>,
    },
    {
      id: 'serves',
      head: 'Serves',
      width: '34%',
      priority: 'p1',
      sortBy: ({ id }) => served(id)[0] ?? '',
      cell: ({ id }) => <FirstOf texts={served(id)} none={<span className="muted">Nothing yet</span>} />,
    },
    { id: 'region', head: 'Region', priority: 'p3', cell: ({ region }) => region },
    timeColumn('Connected', ({ started_at: at }) => at),
  ];
}
