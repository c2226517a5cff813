import { useMemo } from 'react';

import type { TcpEdge } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import { CopyButton } from '../../components/copy.tsx';
import { Facts, Panel } from '../../components/page.tsx';
import type { PageProps } from '../../components/page.tsx';
import type { Column } from '../../components/table.tsx';
import { Verdict } from '../../components/verdict.tsx';
import { useBackends } from '../../parts/backends.ts';
import type { Backends } from '../../parts/backends.ts';
import {
  chosenBackend,
  createWords,
  edgeFields,
  edgeLines,
  edgeParts,
  edgeRows,
  EdgeState,
} from '../../parts/edges.tsx';
import { ModuleList } from '../../parts/modules/module-list.tsx';
import { tcpEdgeTarget } from '../../parts/modules/target.ts';
import type { Resource, Shown } from '../../resource/describe.ts';
import { ResourcePages } from '../../resource/lists.tsx';
import { standardFacts } from '../../resource/page.tsx';

const about = 'A TCP edge opens a port and sends its connections to a backend, for those who may come in.';

/** The next thing that it needs. */
function missingFor({ hostports, backend }: TcpEdge): keyof typeof nextSteps | undefined {
  if ((hostports ?? []).length === 0) return 'hostport';
  return backend?.enabled === true ? undefined : 'backend';
}

const nextSteps = {
  hostport: 'No port is open for it yet: give it a hostport.',
  backend: 'It has no backend that is on: connections have nowhere to go.',
} as const;

const edges: Resource<'TcpEdgesList'> = {
  ...edgeParts('tcp'),
  list: 'TcpEdgesList',
  icon: 'plug',
  whenEmpty: ['No TCP edges', about],
  Rows: ({ render }) => {
    const backends = useBackends();
    return render(useMemo(() => rowsOf(backends), [backends]));
  },
  fields: edgeFields('tcp'),
  create: {
    ...createWords('tcp'),
    send: async (body, values, set) => {
      const id = await chosenBackend(values, set);
      return client.call('TcpEdgesCreate', {
        body: { ...body, ...(id === undefined ? {} : { backend: { backend_id: id } }) },
      });
    },
  },
  badge: (edge) => <EdgeState missing={missingFor(edge)} />,
  lead: (edge) => {
    const missing = missingFor(edge);
    return missing === undefined ? undefined : nextSteps[missing];
  },
  Body,
  Removal: ({ document: edge, render }) => {
    const { find } = useBackends();
    const isServing = missingFor(edge) === undefined;
    const backend =
      edge.backend === null ? 'It has no backend' : `It sends connections to ${find(edge.backend.backend.id).name}`;
    return render({
      lost: 'Its ports are closed from this moment, and open connections end. Its modules go with it. This cannot be undone.',
      uses: edgeLines(edge, isServing, [{ id: 'backend', text: backend }]),
      mustType: isServing,
    });
  },
};

function Body({ reply, document: edge, reread }: Shown<TcpEdge>) {
  return (
    <>
      <Panel>
        <Facts
          facts={[['Reached at', <Hostports key="at" hostports={edge.hostports ?? []} />], ...standardFacts(edge)]}
        />
      </Panel>
      <Panel title="What happens to a connection" note="in this order" flush>
        <ModuleList target={tcpEdgeTarget(reply, reread)} isFramed={false} />
      </Panel>
    </>
  );
}

function Hostports({ hostports }: { readonly hostports: readonly string[] }) {
  if (hostports.length === 0) return <span className="muted">Nowhere yet</span>;
  return hostports.map((hostport) => (
    <span key={hostport} className="row">
      <code>{hostport}</code>
      <CopyButton text={hostport} />
    </span>
  ));
}

function rowsOf({ find }: Backends) {
  return edgeRows<TcpEdge>('tcp', missingFor, ownColumns(find), restrictedFilter, () => '');
}

const restrictedFilter = {
  name: 'restricted',
  label: 'IP restriction',
  options: { on: 'on', off: 'off or not set' },
  matches: ({ ip_restriction: module }: TcpEdge, value: string) => (module?.enabled === true) === (value === 'on'),
} as const;

function ownColumns(find: Backends['find']): readonly Column<TcpEdge>[] {
  return [
    {
      id: 'backend',
      head: 'Backend',
      width: '18%',
      priority: 'p2',
      cell: ({ backend }) =>
        backend === null ? (
          <span className="muted">None</span>
        ) : (
          <span className="main">{find(backend.backend.id).name}</span>
        ),
    },
    {
      id: 'restricted',
      head: 'IP restriction',
      priority: 'p3',
      cell: ({ ip_restriction: module }) =>
        module === null ? (
          <span className="muted">Not set</span>
        ) : module.enabled ? (
          'On'
        ) : (
          <Verdict tone="off">off</Verdict>
        ),
    },
  ];
}

export function Page({ id }: PageProps) {
  return <ResourcePages resource={edges} id={id} title="TCP edges" lead={about} />;
}
