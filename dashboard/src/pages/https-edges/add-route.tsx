import { useState } from 'react';

import type { HttpsEdge, HttpsEdgeRouteCreate } from '../../../../client/src/index.ts';
import { useAction } from '../../api/action.ts';
import { client } from '../../api/client.ts';
import { fieldOfError } from '../../api/field-errors.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { toast } from '../../components/toast.tsx';
import { useUrlState } from '../../lib/url-state.ts';
import { BackendChoice, backendErrors, backendIdOf, draftOf } from '../../parts/backend-choice.tsx';
import { Inputs } from '../../resource/form.tsx';
import { matchFields, routeErrors } from './route-fields.tsx';

type Match = Pick<HttpsEdgeRouteCreate, 'match' | 'match_type'>;

export function AddRoute({ edge, onClose }: { readonly edge: HttpsEdge; readonly onClose: () => void }) {
  const [, setParams] = useUrlState();
  const [values, setValues] = useState<Match>({ match: '/', match_type: 'path_prefix' });
  const [draft, setDraft] = useState(draftOf(undefined));
  const action = useAction();
  const errors = { ...routeErrors, ...backendErrors };
  const names = { ...values, backend: 0, address: 0 };
  const at = action.error === undefined ? undefined : fieldOfError(action.error, names, errors);
  const submit = async (): Promise<void> => {
    let made = '';
    const create = async (): Promise<void> => {
      const backendId = await backendIdOf(draft);
      // A second try must not make the backend again.
      if (backendId !== undefined) setDraft(draftOf(backendId));
      const { id } = await client.call('HttpsEdgeRoutesCreate', {
        path: { edge_id: edge.id },
        body: {
          ...values,
          ...(backendId === undefined ? {} : { backend: { backend_id: backendId } }),
        },
      });
      made = id;
    };
    if (!(await action.run(create))) return;
    toast(`Added the route ${values.match}.`);
    setParams({ add: undefined, route: made });
  };
  return (
    <FormDialog
      title="Add a route"
      act="Add route"
      isPending={action.isPending}
      error={at === undefined ? action.error : undefined}
      onSubmit={() => void submit()}
      onClose={onClose}
    >
      <Inputs
        fields={matchFields}
        values={values}
        errorAt={(name) => (name === at ? action.error?.message : undefined)}
        callError={action.error}
        onChange={(name, value) => setValues({ ...values, [name]: value })}
      />
      <BackendChoice draft={draft} onChange={setDraft} isOptional error={action.error} />
    </FormDialog>
  );
}
