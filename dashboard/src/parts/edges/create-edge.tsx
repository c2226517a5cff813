import { useState } from 'react';

import { useAction } from '../../api/action.ts';
import { fieldOfError } from '../../api/field-errors.ts';
import { DescriptionField } from '../../components/edit-panel.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { toast } from '../../components/toast.tsx';
import { useLanding, useUrlState } from '../../lib/url-state.ts';
import { BackendChoice, backendErrors, backendIdOf, draftOf } from '../backend-choice.tsx';
import { edgeName } from '../backends.ts';
import type { NamedEdge } from '../backends.ts';
import { hostportErrors, HostportsField, hostportsOf, useHostports } from '../hostports.tsx';

export interface NewEdge {
  readonly description: string;
  readonly hostports: string[];
}

/** The form for an edge of either kind. `?backend=<id>` chooses where it sends traffic. */
export function CreateEdge({
  kind,
  create,
}: {
  readonly kind: 'https' | 'tcp';
  readonly create: (edge: NewEdge, backendId: string | undefined) => Promise<NamedEdge>;
}) {
  const [params, setParams] = useUrlState();
  const land = useLanding();
  const [description, setDescription] = useState('');
  const [hostports, setHostports] = useHostports();
  const [draft, setDraft] = useState(draftOf(params.get('backend') ?? undefined));
  const action = useAction();
  const values = { description, hostports, backend: 0, address: 0 };
  const numbers = { ...hostportErrors, ...backendErrors, 7073: 'description' };
  const field = action.error === undefined ? undefined : fieldOfError(action.error, values, numbers);
  const errorAt = (name: keyof typeof values) => (name === field ? action.error?.message : undefined);
  const submit = async (): Promise<void> => {
    let made: NamedEdge | undefined;
    const act = async (): Promise<void> => {
      const backendId = await backendIdOf(draft);
      // A second try must not make the backend again.
      if (backendId !== undefined) setDraft(draftOf(backendId));
      made = await create({ description, hostports: hostportsOf(kind, hostports) }, backendId);
    };
    if (!(await action.run(act)) || made === undefined) return;
    toast(`Created the edge ${edgeName(made)}.`);
    land(`/${kind}-edges/${made.id}`);
  };
  return (
    <FormDialog
      title={kind === 'https' ? 'Create an HTTPS edge' : 'Create a TCP edge'}
      act="Create edge"
      isPending={action.isPending}
      error={field === undefined ? action.error : undefined}
      onSubmit={() => void submit()}
      onClose={() => setParams({ create: undefined, backend: undefined, from: undefined })}
    >
      <DescriptionField value={description} onChange={setDescription} error={errorAt('description')} startsFocused />
      <HostportsField kind={kind} hostports={hostports} onChange={setHostports} error={action.error} />
      <BackendChoice
        draft={draft}
        onChange={setDraft}
        isOptional
        hint={
          kind === 'https'
            ? 'Where the requests for every path go. Routes of the edge can send some paths elsewhere.'
            : undefined
        }
        errorAt={errorAt}
      />
    </FormDialog>
  );
}
