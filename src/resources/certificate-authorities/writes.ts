import { X509Certificate } from 'node:crypto';

import type { Call } from '../../api/call.ts';
import { withText } from '../../api/body/text-fields.ts';
import type { TextFields } from '../../api/body/text-fields.ts';
import { UserError } from '../../errors/user-error.ts';
import { readAuthorities } from '../../modules/client-authorities.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import { readCertificateFacts } from '../../lib/certificate-facts.ts';
import { nameUsers } from '../name-users.ts';
import { createReferable } from '../references.ts';
import { authorityInUse } from './errors.ts';
import { certificateAuthorities } from './table.ts';
import type { CertificateAuthority } from './table.ts';

export const path = '/certificate_authorities';
export const referable = createReferable({
  kind: 'certificate_authority',
  path,
  table: 'certificate_authorities',
  documents: certificateAuthorities,
});

/** The writes of single calls and of configurations. */
export const authorityWrites = {
  async create(
    transaction: Transaction,
    { caller, body, newId }: Call<TextFields & { readonly ca_pem: string }>,
  ): Promise<CertificateAuthority> {
    const ca_pem = readAuthorities(body.ca_pem);
    // Facts are those of the first; the type of its key is not among them.
    const facts = readCertificateFacts(new X509Certificate(ca_pem), 'rsa');
    const first = {
      ...certificateAuthorities.newDocument(caller.accountId, newId),
      ca_pem,
      subject_common_name: facts.subjectCommonName,
      not_before: facts.notBefore,
      not_after: facts.notAfter,
      key_usages: facts.keyUsages,
      extended_key_usages: facts.extendedKeyUsages,
    };
    return certificateAuthorities.insert(transaction, withText(first, body));
  },
  update: (transaction: Transaction, body: TextFields, previous: CertificateAuthority) =>
    certificateAuthorities.update(transaction, previous, withText(previous, body)),
  async remove(transaction: Transaction, authority: CertificateAuthority): Promise<void> {
    const users = await referable.referrersOf(transaction, authority.id);
    if (users.length > 0)
      throw new UserError(authorityInUse, {
        authority: authority.id,
        users: await nameUsers(transaction, authority.account_id, users),
      });
    await certificateAuthorities.delete(transaction, authority);
  },
};
