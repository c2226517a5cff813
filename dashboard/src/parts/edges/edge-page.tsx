import type { ReactNode } from 'react';

import type { Reply } from '../../../../client/src/index.ts';
import { useEdit } from '../../api/edit.ts';
import type { SaveOptions } from '../../api/edit.ts';
import { useCrumb } from '../../components/crumb.tsx';
import { ButtonLink } from '../../components/button.tsx';
import { AboutFields, aboutOf, EditActs, EditPanel } from '../../components/edit-panel.tsx';
import type { About } from '../../components/edit-panel.tsx';
import { PageHead } from '../../components/page.tsx';
import { LookOnly, useMayWrite } from '../../components/rights.tsx';
import { toast } from '../../components/toast.tsx';
import { useUrlState } from '../../lib/url-state.ts';
import { edgeName } from '../backends.ts';
import type { NamedEdge } from '../backends.ts';
import { hostportErrors, HostportsField, hostportsOf } from '../hostports.tsx';

export interface SomeEdge extends NamedEdge {
  readonly metadata?: string;
}

interface EdgeValues extends About {
  readonly hostports: string[];
}

interface Props<Edge extends SomeEdge> {
  readonly kind: 'https' | 'tcp';
  readonly reply: Reply<Edge>;
  readonly reread: () => Promise<Reply<Edge>>;
  readonly update: (changed: Partial<EdgeValues>, options: SaveOptions) => Promise<unknown>;
}

/** Frame around the panels of an edge's page, of both kinds: head, acts, edit in place, deletion. */
export function EdgePage<Edge extends SomeEdge>({
  badge,
  lead,
  renderDelete,
  children,
  ...props
}: Props<Edge> & {
  readonly badge: ReactNode;
  readonly lead: string | undefined;
  readonly renderDelete: (onClose: () => void) => ReactNode;
  /** `onEdit` opens the edit; undefined where the person may not, or does already. */
  readonly children: (onEdit: (() => void) | undefined) => ReactNode;
}) {
  const edge = props.reply.document;
  const [params, setParams] = useUrlState();
  const mayWrite = useMayWrite();
  const isEditing = params.has('edit') && mayWrite;
  useCrumb(edgeName(edge));
  return (
    <>
      <PageHead
        title={edgeName(edge)}
        badge={badge}
        lead={lead}
        actions={
          isEditing ? undefined : (
            <>
              <ButtonLink to={`/who-gets-in?edge=${edge.id}`}>Who gets in here</ButtonLink>
              {mayWrite ? <EditActs /> : null}
            </>
          )
        }
      />
      <LookOnly what="edges" />
      {isEditing ? <EditEdge {...props} onClose={() => setParams({ edit: undefined })} /> : null}
      {children(mayWrite && !isEditing ? () => setParams({ edit: '1' }) : undefined)}
      {params.has('delete') && mayWrite ? renderDelete(() => setParams({ delete: undefined })) : null}
    </>
  );
}

function EditEdge<Edge extends SomeEdge>({
  kind,
  reply,
  reread,
  update,
  onClose,
}: Props<Edge> & { readonly onClose: () => void }) {
  const edit = useEdit({
    seen: reply,
    reread,
    toValues: (edge: Edge): EdgeValues => ({ ...aboutOf(edge), hostports: [...(edge.hostports ?? [''])] }),
    send: ({ hostports, ...rest }, options) =>
      update({ ...rest, ...(hostports === undefined ? {} : { hostports: hostportsOf(kind, hostports) }) }, options),
    fieldsByError: { ...hostportErrors, 7073: 'description', 7074: 'metadata' },
    onSaved: () => {
      toast('Saved.');
      onClose();
    },
  });
  return (
    <EditPanel label="Edit the edge" edit={edit} onClose={onClose}>
      <HostportsField
        kind={kind}
        hostports={edit.values.hostports}
        onChange={(hostports) => edit.set('hostports', [...hostports])}
        error={edit.error}
      />
      <AboutFields values={edit.values} onChange={edit.setAll} errorAt={edit.errorAt} />
    </EditPanel>
  );
}
