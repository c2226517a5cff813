import { Type } from 'typebox';

import { crudOperations } from '../../api/crud.ts';
import { commonFields, textIn } from '../../api/filter/fields.ts';
import { textFields } from '../../api/body/text-fields.ts';
import { viewFields } from '../../api/body/view-fields.ts';
import { invalidClientCa } from '../../modules/client-authority-errors.ts';
import { configurationKinds } from '../configuration-kind.ts';
import type { Resource } from '../resource.ts';
import { CertificateAuthorityEntry, certificateAuthorityKind } from './configuration.ts';
import { authorityInUse } from './errors.ts';
import * as errors from './errors.ts';
import { clientAuthorities } from './service.ts';
import { certificateAuthorities, migrations } from './table.ts';
import { authorityWrites, path, referable } from './writes.ts';

const ca_pem = Type.String({
  description: 'Certificate of the authority in PEM; several, up to 16, one after another. It cannot be changed.',
  examples: ['-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n'],
});
const View = Type.Object(
  {
    ...viewFields('certificate authority'),
    ca_pem,
    subject_common_name: Type.String({ description: 'Common name of the first certificate.' }),
    not_before: Type.String({ format: 'date-time', description: 'From when the first certificate is valid.' }),
    not_after: Type.String({ format: 'date-time', description: 'Until when the first certificate is valid.' }),
    key_usages: Type.Array(Type.String(), { description: 'Uses that the key of the certificate is for.' }),
    extended_key_usages: Type.Array(Type.String(), {
      description: 'Uses that the key of the certificate is for, in more detail.',
    }),
  },
  { $id: 'CertificateAuthority' },
);
const Create = Type.Object(
  { ...textFields, ca_pem },
  { $id: 'CertificateAuthorityCreate', additionalProperties: false },
);
const Update = Type.Object(textFields, { $id: 'CertificateAuthorityUpdate', additionalProperties: false });

/** Authorities by which HTTPS edges check the certificates of visitors. */
export const certificateAuthoritiesResource: Resource = {
  errors: Object.values(errors),
  migrations,
  schemas: [View, Create, Update, CertificateAuthorityEntry],
  operations: ({ store }) =>
    crudOperations({
      rights: { read: 'everyone', write: 'everyone' },
      store,
      table: certificateAuthorities,
      path,
      noun: 'certificate authority',
      plural: 'certificate authorities',
      name: 'CertificateAuthorities',
      tag: 'Certificate authorities',
      listKey: 'certificate_authorities',
      filterFields: { ...commonFields, subject_common_name: textIn('subject_common_name') },
      takesNewId: true,
      view: View,
      createBody: Create,
      updateBody: Update,
      errors: { create: [invalidClientCa], update: [], delete: [authorityInUse] },
      create: (transaction, call) => authorityWrites.create(transaction, call),
      update: (transaction, { body }, previous) => authorityWrites.update(transaction, body, previous),
      remove: (transaction, _call, authority) => authorityWrites.remove(transaction, authority),
      present: ({ id, created_at, description, metadata, ...authority }, { uri }) => ({
        id,
        uri: uri(`${path}/${id}`),
        created_at,
        description,
        metadata,
        ca_pem: authority.ca_pem,
        subject_common_name: authority.subject_common_name,
        not_before: authority.not_before,
        not_after: authority.not_after,
        key_usages: authority.key_usages,
        extended_key_usages: authority.extended_key_usages,
      }),
    }),
  referables: [referable],
  provide({ services }) {
    services.add(configurationKinds, certificateAuthorityKind());
    services.provide(clientAuthorities, {
      async pems(queries, ids) {
        const found = await certificateAuthorities.loadMany(queries, ids);
        return new Map(found.map(({ id, ca_pem: pem }) => [id, pem]));
      },
      async names(queries, ids) {
        const found = ids.length === 0 ? [] : await certificateAuthorities.loadMany(queries, ids);
        return new Map(
          found.map(({ id, description, subject_common_name }) => [id, description || subject_common_name || id]),
        );
      },
    });
  },
};
