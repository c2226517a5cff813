import { useMemo } from 'react';

import type { TcpEdge, TlsEdge } from '../../../client/src/index.ts';
import { ButtonLink } from '../components/button.tsx';
import { Facts, Panel } from '../components/page.tsx';
import type { Column } from '../components/table.tsx';
import { Verdict } from '../components/verdict.tsx';
import type { RemovalProps, Shown } from '../resource/describe.ts';
import { standardFacts } from '../resource/page.tsx';
import { useBackends } from './backends.ts';
import type { Backends } from './backends.ts';
import { backendIdsOf } from './conditions.ts';
import { edgeFields, edgeLines, edgeParts, EdgeRows, EdgeState } from './edges.tsx';
import type { Ways } from './edges.tsx';
import { HealthBox } from './health-box.tsx';
import { RefusedLately } from './refused-lately.tsx';
import { Pictures } from './pictures/pictures.tsx';
import { OpenDoors } from './rule-findings.tsx';
import { TrafficChart } from './traffic-chart.tsx';
import { connectionNoun } from './health-words.ts';
import { PublicName } from './hostports.tsx';
import type { EdgeKind } from './hostports.tsx';
import { ModuleList } from './modules/module-list.tsx';
import type { ModuleTarget } from './modules/target.ts';

/** An edge whose modules are its own, without routes. */
type Edge = TcpEdge | TlsEdge;
type RowsProps<Row extends Edge> = Parameters<typeof EdgeRows<Row>>[0];

interface Words {
  /** In a sentence: "It has no hostport". */
  readonly noHostport: string;
  /** Says what a deletion takes away. */
  readonly lost: string;
}

/** The description of edges that carry connections, but for their list and their creation. */
export function connectionEdges<Row extends Edge>(
  kind: 'tcp' | 'tls',
  words: Words,
  targetOf: (shown: Shown<Row>) => ModuleTarget,
) {
  const nextSteps = {
    hostport: words.noHostport,
    backend: 'It has no backend that is on: connections have nowhere to go.',
  } as const;
  const leadOf = (edge: Row): string | undefined => {
    const missing = missingFor(edge);
    return missing === undefined ? undefined : nextSteps[missing];
  };
  return {
    ...edgeParts(kind),
    Rows: ({ render }: { readonly render: RowsProps<Row>['render'] }) => {
      const { find } = useBackends();
      const own = useMemo(() => ownColumns<Row>(find), [find]);
      return (
        <EdgeRows<Row>
          kind={kind}
          ways={ways}
          own={own}
          ownFilter={restrictedFilter}
          ownText={noText}
          render={render}
        />
      );
    },
    fields: edgeFields<Row>(kind),
    badge: (edge: Row) => <EdgeState edge={edge} ways={ways} />,
    lead: leadOf,
    Body: (shown: Shown<Row>) => <Body kind={kind} shown={shown} target={targetOf(shown)} />,
    Removal: ({ document: edge, render }: RemovalProps<Row>) => {
      const { find } = useBackends();
      const isServing = missingFor(edge) === undefined;
      const backend =
        edge.backend === null ? 'It has no backend' : `It sends connections to ${find(edge.backend.backend.id).name}`;
      return render({
        lost: words.lost,
        uses: edgeLines(edge, isServing, [{ id: 'backend', text: backend }]),
        mustType: isServing,
      });
    },
  } as const;
}

/** The next thing that it needs. */
function missingFor({ hostports, backend }: Edge): 'hostport' | 'backend' | undefined {
  if ((hostports ?? []).length === 0) return 'hostport';
  return backend?.enabled === true ? undefined : 'backend';
}

const ways: Ways<Edge> = {
  missing: missingFor,
  backendIds: backendIdsOf,
};

const noText = (): string => '';

function Body<Row extends Edge>({
  kind,
  shown: { document: edge },
  target,
}: {
  readonly kind: EdgeKind;
  readonly shown: Shown<Row>;
  readonly target: ModuleTarget;
}) {
  return (
    <>
      {missingFor(edge) === undefined ? (
        <HealthBox
          thing={edge}
          leadsTo={backendIdsOf(edge)}
          noun={connectionNoun}
          actions={
            <>
              <RefusedLately of={{ edge: edge.id }} />
              <ButtonLink to={`/traffic?edge=${edge.id}`}>Watch its traffic</ButtonLink>
            </>
          }
        />
      ) : null}
      <OpenDoors doors={[{ id: edge.id }]} to={`/who-gets-in?edge=${edge.id}`} />
      <Pictures of={{ edge: edge.id }} otherwise={<TrafficChart edgeId={edge.id} needsTraffic />} />
      <Panel>
        <Facts
          facts={[
            ['Reached at', <Hostports key="at" kind={kind} hostports={edge.hostports ?? []} />],
            ...standardFacts(edge),
          ]}
        />
      </Panel>
      <Panel title="What happens to a connection" note="in this order" flush>
        <ModuleList target={target} isFramed={false} />
      </Panel>
    </>
  );
}

function Hostports({ kind, hostports }: { readonly kind: EdgeKind; readonly hostports: readonly string[] }) {
  if (hostports.length === 0) return <span className="muted">Nowhere yet</span>;
  return hostports.map((hostport) => <PublicName key={hostport} kind={kind} hostport={hostport} />);
}

const restrictedFilter = {
  name: 'restricted',
  label: 'IP restriction',
  options: { on: 'on', off: 'off or not set' },
  matches: ({ ip_restriction: module }: Edge, value: string) => (module?.enabled === true) === (value === 'on'),
} as const;

function ownColumns<Row extends Edge>(find: Backends['find']): readonly Column<Row>[] {
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
