import { Type } from 'typebox';

import { nullable } from '../../api/body/view-fields.ts';

export const RehearsalRequest = Type.Object(
  {
    method: Type.String({
      enum: ['POST', 'PUT', 'PATCH', 'DELETE'],
      description: 'The method of the write.',
      examples: ['PUT'],
    }),
    path: Type.String({
      description: 'The path of the write, with its query.',
      maxLength: 2_000,
      examples: ['/ip_policies/ipp_2tQzYDLwIVU45s8sSMNpRfQp1Ng/rules'],
    }),
    body: Type.Optional(Type.Unknown({ description: 'The body of the write.', examples: [['203.0.113.0/26']] })),
    days: Type.Optional(
      Type.Integer({
        description: 'How many of the last days are looked at.',
        minimum: 1,
        maximum: 366,
        default: 7,
        examples: [7],
      }),
    ),
  },
  { $id: 'RehearsalRequest', additionalProperties: false },
);

const ids = (description: string) => Type.Array(Type.String(), { description });

const Visitor = Type.Object({
  client_ip: Type.String({ description: 'Address of the visitor.' }),
  person: Type.Optional(Type.String({ description: 'E-mail address or subject of the visitor who had signed in.' })),
  requests: Type.Integer({ description: 'Their requests and connections that would get another verdict.' }),
  last_at: Type.String({ format: 'date-time', description: 'When the last of them was, RFC 3339.' }),
  edge_ids: ids('The edges and endpoints that they were for, at most 50.'),
  reason: Type.String({ description: 'What would happen, in words.' }),
});

export const RehearsedVisitors = Type.Object(
  {
    requests: Type.Integer({ description: 'Requests and connections.' }),
    share: Type.Number({ description: 'Share of all requests and connections that were looked at, from 0 to 1.' }),
    sources: Type.Integer({ description: 'Different addresses.' }),
    persons: Type.Integer({ description: 'Different persons who had signed in.' }),
    is_at_least: Type.Boolean({ description: 'true: there are more sources than were told apart.' }),
    visitors: Type.Array(Visitor, { description: 'Those with most requests, at most 100.' }),
  },
  { $id: 'RehearsedVisitors' },
);

export const Rehearsal = Type.Object(
  {
    changes: Type.Integer({ description: 'Resources that the write would change.' }),
    is_kept: Type.Boolean({
      description:
        'false: the process that answers keeps no decisions (`GATEHOUSE_DECISIONS`), so that nobody can be named.',
    }),
    since: nullable('string', 'Time of the oldest decision that was looked at, RFC 3339; null: there was none.'),
    requests: Type.Integer({ description: 'Requests and connections that were looked at.' }),
    newly_refused: Type.Ref('RehearsedVisitors'),
    newly_admitted: Type.Ref('RehearsedVisitors'),
    cannot_tell: Type.Ref('RehearsedVisitors'),
    unchanged: Type.Integer({ description: 'Requests and connections that would get the verdict of now.' }),
    you: Type.Object(
      {
        newly_refused_at: ids('Edges that refuse it then.'),
        newly_admitted_at: ids('Edges that let it in then.'),
      },
      { description: 'What the change means for the address of the caller, at the path "/".' },
    ),
    is_partial: Type.Boolean({
      description: 'true: not everything was counted, for the reasons in `partial`. Numbers can only grow.',
    }),
    partial: Type.Array(Type.String(), { description: 'What was not counted, in words.' }),
  },
  { $id: 'Rehearsal' },
);
