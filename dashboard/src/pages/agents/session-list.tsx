import { useMemo } from 'react';
import { Link } from 'wouter';

import type { TunnelSession } from '../../../../client/src/index.ts';
import { useList } from '../../api/queries.ts';
import type { Column } from '../../components/table.tsx';
import { timeColumn } from '../../resource/columns.tsx';
import type { Listed, RowsProps } from '../../resource/describe.ts';
import { useCredentialName } from './names.ts';

export const sessions: Listed<'TunnelSessionsList'> = {
  list: 'TunnelSessionsList',
  noun: ['session', 'sessions'],
  icon: 'agent',
  hrefOf: ({ id }) => `/agents/${id}`,
  filterHint: 'Credential, address or version',
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
  const counts = useMemo(() => {
    const bySession = new Map<string, number>();
    for (const { tunnel_session: session } of tunnels ?? []) {
      bySession.set(session.id, (bySession.get(session.id) ?? 0) + 1);
    }
    return bySession;
  }, [tunnels]);
  const columns = useMemo(() => columnsOf(name, (id) => counts.get(id) ?? 0), [name, counts]);
  const searchText = useMemo(
    () => (session: TunnelSession) =>
      `${name(session.credential.id)} ${session.ip} ${session.os} ${session.agent_version} ${session.metadata} ${session.id}`,
    [name],
  );
  return render({ columns, searchText });
}

function columnsOf(name: (id: string) => string, count: (id: string) => number): readonly Column<TunnelSession>[] {
  return [
    {
      id: 'agent',
      head: 'Agent',
      width: '34%',
      sortBy: ({ credential }) => name(credential.id).toLowerCase(),
      cell: (session) => (
        <>
          <Link className="main" to={`/agents/${session.id}`} data-row-link>
            {name(session.credential.id)}
          </Link>
          <span className="sub">
            {session.os} · {session.agent_version}
          </span>
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
      id: 'tunnels',
      head: 'Tunnels',
      priority: 'p1',
      isNumber: true,
      sortBy: ({ id }) => count(id),
      cell: ({ id }) => count(id),
    },
    { id: 'region', head: 'Region', priority: 'p3', cell: ({ region }) => region },
    timeColumn('Connected', ({ started_at: at }) => at),
  ];
}
