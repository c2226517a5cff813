import type { Reply, TcpEdge } from '../../../../client/src/index.ts';
import { demanding } from '../../api/action.ts';
import { client } from '../../api/client.ts';
import { useOne } from '../../api/queries.ts';
import { CopyButton, Id } from '../../components/copy.tsx';
import { Detail } from '../../components/detail.tsx';
import { Facts, Panel } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { useBackends } from '../../parts/backends.ts';
import { DeleteEdge } from '../../parts/edges/delete-edge.tsx';
import { EdgePage } from '../../parts/edges/edge-page.tsx';
import { ModuleList } from '../../parts/modules/module-list.tsx';
import { tcpEdgeTarget } from '../../parts/modules/target.ts';
import { EdgeState, isServing, missingFor } from './edge-state.tsx';

export function EdgeDetail({ id }: { readonly id: string }) {
  const read = useOne('TcpEdgesGet', { path: { id } });
  return (
    <Detail read={read} noun="edge" listPath="/tcp-edges">
      {(reply) => <Shown reply={reply} reread={read.reread} />}
    </Detail>
  );
}

const nextSteps = {
  hostport: 'No port is open for it yet: give it a hostport.',
  backend: 'It has no backend that is on: connections have nowhere to go.',
} as const;

interface Props {
  readonly reply: Reply<TcpEdge>;
  readonly reread: () => Promise<Reply<TcpEdge>>;
}

function Shown({ reply, reread }: Props) {
  const edge = reply.document;
  const missing = missingFor(edge);
  return (
    <EdgePage
      kind="tcp"
      reply={reply}
      reread={reread}
      update={(body, options) => client.call('TcpEdgesUpdate', { path: { id: edge.id }, body, ...options })}
      badge={<EdgeState edge={edge} />}
      lead={missing === undefined ? undefined : nextSteps[missing]}
      renderDelete={(onClose) => <Delete reply={reply} onClose={onClose} />}
    >
      {() => (
        <>
          <Panel>
            <Facts
              facts={[
                ['Reached at', <Hostports key="at" hostports={edge.hostports ?? []} />],
                ['Created', <Time key="created" at={edge.created_at} />],
                ['Id', <Id key="id" id={edge.id} />],
                edge.metadata === undefined ? undefined : ['Metadata', <code key="metadata">{edge.metadata}</code>],
              ]}
            />
          </Panel>
          <Panel title="What happens to a connection" note="in this order" flush>
            <ModuleList target={tcpEdgeTarget(reply, reread)} isFramed={false} />
          </Panel>
        </>
      )}
    </EdgePage>
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

function Delete({ reply, onClose }: { readonly reply: Reply<TcpEdge>; readonly onClose: () => void }) {
  const { find } = useBackends();
  const edge = reply.document;
  return (
    <DeleteEdge
      edge={edge}
      kind="tcp"
      isServing={isServing(edge)}
      lost="Its ports are closed from this moment, and open connections end. Its modules go with it. This cannot be undone."
      more={
        <li>
          <span>
            {edge.backend === null
              ? 'It has no backend'
              : `It sends connections to ${find(edge.backend.backend.id).name}`}
          </span>
        </li>
      }
      remove={() => client.call('TcpEdgesDelete', { path: { id: edge.id }, ...demanding(reply.etag) })}
      onClose={onClose}
    />
  );
}
