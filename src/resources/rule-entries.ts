import { Type } from 'typebox';

import { textFields } from '../api/body/text-fields.ts';
import type { TextFields } from '../api/body/text-fields.ts';

export const actions = ['allow', 'deny'] as const;
export type Action = (typeof actions)[number];

/** A rule as a list of them has it. */
export type RuleEntry = string | (TextFields & { readonly cidr: string; readonly action?: Action });

export const RuleEntries = Type.Array(
  Type.Union([
    Type.String({ description: 'A CIDR; "!" before it means deny.', examples: ['203.0.113.0/24'] }),
    Type.Object(
      {
        cidr: Type.String({ examples: ['203.0.113.0/24'] }),
        action: Type.Optional(
          Type.Union(
            actions.map((each) => Type.Literal(each)),
            { description: 'Default allow.', default: 'allow' },
          ),
        ),
        ...textFields,
      },
      { additionalProperties: false },
    ),
  ]),
  { description: 'All rules that the policy has from now on.' },
);
