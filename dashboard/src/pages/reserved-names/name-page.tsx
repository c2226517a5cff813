import type { ReactNode } from 'react';
import { Link } from 'wouter';

import type { Reply, ReservedAddr, ReservedDomain } from '../../../../client/src/index.ts';
import { useCrumb } from '../../components/crumb.tsx';
import { Button } from '../../components/button.tsx';
import { CopyButton, Id } from '../../components/copy.tsx';
import { Facts, PageHead, Panel } from '../../components/page.tsx';
import type { Fact } from '../../components/page.tsx';
import { LookOnly, useMayWrite } from '../../components/rights.tsx';
import { Empty } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { useUrlState } from '../../lib/url-state.ts';
import { DeleteName } from './delete-name.tsx';
import { useNameUses } from './name-uses.ts';

/** What the pages of domains and addresses have in common. */
export function NamePage({
  reply,
  name,
  facts,
  renderEdit,
}: {
  readonly reply: Reply<ReservedDomain | ReservedAddr>;
  readonly name: string;
  readonly facts?: readonly Fact[] | undefined;
  readonly renderEdit: (onClose: () => void) => ReactNode;
}) {
  const { id, description, metadata, created_at: at } = reply.document;
  const [params, setParams] = useUrlState();
  const mayWrite = useMayWrite();
  const isEditing = params.has('edit') && mayWrite;
  useCrumb(name);
  return (
    <>
      <PageHead
        title={name}
        badge={<CopyButton text={name} />}
        lead={description}
        actions={
          mayWrite && !isEditing ? (
            <>
              <Button icon="edit" shortcut="e" onClick={() => setParams({ edit: '1' })}>
                Edit
              </Button>
              <Button look="danger-quiet" onClick={() => setParams({ delete: '1' })}>
                Give back…
              </Button>
            </>
          ) : undefined
        }
      />
      <LookOnly what="reserved names" />
      {isEditing ? (
        renderEdit(() => setParams({ edit: undefined }))
      ) : (
        <Panel>
          <Facts
            facts={[
              ...(facts ?? []),
              ['Reserved', <Time key="at" at={at} />],
              ['Id', <Id key="id" id={id} />],
              metadata === undefined ? undefined : ['Metadata', <code key="metadata">{metadata}</code>],
            ]}
          />
        </Panel>
      )}
      <UsedBy name={name} />
      {params.has('delete') && mayWrite ? (
        <DeleteName reply={reply} name={name} onClose={() => setParams({ delete: undefined })} />
      ) : null}
    </>
  );
}

function UsedBy({ name }: { readonly name: string }) {
  const uses = useNameUses()(name);
  return (
    <Panel title="Used by" note={String(uses.length)} flush>
      {uses.length === 0 ? (
        <Empty icon="globe" title="Nothing uses it">
          Give it to an edge as a hostport, or to an agent.
        </Empty>
      ) : (
        <ul className="list">
          {uses.map((use) => (
            <li key={use.id}>
              <Link to={use.to}>{use.text}</Link>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
