import type { HttpsEdge } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import { ButtonLink } from '../../components/button.tsx';
import type { ChoiceFilter } from '../../components/list-search.ts';
import { Facts, Panel } from '../../components/page.tsx';
import type { PageProps } from '../../components/page.tsx';
import type { Column } from '../../components/table.tsx';
import { countOf } from '../../lib/text.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { backendIdsOf } from '../../parts/conditions.ts';
import {
  chosenBackend,
  createWords,
  edgeFields,
  edgeLines,
  edgeParts,
  EdgeRows,
  EdgeState,
} from '../../parts/edges.tsx';
import type { Ways } from '../../parts/edges.tsx';
import { HealthBox } from '../../parts/health-box.tsx';
import { RefusedLately } from '../../parts/refused-lately.tsx';
import { Pictures } from '../../parts/pictures/pictures.tsx';
import { OpenDoors } from '../../parts/rule-findings.tsx';
import { TrafficChart } from '../../parts/traffic-chart.tsx';
import { ModuleList } from '../../parts/modules/module-list.tsx';
import { edgeTarget } from '../../parts/modules/target.ts';
import type { Resource, Shown } from '../../resource/describe.ts';
import { ResourcePages } from '../../resource/lists.tsx';
import { standardFacts } from '../../resource/page.tsx';
import { canBeReverted } from '../../resource/uses.tsx';
import { Hostports } from './hostports.tsx';
import { Routes } from './routes.tsx';

/** The next thing that it needs: a name, and a route that leads somewhere. */
function missingFor({ hostports, routes }: HttpsEdge): keyof typeof nextSteps | undefined {
  if ((hostports ?? []).length === 0) return 'hostport';
  if (routes.length === 0) return 'route';
  const answers = routes.some(({ backend, redirect }) => backend?.enabled === true || redirect?.enabled === true);
  return answers ? undefined : 'backend';
}

const nextSteps = {
  hostport: 'Nobody can reach it yet: give it a hostport.',
  route: 'Requests find no route yet: add one.',
  backend: 'No route has a backend that is on: requests have nowhere to go.',
} as const;

const ways: Ways<HttpsEdge> = {
  missing: missingFor,
  backendIds: backendIdsOf,
};

const ownColumns: readonly Column<HttpsEdge>[] = [
  {
    id: 'routes',
    head: 'Routes',
    priority: 'p2',
    isNumber: true,
    sortBy: ({ routes }) => routes.length,
    cell: ({ routes }) => routes.length,
  },
];

const restrictedFilter: ChoiceFilter<HttpsEdge> = {
  name: 'restricted',
  label: 'IP restriction',
  options: { yes: 'on at a route', no: 'on at none' },
  matches: ({ routes }, value) =>
    routes.some(({ ip_restriction: module }) => module?.enabled === true) === (value === 'yes'),
};

const pathsText = ({ routes }: HttpsEdge): string => routes.map(({ match }) => match).join(' ');

const edges: Resource<'HttpsEdgesList'> = {
  ...edgeParts('https'),
  list: 'HttpsEdgesList',
  icon: 'globe',
  whenEmpty: [
    'No HTTPS edges',
    'An HTTPS edge takes requests for its names, lets in who may, and sends them to a backend.',
  ],
  Rows: ({ render }) => (
    <EdgeRows
      kind="https"
      ways={ways}
      own={ownColumns}
      ownFilter={restrictedFilter}
      ownText={pathsText}
      render={render}
    />
  ),
  fields: edgeFields('https'),
  create: {
    ...createWords('https'),
    send: async (body, values, set) => {
      const backendId = await chosenBackend(values, set);
      const edge = await client.call('HttpsEdgesCreate', { body });
      if (backendId !== undefined) {
        const route = { match: '/', match_type: 'path_prefix', backend: { backend_id: backendId } } as const;
        // The edge is there either way; its page shows that it has no route.
        await client.call('HttpsEdgeRoutesCreate', { path: { edge_id: edge.id }, body: route }).catch(() => undefined);
      }
      return edge;
    },
  },
  badge: (edge) => <EdgeState edge={edge} ways={ways} />,
  lead: (edge) => {
    const missing = missingFor(edge);
    return missing === undefined ? undefined : nextSteps[missing];
  },
  Body,
  Removal: ({ document: edge, render }) => {
    const isServing = missingFor(edge) === undefined;
    const going = countOf(edge.routes.length, 'route goes', 'routes go');
    return render({
      lost: `Its ${going} with it, and all their modules. Requests to its names are answered with 404 from now on. ${canBeReverted}`,
      uses: edgeLines(
        edge,
        isServing,
        edge.routes.map(({ id, match, match_type: type }) => ({
          id,
          text: <code>{match}</code>,
          end: type === 'exact_path' ? 'exact path' : 'prefix',
        })),
      ),
      mustType: isServing,
    });
  },
};

function Body({ reply, document: edge, reread, mayWrite, isEditing }: Shown<HttpsEdge>) {
  const [, setParams] = useUrlState();
  return (
    <>
      {missingFor(edge) === undefined ? (
        <HealthBox
          thing={edge}
          leadsTo={backendIdsOf(edge)}
          actions={
            <>
              <RefusedLately of={{ edge: edge.id }} />
              <ButtonLink to={`/traffic?edge=${edge.id}`}>Watch its traffic</ButtonLink>
            </>
          }
        />
      ) : null}
      <OpenDoors
        doors={edge.routes.map(({ id, match }) => ({ id, name: match }))}
        to={`/who-gets-in?edge=${edge.id}`}
      />
      <Pictures of={{ edge: edge.id }} otherwise={<TrafficChart edgeId={edge.id} needsTraffic />} />
      <Routes edge={edge} />
      <div className="cols">
        <Hostports edge={edge} {...(mayWrite && !isEditing ? { onAdd: () => setParams({ edit: '1' }) } : {})} />
        <Panel title="Facts">
          <Facts list facts={standardFacts(edge)} />
        </Panel>
      </div>
      <Panel title="For the whole edge" note="all its names and routes" flush>
        <ModuleList target={edgeTarget('HttpsEdge', reply, reread)} isFramed={false} />
      </Panel>
    </>
  );
}

export function Page({ id }: PageProps) {
  return (
    <ResourcePages
      resource={edges}
      id={id}
      title="HTTPS edges"
      lead="An HTTPS edge takes requests for its names and sends each to a backend, by the path."
    />
  );
}
