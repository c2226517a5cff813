import { Fragment } from 'react';

import type { HttpsEdge, HttpsEdgeRoute } from '../../../../client/src/index.ts';
import { useOne } from '../../api/queries.ts';
import { Button } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import { Panel } from '../../components/page.tsx';
import { useMayWrite } from '../../components/rights.tsx';
import { Empty, ErrorState, Skeleton } from '../../components/states.tsx';
import { useUrlState } from '../../lib/url-state.ts';
import { useBackends } from '../../parts/backends.ts';
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
        note={`${edge.routes.length}, exact path first, then the longest prefix`}
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
  const open = params.get('route');
  const toggle = (id: string) => () =>
    setParams({ route: open === id ? undefined : id, module: undefined, act: undefined, editroute: undefined });
  return (
    <table className="tbl" aria-label="routes">
      <thead>
        <tr>
          <th scope="col">Match</th>
          <th scope="col" className="p1">
            Type
          </th>
          <th scope="col" className="p1">
            Backend
          </th>
          <th scope="col" className="p2">
            Modules
          </th>
        </tr>
      </thead>
      <tbody>
        {inOrder(edge.routes).map((route) => (
          <Fragment key={route.id}>
            <tr className={open === route.id ? 'open' : ''}>
              <td className="clip third">
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
              <td className="p1 muted nowrap">{route.match_type === 'exact_path' ? 'exact path' : 'prefix'}</td>
              <td className="p1">
                <BackendName route={route} />
              </td>
              <td className="p2">
                <ModuleBadges document={route} schemas={moduleSchemas.https_route} without="backend" />
              </td>
            </tr>
            {open === route.id ? (
              <tr className="detail">
                <td colSpan={4}>
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

function BackendName({ route: { backend } }: { readonly route: HttpsEdgeRoute }) {
  const { find } = useBackends();
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
