import { Type } from 'typebox';
import type { Static } from 'typebox';

import { quote, UserError } from '../../errors/user-error.ts';
import { moduleInput, moduleView } from '../module.ts';
import type { EdgeModule } from '../module.ts';
import * as errors from './errors.ts';

const Input = moduleInput('Backend', {
  backend_id: Type.Optional(
    Type.String({
      description: 'Id of the backend that receives the traffic. Required.',
      examples: ['bkdsc_2tQzYDLwIVU45s8sSMNpRfQp1Ng'],
    }),
  ),
});

const View = moduleView('Backend', { backend: Type.Ref('Ref') });

interface BackendSettings {
  readonly enabled: boolean;
  readonly backend_id: string;
}

/** The backend that receives the traffic. Without it, or switched off, the edge or route is offline. */
export const backend: EdgeModule<Static<typeof Input>, BackendSettings> = {
  name: 'backend',
  title: 'Backend',
  targets: ['tcp_edge', 'tls_edge', 'https_route'],
  input: Input,
  view: View,
  errors: Object.values(errors),
  references: [
    {
      kind: 'backend',
      field: 'backend_id',
      nameField: 'backend',
      ids: ({ backend_id }) => [backend_id],
      wrongKind: (id) => new UserError(errors.notABackendId, { field: 'backend_id', id: quote(id) }),
      missing: (id) => new UserError(errors.backendMissing, { id: quote(id) }),
    },
  ],
  accept({ enabled = true, backend_id = '' }) {
    if (backend_id === '') throw new UserError(errors.backendRequired);
    return { enabled, backend_id };
  },
  present: ({ enabled, backend_id }, ref) => ({ enabled, backend: ref('backend', backend_id) }),
  build: ({ backend_id }) => ({ backendId: backend_id }),
};
