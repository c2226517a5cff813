import { Type } from 'typebox';

import { nullable } from '../../api/body/view-fields.ts';
import { textFields } from '../../api/body/text-fields.ts';

const policyLimit = 100;
/** A week. */
const longestOverlapSeconds = 604_800;

const expiresAtText = 'From this time on the key is refused; RFC 3339 in UTC. Absent: it does not expire.';
const policiesText =
  'Ids of the IP policies whose rules, all together, must allow the source of every call with the key.';
const readOnlyText = 'true: only GET, POST /ip_check and POST /traffic_policy_check are possible with the key.';

const limitViews = {
  expires_at: Type.Optional(Type.String({ format: 'date-time', description: expiresAtText })),
  ip_policy_ids: Type.Optional(Type.Array(Type.String(), { description: policiesText })),
  read_only: Type.Optional(Type.Boolean({ description: readOnlyText })),
};

const limitInputs = {
  expires_at: Type.Optional(
    Type.String({ description: `${expiresAtText} "" removes it.`, examples: ['2030-11-14T10:11:14Z'] }),
  ),
  ip_policy_ids: Type.Optional(
    Type.Array(Type.String(), {
      description: `${policiesText} An empty list removes them.`,
      maxItems: policyLimit,
      examples: [['ipp_2tQzYDLwIVU45s8sSMNpRfQp1Ng']],
    }),
  ),
  read_only: Type.Optional(Type.Boolean({ description: readOnlyText })),
};

export const ApiKeyView = Type.Object(
  {
    id: Type.String({ description: 'Unique identifier of the API key.' }),
    uri: Type.String({ description: "URI of this key's resource." }),
    ...textFields,
    created_at: Type.String({ format: 'date-time', description: 'Creation time, RFC 3339.' }),
    token: nullable(
      'string',
      'Bearer token for the Authorization header. Present only in the response to creation and rotation; null in every other.',
    ),
    owner_id: Type.String({ description: 'The User or Bot that owns the key.' }),
    ...limitViews,
    last_used_at: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'When the key was last used, RFC 3339, to the minute. Absent: never.',
      }),
    ),
    rotated_at: Type.Optional(
      Type.String({ format: 'date-time', description: 'When the key last got a new token, RFC 3339.' }),
    ),
    previous_token_expires_at: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'Until when the token before the last rotation is valid, RFC 3339. Absent: it is not.',
      }),
    ),
  },
  { $id: 'ApiKey' },
);

export const ApiKeyCreate = Type.Object(
  {
    ...textFields,
    owner_id: Type.Optional(
      Type.String({
        description:
          'The User or Bot that owns the key. Defaults to the authenticated User or Bot; only admins may name another.',
        examples: ['bot_2tQzYDLwIVU45s8sSMNpRfQp1Ng'],
      }),
    ),
    ...limitInputs,
  },
  { $id: 'ApiKeyCreate', additionalProperties: false },
);

export const ApiKeyUpdate = Type.Object(
  { ...textFields, ...limitInputs },
  { $id: 'ApiKeyUpdate', additionalProperties: false },
);

export const ApiKeyRotate = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({
        description:
          'How long the present token stays valid beside the new one, 0 to 604800 seconds. 0, the default, ends it at once.',
        minimum: 0,
        maximum: longestOverlapSeconds,
        examples: [86_400],
      }),
    ),
  },
  { $id: 'ApiKeyRotate', additionalProperties: false },
);
