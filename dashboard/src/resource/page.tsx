import type { ReactNode } from 'react';
import { useLocation } from 'wouter';

import type { Entry, ListId, Reply } from '../../../client/src/index.ts';
import { demanding } from '../api/action.ts';
import { client } from '../api/client.ts';
import { useOne } from '../api/queries.ts';
import type { Read } from '../api/queries.ts';
import { useSession } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { Id as IdText } from '../components/copy.tsx';
import { useCrumb } from '../components/crumb.tsx';
import { DeleteDialog } from '../components/delete-dialog.tsx';
import { Detail } from '../components/detail.tsx';
import { Facts, PageHead, Panel } from '../components/page.tsx';
import type { Fact } from '../components/page.tsx';
import { LookOnly, useMayWrite } from '../components/rights.tsx';
import { Time } from '../components/time.tsx';
import { useUrlState } from '../lib/url-state.ts';
import type { Resource, Shown } from './describe.ts';
import { EditPanel, operationOf } from './form.tsx';

/** The page of one thing: head, facts, edit in place, deletion, and what is special about it. */
export function ResourcePage<Id extends ListId>({
  resource,
  id,
}: {
  readonly resource: Resource<Id>;
  readonly id: string;
}) {
  const { list, noun, path, listPath = path } = resource;
  // Entries of a list have the form that the operation beside it gives.
  const read = useOne(operationOf(list, 'Get'), { path: { id } }) as unknown as Read<Reply<Entry<Id>>> & {
    readonly reread: () => Promise<Reply<Entry<Id>>>;
  };
  return (
    <Detail read={read} noun={noun[0]} listPath={listPath}>
      {(reply) => <Page resource={resource} id={id} reply={reply} reread={read.reread} />}
    </Detail>
  );
}

interface PageProps<Id extends ListId> {
  readonly resource: Resource<Id>;
  readonly id: string;
  readonly reply: Reply<Entry<Id>>;
  readonly reread: () => Promise<Reply<Entry<Id>>>;
}

function Page<Id extends ListId>({ resource, id, reply, reread }: PageProps<Id>) {
  const { noun, who, nameOf, badge, lead, facts, acts, MoreActs, Body, edit } = resource;
  const { document } = reply;
  const [params, setParams] = useUrlState();
  const session = useSession();
  const mayWriteAny = useMayWrite(who);
  const mayWrite = mayWriteAny && resource.mayWrite?.(document, session) !== false;
  const isEditing = params.has('edit') && mayWrite;
  const shown: Shown<Entry<Id>> = { reply, document, reread, mayWrite, isEditing };
  useCrumb(nameOf(document));
  return (
    <>
      <PageHead
        title={nameOf(document)}
        badge={badge?.(document)}
        lead={lead?.(document, session)}
        actions={
          acts !== undefined ? (
            acts(shown)
          ) : mayWrite && !isEditing ? (
            <EditActs between={MoreActs === undefined ? null : <MoreActs />} deleteWords={resource.deleteWords} />
          ) : undefined
        }
      />
      {resource.mayWrite === undefined ? <LookOnly what={resource.what ?? noun[1]} who={who ?? 'everyone'} /> : null}
      {isEditing ? (
        <EditPanel
          noun={noun[0]}
          fields={resource.fields}
          errors={resource.errors}
          seen={reply}
          reread={reread}
          send={(changed, options, base) =>
            edit?.send?.(id, changed, options, base) ??
            client.call(operationOf(resource.list, 'Update'), { path: { id }, body: changed, ...options })
          }
          intro={edit?.intro}
          Allow={edit?.Allow}
          onClose={() => setParams({ edit: undefined })}
        />
      ) : facts === undefined ? null : (
        <Panel>
          <Facts facts={facts(document)} />
        </Panel>
      )}
      {Body === undefined ? null : <Body {...shown} />}
      {params.has('delete') && mayWrite ? <RemovalDialog resource={resource} id={id} reply={reply} /> : null}
    </>
  );
}

/** Edit and deletion, as every page of one thing has them. */
export function EditActs({
  between,
  deleteWords = 'Delete…',
}: {
  readonly between?: ReactNode;
  readonly deleteWords?: string | undefined;
}) {
  const [, setParams] = useUrlState();
  return (
    <>
      <Button icon="edit" shortcut="e" onClick={() => setParams({ edit: '1' })}>
        Edit
      </Button>
      {between}
      <Button look="danger-quiet" onClick={() => setParams({ delete: '1' })}>
        {deleteWords}
      </Button>
    </>
  );
}

/** Asks before the thing is deleted, then goes to the list. */
export function RemovalDialog<Id extends ListId>({
  resource,
  id,
  reply,
}: {
  readonly resource: Resource<Id>;
  readonly id: string;
  readonly reply: Reply<Entry<Id>>;
}) {
  const { list, noun, path, listPath = path, nameOf, deletesAnyState = false, Removal } = resource;
  const [, setParams] = useUrlState();
  const [, navigate] = useLocation();
  const name = nameOf(reply.document);
  return (
    <Removal
      document={reply.document}
      render={({ title, lost, uses, mustType = false, blocked, act, said }) => (
        <DeleteDialog
          title={title ?? `Delete the ${noun[0]} “${name}”?`}
          lost={lost}
          uses={uses}
          typeName={mustType && blocked === undefined ? name : undefined}
          blocked={blocked}
          act={act ?? `Delete ${noun[0]}`}
          said={said ?? `Deleted the ${noun[0]} ${name}.`}
          remove={(options) =>
            client.call(operationOf(list, 'Delete'), {
              path: { id },
              ...(deletesAnyState ? {} : demanding(reply.etag)),
              ...options,
            })
          }
          onDone={() => navigate(listPath)}
          onClose={() => setParams({ delete: undefined })}
        />
      )}
    />
  );
}

/** The facts that every thing has. */
export function standardFacts(
  { id, created_at: at, metadata }: { readonly id: string; readonly created_at: string; readonly metadata?: string },
  made = 'Created',
): readonly (Fact | undefined)[] {
  return [
    [made, <Time key="at" at={at} />],
    ['Id', <IdText key="id" id={id} />],
    metadata === undefined ? undefined : ['Metadata', <code key="metadata">{metadata}</code>],
  ];
}
