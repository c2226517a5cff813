import { Type } from 'typebox';
import type { Static } from 'typebox';

import { duplicateEntry, notAnIpPolicyId } from '../../errors/shared.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { addressStep } from '../address-step.ts';
import { moduleInput, moduleView, Ref } from '../module.ts';
import type { EdgeModule } from '../module.ts';
import * as errors from './errors.ts';

const policyLimit = 100;

const Input = moduleInput('IpRestriction', {
  ip_policy_ids: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Ids of all IP policies used to check whether a source IP may access the endpoint. At least one.',
      examples: [['ipp_2tQzYDLwIVU45s8sSMNpRfQp1Ng']],
    }),
  ),
});

const View = moduleView('IpRestriction', {
  ip_policies: Type.Array(Type.Ref('Ref'), {
    description: 'All IP policies used to check whether a source IP may access the endpoint.',
  }),
});

interface IpRestrictionSettings {
  readonly enabled: boolean;
  readonly ip_policy_ids: readonly string[];
}

export const ipRestriction: EdgeModule<Static<typeof Input>, IpRestrictionSettings> = {
  name: 'ip_restriction',
  title: 'IP Restriction',
  targets: ['tcp_edge', 'tls_edge', 'https_route'],
  input: Input,
  view: View,
  errors: [...Object.values(errors), notAnIpPolicyId, duplicateEntry],
  references: [
    {
      kind: 'ip_policy',
      field: 'ip_policy_ids',
      nameField: 'ip_policies',
      ids: ({ ip_policy_ids }) => ip_policy_ids,
      wrongKind: (id) => new UserError(notAnIpPolicyId, { field: 'ip_policy_ids', id: quote(id) }),
      missing: (id) => new UserError(errors.modulePolicyNotFound, { id: quote(id) }),
    },
  ],
  accept({ enabled = true, ip_policy_ids = [] }) {
    if (ip_policy_ids.length === 0) throw new UserError(errors.moduleWithoutPolicy);
    if (ip_policy_ids.length > policyLimit) {
      throw new UserError(errors.tooManyPolicies, { count: ip_policy_ids.length, limit: policyLimit });
    }
    return { enabled, ip_policy_ids };
  },
  present: ({ enabled, ip_policy_ids }, ref) => ({
    enabled,
    ip_policies: ip_policy_ids.map((id): Ref => ref('ip_policy', id)),
  }),
  build: ({ ip_policy_ids }) => ({
    steps: [addressStep(({ services, source }) => services.access.allows(ip_policy_ids, source), ip_policy_ids)],
  }),
};
