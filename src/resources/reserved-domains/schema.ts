import { Type } from 'typebox';

import { textFields } from '../../api/body/text-fields.ts';
import { nullable, viewFields } from '../../api/body/view-fields.ts';
import { Ref } from '../../modules/module.ts';

const certificateId = Type.String({
  description:
    'Id of the TLS certificate for the domain, which must be for its name and cannot be deleted while it is named. The gateway ' +
    'serves the best certificate of the account for a name, named here or not.',
  examples: ['cert_2tQzYDLwIVU45s8sSMNpRfQp1Ng'],
});
const privateKeyType = Type.Optional(
  Type.String({
    enum: ['ecdsa', 'rsa'],
    description: 'Kind of the private key: "ecdsa" (P-256), which is the default, or "rsa" (2048 bits).',
    examples: ['ecdsa'],
  }),
);
const policy = Type.Object(
  {
    authority: Type.Optional(
      Type.String({
        enum: ['letsencrypt'],
        description: 'The authority: always "letsencrypt", which stands for the authority that the installation uses.',
        examples: ['letsencrypt'],
      }),
    ),
    private_key_type: privateKeyType,
  },
  {
    additionalProperties: false,
    description:
      'Lets a public authority issue and renew the certificate, instead of certificate_id. The installation must have GATEHOUSE_ACME=on, and the name must be public and resolve to the installation.',
    examples: [{ authority: 'letsencrypt', private_key_type: 'ecdsa' }],
  },
);
const resolvesTo = Type.Array(
  Type.Object(
    { value: Type.String({ description: 'A point of presence: only "global".', examples: ['global'] }) },
    { additionalProperties: false },
  ),
  { description: 'Where the domain resolves to: only [{"value":"global"}].', examples: [[{ value: 'global' }]] },
);

export const ReservedDomainView = Type.Object(
  {
    ...viewFields('reserved domain'),
    domain: Type.String({ description: 'The host name; its first label may be "*".' }),
    region: Type.String({ description: 'As it was given; nothing depends on it.' }),
    cname_target: Type.Null({ description: 'Always null: point the name at the address of this installation.' }),
    certificate: Type.Unsafe<unknown>({
      type: ['object', 'null'],
      properties: Ref.properties,
      required: ['id', 'uri'],
      description: 'The TLS certificate for the domain; null when none is named.',
    }),
    certificate_management_policy: Type.Unsafe<unknown>({
      type: ['object', 'null'],
      properties: {
        authority: { type: 'string', description: 'Always "letsencrypt".' },
        private_key_type: { type: 'string', description: '"ecdsa" or "rsa".' },
      },
      required: ['authority', 'private_key_type'],
      description: 'Set if a public authority issues the certificate; else null.',
    }),
    certificate_management_status: Type.Unsafe<unknown>({
      type: ['object', 'null'],
      properties: {
        renews_at: {
          type: ['string', 'null'],
          description: 'When the certificate is renewed, RFC 3339; null while there is none.',
        },
        provisioning_job: {
          type: ['object', 'null'],
          properties: {
            error_code: { type: ['string', 'null'], description: 'Code of the last fault; null while there was none.' },
            msg: {
              type: 'string',
              description: 'The state in words; after a fault those of the authority, and what to do.',
            },
            started_at: { type: 'string', description: 'Start of the last attempt, RFC 3339.' },
            retries_at: {
              type: ['string', 'null'],
              description: 'Time of the next attempt, RFC 3339; null while one is in progress.',
            },
          },
          required: ['error_code', 'msg', 'started_at', 'retries_at'],
          description: 'The order that is in progress or has failed; null when there is nothing to do.',
        },
      },
      required: ['renews_at', 'provisioning_job'],
      description: 'State of the certificate at the authority; null without certificate_management_policy.',
    }),
    acme_challenge_cname_target: nullable('string', 'Always null: wildcards are proved by a program on the host.'),
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
    'The domain itself cannot be changed. `DELETE /reserved_domains/{id}/certificate` removes the certificate, `DELETE /reserved_domains/{id}/certificate_management_policy` the policy. Giving one of the two replaces the other, and an empty `certificate_id` removes a certificate of your own.',
  additionalProperties: false,
});
