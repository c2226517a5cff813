import { edgeKinds } from './model-edge-kinds.ts';
import { missing, policies, present, ref, refs, texts } from './model.ts';
import type { Choice, Fault, Kind, Model, Step, Thing } from './model.ts';

const cidrs = ['10.0.0.0/8', '192.0.2.0/24', '198.51.100.7/32', '2001:db8::/32'];
const types = ['endpoints', 'agent', 'dashboard'];

export const kinds: Readonly<Record<string, Kind>> = {
  key: {
    path: '/api_keys',
    listKey: 'keys',
    missing: 222,
    create(model, choice) {
      const { sent, kept } = texts(choice);
      if (choice.flag !== true) return { body: sent, fields: { ...kept, owner_id: model.userId } };
      const owner_id = model.id('bot', choice.one);
      return { body: { ...sent, owner_id }, fault: ownerFault(model, owner_id), fields: { ...kept, owner_id } };
    },
    update: (_model, { owner_id, description }, choice) => {
      const { sent, kept } = texts(choice, description);
      return { body: sent, fields: { ...kept, owner_id } };
    },
  },
  bot: {
    path: '/bot_users',
    listKey: 'bot_users',
    missing: 222,
    create: (model, choice) => botStep(model, choice, { name: botName(model, choice), active: choice.flag ?? true }),
    update: (model, { id, name, active }, choice) => {
      const renamed = choice.text === undefined ? name : botName(model, choice);
      return botStep(model, choice, { name: renamed, active: choice.flag ?? active }, id);
    },
    below: (model, { id }) => model.all('key').flatMap((key) => (key['owner_id'] === id ? [['key', key.id]] : [])),
  },
  policy: {
    path: '/ip_policies',
    listKey: 'ip_policies',
    missing: 222,
    create: (_model, choice) => ({ body: texts(choice).sent, fields: texts(choice).kept }),
    update: (_model, { description }, choice) => {
      const { sent, kept } = texts(choice, description);
      return { body: sent, fields: kept };
    },
    kept: (model, { id }) => (model.isReferenced(id) ? 1420 : undefined),
    below: (model, { id }) => model.all('rule').flatMap((rule) => (policyOf(rule) === id ? [['rule', rule.id]] : [])),
  },
  rule: {
    path: '/ip_policy_rules',
    listKey: 'ip_policy_rules',
    missing: 1404,
    create(model, choice) {
      const { sent, kept } = texts(choice);
      const policy = model.id('policy', choice.one);
      const cidr = cidrs[choice.few.length % cidrs.length] ?? '';
      const action = choice.flag === true ? 'deny' : 'allow';
      const fault = missing(model, 'policy', [policy], 1402) ?? takenCidr(model, policy, cidr);
      const fields = { ...kept, cidr, action, ip_policy: ref('/ip_policies', policy) };
      return { body: { ...sent, ip_policy_id: policy, cidr, action }, fault, fields };
    },
    update(model, rule, choice) {
      const { sent, kept } = texts(choice, rule['description']);
      const cidr = choice.flag === undefined ? rule['cidr'] : cidrs[choice.one % cidrs.length];
      const body = choice.flag === undefined ? sent : { ...sent, cidr };
      const { action, ip_policy } = rule;
      return {
        body,
        fault: takenCidr(model, policyOf(rule), cidr, rule.id),
        fields: { ...kept, cidr, action, ip_policy },
      };
    },
  },
  restriction: {
    path: '/ip_restrictions',
    listKey: 'ip_restrictions',
    missing: 222,
    create(model, choice) {
      const ids = policies(model, choice);
      const type = types[choice.one % types.length];
      const { sent, kept } = texts(choice);
      const fault = ids.length === 0 ? 1804 : missing(model, 'policy', ids, 1801);
      const body = { ...sent, ...present({ enforced: choice.flag }), type, ip_policy_ids: ids };
      return { body, fault, fields: { ...kept, enforced: choice.flag ?? false, type, ip_policies: refs(ids) } };
    },
    update(model, { description, enforced, type, ip_policies }, choice) {
      const ids = policies(model, choice);
      const { sent, kept } = texts(choice, description);
      const fields = {
        ...kept,
        enforced: choice.flag ?? enforced,
        type,
        ip_policies: ids.length === 0 ? ip_policies : refs(ids),
      };
      const body = { ...sent, ...present({ enforced: choice.flag }), ip_policy_ids: ids };
      return { body, fault: missing(model, 'policy', ids, 1801), fields };
    },
  },
  ...edgeKinds,
};

function botName(model: Model, { one }: Choice): string {
  return `bot ${model.run} ${one % 4}`;
}

function botStep(
  model: Model,
  choice: Choice,
  fields: { readonly name: unknown; readonly active: unknown },
  id?: string,
): Step {
  const taken = model.all('bot').some((bot) => bot['name'] === fields.name && bot.id !== id);
  return { body: { name: fields.name, ...present({ active: choice.flag }) }, fault: taken ? 4112 : undefined, fields };
}

function takenCidr(model: Model, policy: string, cidr: unknown, ruleId?: string): Fault | undefined {
  const duplicates = model
    .all('rule')
    .filter((rule) => policyOf(rule) === policy && rule['cidr'] === cidr && rule.id !== ruleId);
  return duplicates.length > 0 ? 1408 : undefined;
}

function policyOf(rule: Thing): string {
  // The field `ip_policy` of every rule in the model is a reference.
  return (rule['ip_policy'] as { readonly id: string }).id;
}

export function ownerFault(model: Model, ownerId: string): Fault | undefined {
  const owner = model.find('bot', ownerId);
  return owner === undefined ? 634 : owner['active'] === false ? 20022 : undefined;
}
