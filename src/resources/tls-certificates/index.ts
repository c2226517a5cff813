import { Type } from 'typebox';

import type { Call } from '../../api/call.ts';
import { crudOperations } from '../../api/crud.ts';
import { commonFields, listIn, textIn, timeIn } from '../../api/filter/fields.ts';
import type { Operation } from '../../api/operation.ts';
import { textFieldErrors, textFields, withText } from '../../api/body/text-fields.ts';
import { nullable, viewFields } from '../../api/body/view-fields.ts';
import { UserError } from '../../errors/user-error.ts';
import { plainPrefix } from '../../lib/sealed-secret.ts';
import { configurationKinds } from '../configuration-kind.ts';
import { nameUsers } from '../name-users.ts';
import { createReferable } from '../references.ts';
import { backgroundTasks } from '../background-tasks.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import { sealPlainRows, storedSecrets } from '../stored-secrets.ts';
import { tlsCertificateKind } from './configuration.ts';
import { certificateCompiler, readCovering } from './compile.ts';
import { CertificateEnds, warningOfEnd } from './certificate-ends.ts';
import * as errors from './errors.ts';
import { acceptPair } from './pair.ts';
import { certificateEnds, certificateNames, issuedCertificates, pairChecks } from './service.ts';
import { migrations, tlsCertificates } from './table.ts';
import type { TlsCertificate } from './table.ts';

const path = '/tls_certificates';
const referable = createReferable({
  kind: 'tls_certificate',
  path,
  table: 'tls_certificates',
  documents: tlsCertificates,
});
const certificatePem = Type.String({
  description: 'The certificate and its chain in PEM, leaf first. Returned byte for byte.',
  wellFormed: true,
  examples: ['-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n'],
});
const ofSubject = (what: string) => Type.String({ description: `${what} of the subject; "" when it has none.` });

const TlsCertificateView = Type.Object(
  {
    ...viewFields('TLS certificate'),
    certificate_pem: certificatePem,
    subject_common_name: ofSubject('Common name'),
    subject_alternative_names: Type.Object(
      {
        dns_names: Type.Array(Type.String(), { description: 'Host names; one may start with "*.".' }),
        ips: Type.Array(Type.String(), { description: 'IP addresses.' }),
      },
      { description: 'Host names and addresses that the certificate is for.' },
    ),
    issued_at: nullable('string', 'When the service issued it; null for a certificate that was uploaded.'),
    not_before: Type.String({ format: 'date-time', description: 'Valid from, RFC 3339.' }),
    not_after: Type.String({ format: 'date-time', description: 'Valid until, RFC 3339.' }),
    key_usages: Type.Array(Type.String(), { description: 'Uses that its key is for.' }),
    extended_key_usages: Type.Array(Type.String(), { description: 'Uses that its key is for, in more detail.' }),
    private_key_type: Type.String({ enum: ['rsa', 'ecdsa', 'ed25519'], description: 'The kind of its private key.' }),
    issuer_common_name: Type.String({ description: 'Common name of the issuer; "" when it has none.' }),
    serial_number: Type.String({ description: 'Serial number in lower-case hexadecimal digits.' }),
    subject_organization: ofSubject('Organization'),
    subject_organizational_unit: ofSubject('Organizational unit'),
    subject_locality: ofSubject('Locality'),
    subject_province: ofSubject('Province'),
    subject_country: ofSubject('Country'),
  },
  { $id: 'TlsCertificate' },
);
const TlsCertificateCreate = Type.Object(
  {
    ...textFields,
    certificate_pem: certificatePem,
    private_key_pem: Type.String({
      description: 'The private key of the certificate in PEM, without a passphrase. It is never returned.',
      wellFormed: true,
      examples: ['-----BEGIN PRIVATE KEY-----\n…\n-----END PRIVATE KEY-----\n'],
    }),
  },
  { $id: 'TlsCertificateCreate', additionalProperties: false },
);
const TlsCertificateUpdate = Type.Object(textFields, { $id: 'TlsCertificateUpdate', additionalProperties: false });

function tlsCertificateOperations({ store, sealer }: ResourceContext): readonly Operation[] {
  return crudOperations({
    rights: { read: 'everyone', write: 'everyone' },
    store,
    table: tlsCertificates,
    path,
    noun: 'TLS certificate',
    plural: 'TLS certificates',
    name: 'TlsCertificates',
    tag: 'TLS certificates',
    listKey: 'tls_certificates',
    filterFields: {
      ...commonFields,
      subject_common_name: textIn('subject_common_name'),
      'subject_alternative_names.dns_names': listIn('subject_alternative_names', 'dns_names'),
      'subject_alternative_names.ips': listIn('subject_alternative_names', 'ips'),
      not_before: timeIn('not_before'),
      not_after: timeIn('not_after'),
      private_key_type: textIn('private_key_type'),
      issuer_common_name: textIn('issuer_common_name'),
      serial_number: textIn('serial_number'),
    },
    view: TlsCertificateView,
    createBody: TlsCertificateCreate,
    updateBody: TlsCertificateUpdate,
    fieldErrors: {
      ...textFieldErrors(errors.certificateDescriptionTooLong, errors.certificateMetadataTooLong),
      certificate_pem: (_value, missing) => (missing ? new UserError(errors.certificateMissing) : undefined),
      // A value of the wrong type may be a key all the same, and must not be repeated.
      private_key_pem: (_value, missing) =>
        missing
          ? new UserError(errors.privateKeyMissing)
          : new UserError(errors.privateKeyUnreadable, { reason: 'it is not text' }),
    },
    errors: {
      create: [
        errors.certificateUnreadable,
        errors.privateKeyMissing,
        errors.privateKeyEncrypted,
        errors.privateKeyUnreadable,
        errors.wrongPemBlock,
        errors.certificateDescriptionTooLong,
        errors.certificateMetadataTooLong,
        errors.certificateMissing,
        errors.notPem,
        errors.pemTooLarge,
        errors.noCertificateFound,
        errors.keyMismatch,
        errors.privateKeyInCertificate,
        errors.chainOutOfOrder,
      ],
      update: [errors.certificateDescriptionTooLong, errors.certificateMetadataTooLong],
      delete: [errors.certificateInUse],
    },
    async create(transaction, { caller, body }) {
      const facts = acceptPair(body.certificate_pem, body.private_key_pem);
      const first = { ...tlsCertificates.newDocument(caller.accountId), ...facts };
      const sealedKey = sealer.seal(body.private_key_pem, first.id);
      return tlsCertificates.insert(transaction, withText(first, body), [sealedKey]);
    },
    update: (transaction, { body }, certificate) =>
      tlsCertificates.update(transaction, certificate, withText(certificate, body)),
    async remove(transaction, _call, certificate) {
      const referrers = await referable.referrersOf(transaction, certificate.id);
      if (referrers.length > 0) {
        throw new UserError(errors.certificateInUse, {
          certificate: certificate.id,
          users: await nameUsers(transaction, certificate.account_id, referrers),
        });
      }
      await tlsCertificates.delete(transaction, certificate);
    },
    warning: async (_queries, certificate) => warningOfEnd(certificate, Date.now()),
    present,
  });
}

function present(certificate: TlsCertificate, { uri }: Call): object {
  return {
    id: certificate.id,
    uri: uri(`${path}/${certificate.id}`),
    created_at: certificate.created_at,
    description: certificate.description,
    metadata: certificate.metadata,
    certificate_pem: certificate.certificate_pem,
    subject_common_name: certificate.subject_common_name,
    subject_alternative_names: certificate.subject_alternative_names,
    issued_at: certificate.issued_at ?? null,
    not_before: certificate.not_before,
    not_after: certificate.not_after,
    key_usages: certificate.key_usages,
    extended_key_usages: certificate.extended_key_usages,
    private_key_type: certificate.private_key_type,
    issuer_common_name: certificate.issuer_common_name,
    serial_number: certificate.serial_number,
    subject_organization: certificate.subject_organization,
    subject_organizational_unit: certificate.subject_organizational_unit,
    subject_locality: certificate.subject_locality,
    subject_province: certificate.subject_province,
    subject_country: certificate.subject_country,
  };
}

const oldestPlain = 'SELECT id, sealed_key FROM tls_certificates WHERE sealed_key LIKE $1 ORDER BY id LIMIT 1';
const oldestEncrypted = oldestPlain.replace('LIKE', 'NOT LIKE');

export const tlsCertificatesResource: Resource = {
  errors: Object.values(errors),
  migrations,
  schemas: [TlsCertificateView, TlsCertificateCreate, TlsCertificateUpdate],
  operations: tlsCertificateOperations,
  compilers: ({ sealer }) => [certificateCompiler(sealer)],
  referables: [referable],
  provide({ services, store, sealer }) {
    const ends = new CertificateEnds(store);
    services.provide(certificateEnds, ends);
    services.add(backgroundTasks, { ofApi: true, start: (log) => ends.start(log) });
    services.provide(pairChecks, {
      check: (certificate, key) => {
        acceptPair(certificate, key);
      },
    });
    services.provide(issuedCertificates, {
      async add(transaction, accountId, pair) {
        const facts = acceptPair(pair.certificatePem, pair.privateKeyPem);
        const first = tlsCertificates.newDocument(accountId);
        const issued = { ...first, ...facts, issued_at: first.created_at };
        await tlsCertificates.insert(transaction, issued, [sealer.seal(pair.privateKeyPem, first.id)]);
        return first.id;
      },
      async removeUnused(transaction, accountId, id, endedMs = Infinity) {
        const certificate = await tlsCertificates.find(transaction, accountId, id);
        if (certificate === undefined) return true;
        if (certificate.issued_at === undefined || Date.parse(certificate.not_after) > endedMs) return false;
        const referrers = await referable.referrersOf(transaction, id);
        if (referrers.length > 0) return false;
        await tlsCertificates.delete(transaction, certificate);
        return true;
      },
    });
    services.add(configurationKinds, tlsCertificateKind());
    services.provide(certificateNames, {
      find: async (queries, accountId, id) => (await tlsCertificates.find(queries, accountId, id))?.served_names,
      isCovered: async (queries, accountId, hostname, exceptId) => {
        const rows = await readCovering(queries, accountId, hostname);
        return rows.some((row) => tlsCertificates.parse(row).id !== exceptId);
      },
    });
    services.add(storedSecrets, {
      async oldest(form) {
        const [row] = await store.queries.all(form === 'plain' ? oldestPlain : oldestEncrypted, [`${plainPrefix}%`]);
        const id = String(row?.[0]);
        return row && { owner: `the TLS certificate ${id}`, sealed: String(row[1]), context: id };
      },
      sealPlain: () =>
        sealPlainRows(
          { store, sealer },
          {
            table: 'tls_certificates',
            id: 'id',
            column: 'sealed_key',
            contextOf: (id) => id,
          },
        ),
    });
  },
};
