import { defineKind } from '../configuration-kind.ts';
import type { ConfigurationKind } from '../configuration-kind.ts';
import { tlsCertificates } from './table.ts';

/** Certificates have names that domains refer to; no file declares one, because that would need its key. */
export function tlsCertificateKind(): ConfigurationKind {
  const undeclared = (): never => {
    throw new Error('no entry declares a TLS certificate');
  };
  return defineKind({
    kind: 'tls_certificates',
    noun: 'TLS certificate',
    scope: 'tls_certificate',
    table: tlsCertificates,
    changeKinds: ['tls_certificate'],
    errors: [],
    suggestName: ({ description, subject_common_name, served_names }) =>
      description ?? (subject_common_name || (served_names[0] ?? '')),
    describe: undeclared,
    accept: undeclared,
    create: undeclared,
    update: undeclared,
    remove: undeclared,
  });
}
