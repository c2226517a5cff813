import { Type } from 'typebox';
import type { Static } from 'typebox';

import { notAnIpPolicyId, policiesTooLarge, vaultNameUnknown } from '../../errors/shared.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { moduleInput, moduleView } from '../module.ts';
import type { EdgeModule, ModuleTarget } from '../module.ts';
import * as policyErrors from '../traffic-policy/errors.ts';
import {
  acceptPolicy,
  checkTarget,
  preparePolicy,
  readStoredPolicy,
  toFormerPaths,
  toPhases,
} from '../traffic-policy/service.ts';

const ruleText = 'They are kept as they were sent.';
const Rule = Type.Object(
  {
    name: Type.Optional(
      Type.Union([Type.String(), Type.Number()], { description: 'A name for people.', examples: ['office'] }),
    ),
    expressions: Type.Optional(
      Type.Array(Type.String(), {
        description: 'The actions run if all of these are true.',
        examples: [["req.url.path == '/admin'"]],
      }),
    ),
    actions: Type.Optional(
      Type.Array(
        Type.Object(
          {
            type: Type.Optional(Type.String({ description: 'Name of the action.', examples: ['deny'] })),
            config: Type.Optional(
              Type.Unknown({
                description: 'Settings of the action, as its type asks for them.',
                examples: [{ status_code: 404 }],
              }),
            ),
          },
          { additionalProperties: false },
        ),
        { description: 'Actions of the rule, in this order.', examples: [[{ type: 'deny' }]] },
      ),
    ),
  },
  { additionalProperties: false },
);
const Rules = (when: string) =>
  Type.Optional(
    Type.Array(Rule, { description: `${when} ${ruleText}`, examples: [[{ actions: [{ type: 'deny' }] }]] }),
  );
const RulesView = (when: string) => Type.Array(Rule, { description: `${when} ${ruleText}` });
const inboundText = 'Rules for requests, or for connections to a TCP or TLS edge.';
const outboundText = 'Rules for the answers of a route.';

const Input = moduleInput(
  'Policy',
  {
    inbound: Rules(inboundText),
    outbound: Rules(outboundText),
  },
  'The older form of `traffic_policy`, which does the same. One of them can be switched on (docs/traffic-policy.md).',
);
const View = moduleView('Policy', { inbound: RulesView(inboundText), outbound: RulesView(outboundText) });

interface PolicySettings {
  readonly enabled: boolean;
  readonly inbound: readonly object[];
  readonly outbound: readonly object[];
}

/** The older form of traffic policies: the module `traffic_policy` does what it says. */
export const policy: EdgeModule<Static<typeof Input>, PolicySettings> = {
  name: 'policy',
  title: 'Policy',
  targets: ['tcp_edge', 'tls_edge', 'https_route'],
  input: Input,
  view: View,
  errors: [...Object.values(policyErrors), notAnIpPolicyId, vaultNameUnknown, policiesTooLarge],
  references: [
    {
      kind: 'ip_policy',
      field: 'inbound',
      ids: ({ inbound, outbound }) => [...inbound, ...outbound].flatMap(policyIdsOf),
      wrongKind: (id) => new UserError(notAnIpPolicyId, { field: 'inbound', id: quote(id) }),
      missing: (id) => new UserError(policyErrors.ipPolicyUnknown, { id: quote(id) }),
    },
  ],
  secretsIn: (settings, target) => readStoredPolicy(textOf(settings, target)).reads.secrets,
  async prepare(given: Partial<PolicySettings>, target) {
    const { enabled = true, inbound = [], outbound = [] } = given;
    return preparePolicy(textOf({ enabled, inbound, outbound }, target));
  },
  memoryKib: (settings, target) => readStoredPolicy(textOf(settings, target)).kib,
  accept: ({ enabled = true, inbound, outbound }) => ({ enabled, inbound: inbound ?? [], outbound: outbound ?? [] }),
  checkTarget(settings, target) {
    withFormerPaths(() => checkTarget(readStoredPolicy(textOf(settings, target)), target));
  },
  checkWritten(settings, target) {
    withFormerPaths(() => acceptPolicy(textOf(settings, target)));
  },
  excludes: { name: 'traffic_policy', error: () => new UserError(policyErrors.twoPolicies) },
  present: (settings) => settings,
  runAs: (settings, target) => ({
    name: 'traffic_policy',
    settings: { enabled: settings.enabled, value: textOf(settings, target) },
  }),
  build() {
    throw new Error('it is run as the module traffic_policy');
  },
};

function withFormerPaths(check: () => unknown): void {
  try {
    check();
  } catch (error) {
    throw error instanceof UserError ? toFormerPaths(error) : error;
  }
}

function textOf({ inbound, outbound: after }: PolicySettings, target: ModuleTarget): string {
  const isHttp = target === 'https_route';
  // A list without rules would name a phase that connections do not come to.
  const outbound = after.length === 0 ? undefined : after;
  return JSON.stringify(toPhases({ inbound, outbound }, isHttp));
}

/** IP policies that a rule names. */
function policyIdsOf(rule: object): readonly string[] {
  return actionsOf(rule).flatMap(({ config }) => config?.ip_policies ?? []);
}

interface FormerAction {
  readonly type?: string;
  readonly config?: { readonly ip_policies?: readonly string[] | null } | null;
}

function actionsOf(rule: object): readonly FormerAction[] {
  // Stored rules have been read before.
  const { actions } = rule as { readonly actions?: readonly FormerAction[] };
  return actions ?? [];
}
