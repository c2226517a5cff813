import { Type } from 'typebox';

import { nullable } from '../../api/body/view-fields.ts';

const rule = Type.Unsafe<unknown>({
  type: ['object', 'null'],
  description: 'The rule that contains the address and decides, as it was at that moment; null if none does.',
  required: ['id', 'cidr', 'action', 'ip_policy_id'],
  properties: {
    id: Type.String(),
    cidr: Type.String(),
    action: Type.String({ enum: ['allow', 'deny'] }),
    ip_policy_id: Type.String(),
  },
});

const ExplainedCheck = Type.Object({
  kind: Type.String({ enum: ['ip_restriction', 'edge', 'route', 'module'], description: 'What was met.' }),
  id: Type.String({ description: 'Id of the restriction, or of the edge or route whose module it is.' }),
  module: nullable('string', 'Name of the module, such as "ip_restriction"; null for everything else.'),
  effect: Type.String({
    enum: ['passes', 'warns', 'refuses', 'depends', 'answers', 'not_served', 'not_reached'],
    description:
      'depends: on something that is not kept. answers: in place of the backend. not_served: nothing is there for such a request. not_reached: something before it has decided.',
  }),
  ip_policy_ids: Type.Array(Type.String(), { description: 'IP policies that were asked.' }),
  rule,
  reason: Type.String({ description: 'The reason of this effect, in words.' }),
});

const verdicts = ['allowed', 'refused', 'not_served', 'depends'] as const;

export const ExplainedMoment = Type.Object(
  {
    configuration_version: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      description: 'Version of the configuration; null for that of now, and where it is not known.',
    }),
    is_known: Type.Boolean({
      description: 'false: the configuration of that moment is not known; `reason` says why.',
    }),
    verdict: nullable(
      'string',
      `The verdict of that configuration on what is kept of the visit: ${verdicts.join(', ')}. depends: something that is not kept decides. null: it is not known.`,
    ),
    reason: Type.String({ description: 'The verdict in words.' }),
    checks: Type.Array(ExplainedCheck, {
      description: 'Everything that the visit meets, in the order of the gateway.',
    }),
  },
  { $id: 'ExplainedMoment' },
);

export const DecisionExplanation = Type.Object(
  {
    decision: Type.Ref('Decision'),
    gateway: Type.String({ description: 'Id of the gateway that kept it.' }),
    at_the_time: Type.Ref('ExplainedMoment'),
    now: Type.Ref('ExplainedMoment'),
    is_unchanged: Type.Boolean({
      description: 'true: what the visit meets is as it was, with the same effects.',
    }),
    explanation: Type.String({ description: 'What was decided, and what would happen now, in words.' }),
  },
  { $id: 'DecisionExplanation' },
);
