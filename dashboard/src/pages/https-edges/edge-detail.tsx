import type { HttpsEdge, Reply } from '../../../../client/src/index.ts';
import { demanding } from '../../api/action.ts';
import { client } from '../../api/client.ts';
import { useOne } from '../../api/queries.ts';
import { Id } from '../../components/copy.tsx';
import { Detail } from '../../components/detail.tsx';
import { Facts, Panel } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { countOf } from '../../lib/text.ts';
import { DeleteEdge } from '../../parts/edges/delete-edge.tsx';
import { EdgePage } from '../../parts/edges/edge-page.tsx';
import { EdgeState, isServing, missingFor } from './edge-state.tsx';
import { Hostports } from './hostports.tsx';
import { Routes } from './routes.tsx';

export function EdgeDetail({ id }: { readonly id: string }) {
  const read = useOne('HttpsEdgesGet', { path: { id } });
  return (
    <Detail read={read} noun="edge" listPath="/https-edges">
      {(reply) => <Shown reply={reply} reread={read.reread} />}
    </Detail>
  );
}

const nextSteps = {
  hostport: 'Nobody can reach it yet: give it a hostport.',
  route: 'Requests find no route yet: add one.',
  backend: 'No route has a backend that is on: requests have nowhere to go.',
} as const;

interface Props {
  readonly reply: Reply<HttpsEdge>;
  readonly reread: () => Promise<Reply<HttpsEdge>>;
}

function Shown({ reply, reread }: Props) {
  const edge = reply.document;
  const missing = missingFor(edge);
  return (
    <EdgePage
      kind="https"
      reply={reply}
      reread={reread}
      update={(body, options) => client.call('HttpsEdgesUpdate', { path: { id: edge.id }, body, ...options })}
      badge={<EdgeState edge={edge} />}
      lead={missing === undefined ? undefined : nextSteps[missing]}
      renderDelete={(onClose) => <Delete reply={reply} onClose={onClose} />}
    >
      {(onEdit) => (
        <>
          <div className="cols">
            <Hostports edge={edge} {...(onEdit === undefined ? {} : { onAdd: onEdit })} />
            <Panel title="Facts">
              <Facts
                list
                facts={[
                  ['Created', <Time key="at" at={edge.created_at} />],
                  ['Id', <Id key="id" id={edge.id} />],
                  edge.metadata === undefined ? undefined : ['Metadata', <code key="metadata">{edge.metadata}</code>],
                ]}
              />
            </Panel>
          </div>
          <Routes edge={edge} />
        </>
      )}
    </EdgePage>
  );
}

function Delete({ reply, onClose }: { readonly reply: Reply<HttpsEdge>; readonly onClose: () => void }) {
  const edge = reply.document;
  return (
    <DeleteEdge
      edge={edge}
      kind="https"
      isServing={isServing(edge)}
      lost={`Its ${countOf(edge.routes.length, 'route goes', 'routes go')} with it, and all their modules. Requests to its names are answered with 404 from this moment. This cannot be undone.`}
      more={edge.routes.map(({ id, match, match_type: type }) => (
        <li key={id}>
          <code className="grow">{match}</code>
          <span className="end">{type === 'exact_path' ? 'exact path' : 'prefix'}</span>
        </li>
      ))}
      remove={() => client.call('HttpsEdgesDelete', { path: { id: edge.id }, ...demanding(reply.etag) })}
      onClose={onClose}
    />
  );
}
