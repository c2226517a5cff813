import { Type } from 'typebox';

import { nullable } from '../../api/crud.ts';
import { textFields } from '../../api/text-fields.ts';
import { Ref } from '../../modules/module.ts';

const certificateId = Type.String({
  description:
    'Id of the TLS certificate for the domain, which must be for its name and cannot be deleted while it is named. The gateway ' +
    'serves the best certificate of the account for a name, named here or not.',
  examples: ['cert_2tQzYDLwIVU45s8sSMNpRfQp1Ng'],
});
const policy = Type.Unsafe<object | undefined>({
  type: 'object',
  additionalProperties: true,
  description: 'Not offered: certificates are uploaded. Any value but null is refused.',
  examples: [{ authority: 'letsencrypt', private_key_type: 'ecdsa' }],
});
const resolvesTo = Type.Array(
  Type.Object(
    { value: Type.String({ description: 'A point of presence: only "global".', examples: ['global'] }) },
    { additionalProperties: false },
  ),
  { description: 'Where the domain resolves to: only [{"value":"global"}].', examples: [[{ value: 'global' }]] },
);

export const ReservedDomainView = Type.Object(
  {
    id: Type.String({ description: 'Unique identifier of the reserved domain.' }),
    uri: Type.String({ description: "URI of this domain's resource." }),
    created_at: Type.String({ format: 'date-time', description: 'Creation time, RFC 3339.' }),
    ...textFields,
    domain: Type.String({ description: 'The host name; its first label may be "*".' }),
    region: Type.String({ description: 'As it was given; nothing depends on it.' }),
    cname_target: Type.Null({ description: 'Always null: point the name at the address of this installation.' }),
    certificate: Type.Unsafe<unknown>({
      type: ['object', 'null'],
      properties: Ref.properties,
      required: ['id', 'uri'],
      description: 'The TLS certificate for the domain; null when none is named.',
    }),
    certificate_management_policy: Type.Null({ description: 'Not offered; always null.' }),
    certificate_management_status: Type.Null({ description: 'Not offered; always null.' }),
    acme_challenge_cname_target: nullable('string', 'Not offered; always null.'),
    resolves_to: Type.Array(Type.Object({ value: Type.String({ description: 'A point of presence.' }) }), {
      description: 'Where the domain resolves to: always [{"value":"global"}].',
    }),
  },
  { $id: 'ReservedDomain' },
);

const changeable = {
  ...textFields,
  certificate_id: Type.Optional(certificateId),
  certificate_management_policy: Type.Optional(policy),
  resolves_to: Type.Optional(resolvesTo),
};

export const ReservedDomainCreate = Type.Object(
  {
    domain: Type.String({
      description:
        'A host name that no other account of this installation can use from then on. Its first label may be "*", which ' +
        'stands for any one label.',
      examples: ['app.example.com'],
    }),
    region: Type.Optional(
      Type.String({ description: 'Kept, and without effect.', maxBytes: 64, wellFormed: true, examples: ['us'] }),
    ),
    ...changeable,
  },
  { $id: 'ReservedDomainCreate', additionalProperties: false },
);

export const ReservedDomainUpdate = Type.Object(changeable, {
  $id: 'ReservedDomainUpdate',
  description:
    'The domain itself cannot be changed. `DELETE /reserved_domains/{id}/certificate` takes the certificate away.',
  additionalProperties: false,
});
