import { Type } from 'typebox';

import { nullable } from '../../api/body/view-fields.ts';
import { findingKinds, mostOfKind } from './finding.ts';

const rule = (description: string) =>
  Type.Unsafe<unknown>({
    type: ['object', 'null'],
    description,
    required: ['id', 'uri', 'cidr', 'action', 'ip_policy'],
    properties: {
      id: Type.String({ description: 'Id of the rule.' }),
      uri: Type.String({ description: 'URI of the rule.' }),
      cidr: Type.String({ description: 'The address range.' }),
      action: Type.String({ enum: ['allow', 'deny'], description: 'Effect on addresses in the range.' }),
      ip_policy: Type.Ref('Ref'),
    },
  });

const totals = Type.Object(
  Object.fromEntries(
    findingKinds.map((kind) => [kind, Type.Integer({ description: `Findings of the kind ${kind}.` })]),
  ),
  { description: 'How many findings there are of each kind.' },
);

export const RuleFinding = Type.Object(
  {
    kind: Type.String({
      enum: [...findingKinds],
      description:
        'rule_contradictory: allows only what others deny. rule_duplicate: another rule has the same CIDR and action. rule_shadowed: a wider ' +
        'rule does the same. rule_needless: denies what nothing allows. admits_nobody, admits_everybody: IP policies that decide together. ' +
        'unguarded: anybody reaches it. cannot_tell: a traffic policy decides, and for whom is unknown without a visitor.',
    }),
    text: Type.String({ description: 'Finding and remedy, in words.' }),
    rule: rule('The rule that never decides; null for findings about something else.'),
    decided_by: rule('The rule that decides in its place, or the first of several; null if there is none.'),
    ip_policies: Type.Array(Type.Ref('Ref'), {
      description: 'The IP policies that decide together; empty for findings about edges, routes and endpoints.',
    }),
    used_by: Type.Array(Type.String(), {
      description: 'Ids of what uses these IP policies so, at most ten; of an edge, route or endpoint, its own id.',
    }),
    uri: nullable('string', 'URI of the edge, route or endpoint; null for other findings.'),
    example: nullable('string', 'An address that is let in; null where none is, or where this is not the question.'),
  },
  { $id: 'RuleFinding' },
);

export const RuleFindings = Type.Object(
  {
    findings: Type.Array(Type.Ref('RuleFinding'), {
      description: `The gravest first; at most ${mostOfKind} of each kind.`,
    }),
    totals,
    is_complete: Type.Boolean({
      description:
        'false: the account has more rules, edges or endpoints than one call goes through, and some were left out.',
    }),
    uri: Type.String({ description: 'URI of this list.' }),
  },
  { $id: 'RuleFindings' },
);
