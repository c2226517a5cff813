import { Type } from 'typebox';
import type { Static } from 'typebox';

import { notAnIpPolicyId, policiesTooLarge, vaultNameUnknown } from '../../errors/shared.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { moduleInput, moduleView } from '../module.ts';
import type { EdgeModule, ModuleTarget, NamedSecret } from '../module.ts';
import { acceptPolicy, preparePolicy, readPolicy, readStoredPolicy } from './document/known-policies.ts';
import { ipPolicyIdsIn } from './document/read-policy.ts';
import { checkHolder, checkTarget } from './document/check-target.ts';
import type { PolicyHolder } from './document/check-target.ts';
import * as errors from './errors.ts';
import { policyPart } from './run/policy-steps.ts';

const value = Type.String({
  description:
    'The policy, as YAML or JSON: phases (on_tcp_connect, on_http_request, on_http_response) with lists of rules, each with name, ' +
    'expressions and actions. It is kept to the byte. YAML may have 8 KiB with 700 lines, keys, items and brackets, JSON 256 KiB.',
  examples: ['{"on_http_request": [{"actions": [{"type": "deny", "config": {"status_code": 404}}]}]}'],
});

const Input = moduleInput(
  'TrafficPolicy',
  { value },
  'Rules for connections, requests and answers (docs/traffic-policy.md).',
);
const View = moduleView('TrafficPolicy', { value });

export interface TrafficPolicySettings {
  readonly enabled: boolean;
  readonly value: string;
}

/** Rules that decide about visits, and change them. */
export const trafficPolicy: EdgeModule<Static<typeof Input>, TrafficPolicySettings> = {
  name: 'traffic_policy',
  title: 'Traffic Policy',
  targets: ['tcp_edge', 'tls_edge', 'https_route', 'agent_endpoint'],
  input: Input,
  view: View,
  errors: [...Object.values(errors), notAnIpPolicyId, vaultNameUnknown, policiesTooLarge],
  references: [
    {
      kind: 'ip_policy',
      field: 'value',
      ids: ({ value: text }) => ipPolicyIdsIn(readStoredPolicy(text)),
      wrongKind: (id) => new UserError(notAnIpPolicyId, { field: 'value', id: quote(id) }),
      missing: (id) => new UserError(errors.ipPolicyUnknown, { id: quote(id) }),
    },
  ],
  secretsIn: ({ value: text }) => readStoredPolicy(text).reads.secrets,
  accept({ enabled = true, value: text }) {
    readStoredPolicy(text);
    return { enabled, value: text };
  },
  checkTarget(settings, target: ModuleTarget) {
    checkTarget(readStoredPolicy(settings.value), target);
  },
  checkWritten({ value: text }) {
    acceptPolicy(text);
  },
  prepare: ({ value: text }) => preparePolicy(text),
  memoryKib: ({ value: text }) => readStoredPolicy(text).kib,
  present: (settings) => settings,
  build: ({ value: text }) => policyPart(readPolicy(text)),
};

/** Checks the policy of an endpoint. Returns its settings, and the IP policies and secrets that it names. Throws `UserError`. */
export function acceptEndpointPolicy(
  text: string,
  holder: PolicyHolder,
): {
  readonly settings: TrafficPolicySettings;
  readonly ipPolicyIds: readonly string[];
  readonly secrets: readonly NamedSecret[];
  /** Estimate of the memory that it takes. */
  readonly kib: number;
} {
  const policy = acceptPolicy(text);
  checkHolder(policy, holder);
  const settings = { enabled: true, value: text };
  return { settings, ipPolicyIds: ipPolicyIdsIn(policy), secrets: policy.reads.secrets, kib: policy.kib };
}

/** The answer to a policy that names an IP policy which the account does not have. */
export function missingIpPolicy(id: string): UserError {
  return new UserError(errors.ipPolicyUnknown, { id: quote(id) });
}
