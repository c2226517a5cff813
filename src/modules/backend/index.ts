import { Type } from 'typebox';
import type { Static } from 'typebox';

import { UserError } from '../../errors/user-error.ts';
import { enabledInput, enabledView, noReferences } from '../module.ts';
import type { EdgeModule } from '../module.ts';

const Input = Type.Object(
  {
    enabled: enabledInput,
    backend_id: Type.Optional(
      Type.String({
        description: 'Id of the backend that receives the traffic. Required.',
        examples: ['bkdsc_2tQzYDLwIVU45s8sSMNpRfQp1Ng'],
      }),
    ),
  },
  { $id: 'BackendModuleReplace', additionalProperties: false },
);

const View = Type.Object(
  { enabled: enabledView, backend: Type.Ref('Ref') },
  { $id: 'BackendModule', additionalProperties: false },
);

interface BackendSettings {
  readonly enabled: boolean;
  readonly backend_id: string;
}

/** Where the traffic goes. Without it, or switched off, the edge or route is offline. */
export const backend: EdgeModule<Static<typeof Input>, BackendSettings> = {
  name: 'backend',
  title: 'Backend',
  targets: ['tcp_edge', 'https_route'],
  input: Input,
  view: View,
  accept({ enabled = true, backend_id = '' }) {
    if (backend_id === '') throw new UserError(20018);
    return { enabled, backend_id };
  },
  references: ({ backend_id }) => ({ ...noReferences, static_backend: [backend_id] }),
  present: ({ enabled, backend_id }, ref) => ({ enabled, backend: ref('static_backend', backend_id) }),
  build: ({ backend_id }) => ({ backendId: backend_id }),
};
