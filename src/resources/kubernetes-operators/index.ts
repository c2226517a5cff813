import { Type } from 'typebox';

import { text, textFields, withText } from '../../api/body/text-fields.ts';
import { nullable, viewFields } from '../../api/body/view-fields.ts';
import { notFound } from '../../api/errors.ts';
import { crudOperations } from '../../api/crud.ts';
import { readFilter } from '../../api/filter/read-filter.ts';
import { filterName } from '../../api/http/query.ts';
import { commonFields, listIn, textIn } from '../../api/filter/fields.ts';
import { pageSchema, presentPage } from '../../api/list-page.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { hasPrefix, toTimestamp } from '../../lib/ids.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import * as errors from './errors.ts';
import { kubernetesOperators, migrations } from './table.ts';
import type { KubernetesOperator } from './table.ts';

const path = '/kubernetes_operators';
const tag = 'Kubernetes operators';
const field = (what: string, example: string) => Type.Optional(text(255, what, example));
const deployment = Type.Object(
  {
    name: field('Name of the deployment.', 'operator'),
    namespace: field('Its namespace.', 'ingress'),
    version: field('Version of the operator.', '0.20.0'),
    cluster_name: field('Name of the cluster.', 'production'),
  },
  { additionalProperties: false, description: 'The place in a cluster where the operator runs, as it says.' },
);
const features = Type.Array(text(64, 'A feature.', 'ingress'), {
  description: 'Features that are switched on in the operator. "bindings" is refused.',
  maxItems: 16,
  examples: [['ingress', 'gateway']],
});
const region = field('The region that the operator uses; nothing depends on it.', 'global');
const bindingInput = Type.Object(
  {
    endpoint_selectors: Type.Optional(
      Type.Array(text(4096, 'An expression.', 'true'), {
        description: 'Expressions that choose endpoints.',
        maxItems: 64,
        examples: [['true']],
      }),
    ),
    csr: Type.Optional(text(16_384, 'A request for a certificate.', 'PEM')),
    ingress_endpoint: field('An address.', 'ingress.example.com:443'),
  },
  { additionalProperties: false, description: 'Refused: bindings are not offered.' },
);
const KubernetesOperatorView = Type.Object(
  {
    ...viewFields('operator'),
    updated_at: Type.String({ format: 'date-time', description: 'When it was changed last, RFC 3339.' }),
    principal: Type.Ref('Ref'),
    enabled_features: features,
    region: Type.String({ description: 'As it was given.' }),
    deployment,
    binding: nullable('string', 'Always null: bindings are not offered.'),
  },
  { $id: 'KubernetesOperator' },
);
const writable = {
  ...textFields,
  enabled_features: Type.Optional(features),
  region,
  deployment: Type.Optional(deployment),
  binding: Type.Optional(bindingInput),
};
const KubernetesOperatorCreate = Type.Object(writable, {
  $id: 'KubernetesOperatorCreate',
  additionalProperties: false,
});
const KubernetesOperatorUpdate = Type.Object(writable, {
  $id: 'KubernetesOperatorUpdate',
  additionalProperties: false,
});
const BoundEndpoints = pageSchema('KubernetesOperatorBoundEndpoints', 'endpoints', Type.Ref('Endpoint'));

type Change = Partial<Pick<KubernetesOperator, 'enabled_features' | 'region' | 'deployment'>> & {
  readonly binding?: object;
};

function withChange(operator: KubernetesOperator, { binding, ...change }: Change): KubernetesOperator {
  const { enabled_features = operator.enabled_features, region: newRegion = operator.region } = change;
  const isBound = enabled_features.some((feature) => feature.toLowerCase() === 'bindings');
  if (isBound || binding !== undefined) throw new UserError(errors.bindingsNotOffered);
  return {
    ...operator,
    enabled_features,
    region: newRegion,
    deployment: { ...operator.deployment, ...change.deployment },
  };
}

function operations({ store }: ResourceContext): readonly Operation[] {
  return [
    ...crudOperations({
      store,
      table: kubernetesOperators,
      path,
      noun: 'Kubernetes operator',
      plural: 'Kubernetes operators',
      name: 'KubernetesOperators',
      tag,
      listKey: 'operators',
      rights: { read: 'everyone', write: 'everyone' },
      filterFields: { ...commonFields, region: textIn('region'), enabled_features: listIn('enabled_features') },
      takesNewId: true,
      view: KubernetesOperatorView,
      createBody: KubernetesOperatorCreate,
      updateBody: KubernetesOperatorUpdate,
      errors: { create: [errors.bindingsNotOffered], update: [errors.bindingsNotOffered], delete: [] },
      create(transaction, { caller, body, newId }) {
        const first = kubernetesOperators.newDocument(caller.accountId, newId);
        const made = { ...first, updated_at: first.created_at, principal: caller.principal.id };
        const empty = { ...made, enabled_features: [], region: 'global', deployment: {} };
        return kubernetesOperators.insert(transaction, withText(withChange(empty, body), body));
      },
      update(transaction, { body }, previous) {
        const changed = withText(withChange(previous, body), body);
        const isSame = JSON.stringify(changed) === JSON.stringify(withText(previous, {}));
        const updated = isSame ? previous : { ...changed, updated_at: toTimestamp(Date.now()) };
        return kubernetesOperators.update(transaction, previous, updated);
      },
      async remove(transaction, _call, operator) {
        await kubernetesOperators.delete(transaction, operator);
      },
      present: ({ account_id: _accountId, principal, ...operator }, { uri }) => ({
        ...operator,
        principal: { id: principal, uri: hasPrefix(principal, 'bot') ? uri(`/bot_users/${principal}`) : '' },
        binding: null,
        uri: uri(`${path}/${operator.id}`),
      }),
    }),
    operation({
      method: 'GET',
      path: `${path}/{id}/bound_endpoints`,
      operationId: 'KubernetesOperatorsBoundEndpoints',
      summary: 'List endpoints bound to a Kubernetes operator',
      description: 'Always empty: the binding "kubernetes" is not offered.',
      tag,
      rights: 'everyone',
      listedPrefix: 'ep',
      filterFields: commonFields,
      status: 200,
      response: BoundEndpoints,
      errors: [notFound],
      handle: async (call) => {
        const { id = '' } = call.params;
        const operator = await store.find(kubernetesOperators, call.caller.accountId, id);
        if (operator === undefined) throw new UserError(notFound, { noun: 'Kubernetes operator', id: quote(id) });
        readFilter(call.filters[filterName], commonFields);
        return presentPage(call, `${path}/${id}/bound_endpoints`, 'endpoints', [], undefined);
      },
    }),
  ];
}

/** Operators of Kubernetes clusters register here and say what they are; what they ask for are cloud endpoints and agents' ones. */
export const kubernetesOperatorsResource: Resource = {
  errors: Object.values(errors),
  migrations,
  schemas: [KubernetesOperatorView, KubernetesOperatorCreate, KubernetesOperatorUpdate, BoundEndpoints],
  operations,
};
