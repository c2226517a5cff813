import { Type } from 'typebox';

import { textFields } from '../../api/body/text-fields.ts';
import type { TextFields } from '../../api/body/text-fields.ts';
import { UserError } from '../../errors/user-error.ts';
import { readAuthorities } from '../../modules/client-authorities.ts';
import { invalidClientCa } from '../../modules/client-authority-errors.ts';
import { defineKind, textsOf, textsToSet } from '../configuration-kind.ts';
import type { ConfigurationKind, EntryFields } from '../configuration-kind.ts';
import { entrySchema } from '../configuration-schema.ts';
import { authorityInUse } from './errors.ts';
import { certificateAuthorities } from './table.ts';
import { authorityWrites as writes } from './writes.ts';

export const CertificateAuthorityEntry = entrySchema('CertificateAuthorityEntry', 'certificate_authorities', {
  ...textFields,
  ca_pem: Type.String({ description: 'The certificate in PEM. It cannot be changed: declare another entry.' }),
});

interface AuthorityFields extends TextFields {
  readonly ca_pem: string;
}

export function certificateAuthorityKind(): ConfigurationKind {
  return defineKind({
    kind: 'certificate_authorities',
    noun: 'certificate authority',
    scope: 'certificate_authority',
    table: certificateAuthorities,
    changeKinds: [certificateAuthorities.kind],
    fixed: ['ca_pem'],
    schema: CertificateAuthorityEntry,
    errors: [authorityInUse, invalidClientCa],
    suggestName: ({ description, subject_common_name: name }) => description ?? name,
    describe: async (_queries, authorities) => authorities.map(toFields),
    accept: async (fields) => toFields({ ...read(fields), ca_pem: readAuthorities(read(fields).ca_pem) }),
    create: ({ transaction, call }, fields) => writes.create(transaction, { ...call, body: read(fields) }),
    async update({ transaction }, authority, fields) {
      const { ca_pem, ...texts } = read(fields);
      if (ca_pem !== authority.ca_pem)
        throw new UserError(invalidClientCa, {
          reason: 'those of an authority never change, so declare another entry',
          limit: 16,
        });
      await writes.update(transaction, textsToSet(texts), authority);
    },
    remove: ({ transaction }, authority) => writes.remove(transaction, authority),
  });
}

function toFields({ ca_pem, ...texts }: AuthorityFields): EntryFields {
  return { ...textsOf(texts), ca_pem };
}

function read(fields: EntryFields): AuthorityFields {
  // The entry has passed its schema.
  return fields as unknown as AuthorityFields;
}
