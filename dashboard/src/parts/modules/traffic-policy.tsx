import { PolicyField } from '../policy/policy-field.tsx';
import { phasesIn, policyErrors } from '../policy/policy-words.ts';
import type { ModuleKind } from './kind.ts';

export const trafficPolicyKind: ModuleKind = {
  icon: 'filter',
  title: 'Traffic policy',
  badge: 'Policy',
  whenNotSet: 'No rules of a policy',
  errors: policyErrors('value'),
  toValues: (view) => ({ enabled: view?.enabled ?? true, value: view?.['value'] ?? '' }),
  toSettings: ({ enabled, value }) => Promise.resolve({ enabled, value: String(value) }),
  Summary: ({ view }) => phasesIn(String(view['value'])),
  Fields: ({ edit, document }) => (
    <PolicyField
      policy={String(edit.values['value'])}
      onChange={(policy) => edit.set('value', policy)}
      error={edit.errorAt('value')}
      url={'match' in document ? `https://www.example.com${document.match}` : 'tcp://tcp.example.com:5432'}
    />
  ),
};
