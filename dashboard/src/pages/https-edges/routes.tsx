import { Fragment } from 'react';

import type { HttpsEdge, HttpsEdgeRoute } from '../../../../client/src/index.ts';
import { useHealth } from '../../api/health.ts';
import { useOne } from '../../api/queries.ts';
import { Button } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import { Panel } from '../../components/page.tsx';
import { useMayWrite } from '../../components/rights.tsx';
import { Empty, ErrorState, Skeleton } from '../../components/states.tsx';
import { isOnControl } from '../../components/table.tsx';
import { Verdict } from '../../components/verdict.tsx';
import { formatNumber } from '../../lib/text.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { useBackends } from '../../parts/backends.ts';
import { useConditions } from '../../parts/conditions.ts';
import { timeText } from '../../parts/health-words.ts';
import { ErrorsCell, RateCell, StateWord } from '../../parts/health.tsx';
import { ModuleBadges } from '../../parts/modules/module-badges.tsx';
import { moduleSchemas } from 'virtual:module-schemas';
import { AddRoute } from './add-route.tsx';
import { RouteDetail } from './route-detail.tsx';

/** Routes in the order in which they are tried: exact paths first, then the longest prefix. */
function inOrder(routes: readonly HttpsEdgeRoute[]): readonly HttpsEdgeRoute[] {
  const rank = ({ match_type: type }: HttpsEdgeRoute): number => (type === 'exact_path' ? 0 : 1);
  return routes.toSorted(
    (one, other) =>
      rank(one) - rank(other) || other.match.length - one.match.length || one.match.localeCompare(other.match),
  );
}

export function Routes({ edge }: { readonly edge: HttpsEdge }) {
  const [params, setParams] = useUrlState();
  const mayWrite = useMayWrite();
  const add = (
    <Button small icon="plus" onClick={() => setParams({ add: '1' })}>
      Add route
    </Button>
  );
  return (
    <>
      <Panel
        title="Routes"
        note={`${edge.routes.length}, exact path first, then the longest prefix; the last hour`}
        flush
        action={mayWrite && edge.routes.length > 0 ? add : undefined}
      >
        {edge.routes.length === 0 ? (
          <Empty icon="filter" title="No routes" action={mayWrite ? add : undefined}>
            A route says what happens to requests for a path: who may come, and which backend answers.
          </Empty>
        ) : (
          <RouteTable edge={edge} />
        )}
      </Panel>
      {params.has('add') && mayWrite ? <AddRoute edge={edge} onClose={() => setParams({ add: undefined })} /> : null}
    </>
  );
}

function RouteTable({ edge }: { readonly edge: HttpsEdge }) {
  const [params, setParams] = useUrlState();
  const book = useHealth();
  const open = params.get('route');
  const toggle = (id: string) => () =>
    setParams({ route: open === id ? undefined : id, module: undefined, act: undefined, editroute: undefined });
  return (
    <table className="tbl" aria-label="routes">
      <thead>
        <tr>
          <th scope="col">Match</th>
          <th scope="col">State</th>
          <th scope="col" className="p2">
            Type
          </th>
          <th scope="col" className="p1">
            Backend
          </th>
          <th scope="col" className="p3">
            Modules
          </th>
          <th scope="col" className="num p2">
            Requests/min
          </th>
          <th scope="col" className="num">
            Errors
          </th>
          <th scope="col" className="num p2">
            Refused
          </th>
          <th scope="col" className="num p1">
            p95
          </th>
        </tr>
      </thead>
      <tbody>
        {inOrder(edge.routes).map((route) => (
          <Fragment key={route.id}>
            <tr
              className={open === route.id ? 'open row-opens' : 'row-opens'}
              onClick={(event) => {
                if (!isOnControl(event.target)) toggle(route.id)();
              }}
            >
              <td className="clip quarter">
                <button
                  type="button"
                  className="fold"
                  aria-expanded={open === route.id}
                  onClick={toggle(route.id)}
                  data-row-link
                >
                  <Icon name={open === route.id ? 'down' : 'right'} />
                  <code className="main">{route.match}</code>
                </button>
                <span className="sub m1">
                  <BackendName route={route} />
                </span>
              </td>
              <td className="min">
                <RouteState route={route} />
              </td>
              <td className="p2 muted nowrap">{route.match_type === 'exact_path' ? 'exact path' : 'prefix'}</td>
              <td className="p1">
                <BackendName route={route} />
              </td>
              <td className="p3">
                <ModuleBadges document={route} schemas={moduleSchemas.https_route} without="backend" />
              </td>
              <td className="num p2">
                <RateCell id={route.id} book={book} />
              </td>
              <td className="num">
                <ErrorsCell health={book?.find(route.id)} />
              </td>
              <td className="num p2">{formatNumber(book?.find(route.id)?.turned_away ?? 0)}</td>
              <td className="num p1">{timeText(book?.find(route.id)?.p95_ms ?? null)}</td>
            </tr>
            {open === route.id ? (
              <tr className="detail">
                <td colSpan={9}>
                  <OpenRoute edgeId={edge.id} id={route.id} />
                </td>
              </tr>
            ) : null}
          </Fragment>
        ))}
      </tbody>
    </table>
  );
}

function RouteState({ route }: { readonly route: HttpsEdgeRoute }) {
  const book = useHealth();
  const conditions = useConditions();
  const { backend, redirect } = route;
  if (redirect?.enabled === true) return <StateWord state={book?.stateOf(route)} />;
  if (backend?.enabled !== true) return <Verdict tone="off">No backend</Verdict>;
  return <StateWord state={book?.stateOf(route, conditions?.of([backend.backend.id]))} />;
}

function BackendName({ route: { backend, redirect } }: { readonly route: HttpsEdgeRoute }) {
  const { find } = useBackends();
  if (redirect?.enabled === true) return `Redirects to ${redirect.to}`;
  if (backend === null) return <span className="muted">No backend</span>;
  return (
    <>
      {find(backend.backend.id).name}
      {backend.enabled ? '' : ' (off)'}
    </>
  );
}

function OpenRoute({ edgeId, id }: { readonly edgeId: string; readonly id: string }) {
  const read = useOne('HttpsEdgeRoutesGet', { path: { edge_id: edgeId, id } });
  if (read.data !== undefined) return <RouteDetail reply={read.data} reread={read.reread} />;
  return (
    <div className="inset">
      {read.error === undefined ? (
        <Skeleton lines={4} />
      ) : (
        <ErrorState title="The route could not be read" error={read.error} onRetry={read.retry} />
      )}
    </div>
  );
}
