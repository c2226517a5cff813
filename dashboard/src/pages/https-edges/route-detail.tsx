import type { HttpsEdgeRoute, Reply } from '../../../../client/src/index.ts';
import { demanding } from '../../api/action.ts';
import { client } from '../../api/client.ts';
import { Button, ButtonLink } from '../../components/button.tsx';
import { Id } from '../../components/copy.tsx';
import { DeleteDialog } from '../../components/delete-dialog.tsx';
import { useMayWrite } from '../../components/rights.tsx';
import { Glyph } from '../../components/verdict.tsx';
import { useUrlState } from '../../lib/url-state.ts';
import { useBackends } from '../../parts/backends.ts';
import { ModuleBadges } from '../../parts/modules/module-badges.tsx';
import { ModuleList } from '../../parts/modules/module-list.tsx';
import { routeTarget } from '../../parts/modules/target.ts';
import { Pictures } from '../../parts/pictures/pictures.tsx';
import { RefusedLately } from '../../parts/refused-lately.tsx';
import { description, metadata } from '../../resource/fields.tsx';
import { EditPanel } from '../../resource/form.tsx';
import { canBeReverted } from '../../resource/uses.tsx';
import { matchFields, routeErrors } from './route-fields.tsx';
import { moduleSchemas } from 'virtual:module-schemas';

const routeFields = [...matchFields, description<HttpsEdgeRoute>(), metadata<HttpsEdgeRoute>()];

interface Props {
  readonly reply: Reply<HttpsEdgeRoute>;
  readonly reread: () => Promise<Reply<HttpsEdgeRoute>>;
}

/** An opened route: what happens to a request, and its modules. */
export function RouteDetail({ reply, reread }: Props) {
  const route = reply.document;
  const [params, setParams] = useUrlState();
  const mayWrite = useMayWrite();
  const act = params.get('editroute');
  const close = (): void => setParams({ editroute: undefined });
  return (
    <div className="inset">
      <div className="row wrap">
        <span className="label grow">
          {route.description === undefined || route.description === ''
            ? 'What happens to a request, in this order'
            : route.description}
        </span>
        <RefusedLately small of={{ route: route.id }} />
        <ButtonLink small to={`/inspect?subject=${route.id}`}>
          Inspect requests
        </ButtonLink>
        {mayWrite ? (
          <>
            <Button small onClick={() => setParams({ editroute: '1' })}>
              Edit route
            </Button>
            <Button small look="danger-quiet" onClick={() => setParams({ editroute: 'delete' })}>
              Delete route…
            </Button>
          </>
        ) : null}
        <span className="p1">
          <Id id={route.id} />
        </span>
      </div>
      {act === '1' && mayWrite ? (
        <EditPanel
          noun="route"
          fields={routeFields}
          errors={routeErrors}
          seen={reply}
          reread={reread}
          send={(body, options) =>
            client.call('HttpsEdgeRoutesUpdate', { path: { edge_id: route.edge_id, id: route.id }, body, ...options })
          }
          onClose={close}
        />
      ) : null}
      <Pictures of={{ route: route.id }} title="This route" />
      <ModuleList target={routeTarget(reply, reread)} />
      {act === 'delete' && mayWrite ? <DeleteRoute reply={reply} onClose={close} /> : null}
    </div>
  );
}

function DeleteRoute({ reply, onClose }: { readonly reply: Reply<HttpsEdgeRoute>; readonly onClose: () => void }) {
  const [, setParams] = useUrlState();
  const { find } = useBackends();
  const { id, edge_id: edgeId, match, backend } = reply.document;
  return (
    <DeleteDialog
      title={`Delete the route ${match}?`}
      lost={`Its modules go with it. Requests for this path then go to a shorter route of the edge, or are answered with 404. ${canBeReverted}`}
      uses={
        <ul className="rules">
          <li>
            <Glyph tone={backend?.enabled === true ? 'warn' : 'off'} />
            <span>
              {backend === null ? 'It has no backend' : `It sends traffic to ${find(backend.backend.id).name}`}
            </span>
          </li>
          <li>
            <span>Modules</span>
            <ModuleBadges document={reply.document} schemas={moduleSchemas.https_route} without="backend" />
          </li>
        </ul>
      }
      act="Delete route"
      said={`Deleted the route ${match}.`}
      remove={() => client.call('HttpsEdgeRoutesDelete', { path: { edge_id: edgeId, id }, ...demanding(reply.etag) })}
      onDone={() => setParams({ editroute: undefined, route: undefined })}
      onClose={onClose}
    />
  );
}
