import type { ReactNode } from 'react';

import type { Reply, StaticBackend, TunnelGroupBackend } from '../../../../client/src/index.ts';
import { useCrumb } from '../../components/crumb.tsx';
import { Id } from '../../components/copy.tsx';
import { EditActs } from '../../components/edit-panel.tsx';
import { Facts, PageHead, Panel } from '../../components/page.tsx';
import type { Fact } from '../../components/page.tsx';
import { LookOnly, useMayWrite } from '../../components/rights.tsx';
import { Time } from '../../components/time.tsx';
import { useUrlState } from '../../lib/url-state.ts';
import { DeleteBackend } from './delete-backend.tsx';
import { UsedBy } from './used-by.tsx';

/** What the pages of both kinds of backends have in common. */
export function BackendPage({
  reply,
  fallbackName,
  lead,
  facts,
  renderEdit,
}: {
  readonly reply: Reply<StaticBackend | TunnelGroupBackend>;
  /** Where traffic goes, for one without a description. */
  readonly fallbackName: string;
  readonly lead?: string | undefined;
  readonly facts: readonly Fact[];
  readonly renderEdit: (onClose: () => void) => ReactNode;
}) {
  const { id, description = '', metadata, created_at: at } = reply.document;
  const [params, setParams] = useUrlState();
  const mayWrite = useMayWrite();
  const isEditing = params.has('edit') && mayWrite;
  const name = description === '' ? fallbackName : description;
  useCrumb(name);
  return (
    <>
      <PageHead title={name} lead={lead} actions={mayWrite && !isEditing ? <EditActs /> : undefined} />
      <LookOnly what="backends" />
      {isEditing ? (
        renderEdit(() => setParams({ edit: undefined }))
      ) : (
        <Panel>
          <Facts
            facts={[
              ...facts,
              ['Created', <Time key="at" at={at} />],
              ['Id', <Id key="id" id={id} />],
              metadata === undefined ? undefined : ['Metadata', <code key="metadata">{metadata}</code>],
            ]}
          />
        </Panel>
      )}
      <UsedBy id={id} />
      {params.has('delete') && mayWrite ? (
        <DeleteBackend id={id} etag={reply.etag} onClose={() => setParams({ delete: undefined })} />
      ) : null}
    </>
  );
}
