import { useState } from 'react';

import type { HttpsEdge } from '../../../../client/src/index.ts';
import { useAction } from '../../api/action.ts';
import { client } from '../../api/client.ts';
import { fieldOfError } from '../../api/field-errors.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { toast } from '../../components/toast.tsx';
import { useUrlState } from '../../lib/url-state.ts';
import { BackendChoice, backendErrors, backendIdOf, draftOf } from '../../parts/backend-choice.tsx';
import { MatchFields, routeErrors } from './match-fields.tsx';
import type { Match } from './match-fields.tsx';

export function AddRoute({ edge, onClose }: { readonly edge: HttpsEdge; readonly onClose: () => void }) {
  const [, setParams] = useUrlState();
  const [match, setMatch] = useState<Match>({ match_type: 'path_prefix', match: '/' });
  const [draft, setDraft] = useState(draftOf(undefined));
  const action = useAction();
  const values = { ...match, backend: 0, address: 0 };
  const field =
    action.error === undefined ? undefined : fieldOfError(action.error, values, { ...routeErrors, ...backendErrors });
  const errorAt = (name: keyof typeof values) => (name === field ? action.error?.message : undefined);
  const submit = async (): Promise<void> => {
    let made = '';
    const create = async (): Promise<void> => {
      const backendId = await backendIdOf(draft);
      // A second try must not make the backend again.
      if (backendId !== undefined) setDraft(draftOf(backendId));
      const { id } = await client.call('HttpsEdgeRoutesCreate', {
        path: { edge_id: edge.id },
        body: { ...match, ...(backendId === undefined ? {} : { backend: { backend_id: backendId } }) },
      });
      made = id;
    };
    if (!(await action.run(create))) return;
    toast(`Added the route ${match.match}.`);
    setParams({ add: undefined, route: made });
  };
  return (
    <FormDialog
      title="Add a route"
      act="Add route"
      isPending={action.isPending}
      error={field === undefined ? action.error : undefined}
      onSubmit={() => void submit()}
      onClose={onClose}
    >
      <MatchFields values={match} onChange={(part) => setMatch({ ...match, ...part })} errorAt={errorAt} />
      <BackendChoice draft={draft} onChange={setDraft} isOptional errorAt={errorAt} />
    </FormDialog>
  );
}
