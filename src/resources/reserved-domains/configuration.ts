import { Type } from 'typebox';

import { textFields } from '../../api/body/text-fields.ts';
import type { TextFields } from '../../api/body/text-fields.ts';
import { nameOfInstallation, wildcardOverSuffix } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import { claimOfReservation, defineKind, textsOf, textsToSet } from '../configuration-kind.ts';
import type { ConfigurationKind, EntryFields, EntryWrite } from '../configuration-kind.ts';
import { entrySchema, nameOf } from '../configuration-schema.ts';
import { parentOf } from '../hostname-holders.ts';
import type { ResourceContext } from '../resource.ts';
import * as errors from './errors.ts';
import { reservedDomains } from './table.ts';
import type { ManagementPolicy } from './table.ts';
import { reservedDomainWrites } from './writes.ts';

export const ReservedDomainEntry = entrySchema('ReservedDomainEntry', 'reserved_domains', {
  ...textFields,
  domain: Type.String({
    description: 'A host name that no other account can use; its first label may be "*". Fixed after creation.',
    examples: ['app.example.com'],
  }),
  region: Type.Optional(
    Type.String({
      description: 'Kept, and without effect. Fixed after creation.',
      maxBytes: 64,
      wellFormed: true,
      examples: ['us'],
    }),
  ),
  certificate: Type.Optional(nameOf('a TLS certificate that was uploaded', 'app.example.com')),
  certificate_management: Type.Optional(
    Type.String({
      enum: ['ecdsa', 'rsa'],
      description:
        'Instead of a certificate: a public authority issues one, for a private key of this kind. Needs GATEHOUSE_ACME=on.',
      examples: ['ecdsa'],
    }),
  ),
});

interface DomainFields extends TextFields {
  readonly domain: string;
  readonly region?: string;
  readonly certificate?: string;
  readonly certificate_management?: 'ecdsa' | 'rsa';
}

export function reservedDomainKind(
  context: Pick<ResourceContext, 'services' | 'referables' | 'settings'>,
): ConfigurationKind {
  const writes = reservedDomainWrites(context);
  const certificateId = ({ idOf }: EntryWrite, name: string | undefined) =>
    name === undefined ? undefined : idOf('tls_certificate', name);
  return defineKind({
    kind: 'reserved_domains',
    noun: 'reserved domain',
    scope: 'reserved_domain',
    table: reservedDomains,
    changeKinds: ['reserved_domain'],
    fixed: ['domain', 'region'],
    schema: ReservedDomainEntry,
    errors: [
      errors.invalidDomain,
      errors.domainTaken,
      nameOfInstallation,
      wildcardOverSuffix,
      errors.domainInUse,
      errors.certificateDoesNotCover,
      errors.domainFixed,
      errors.certificateManagementNotOffered,
      errors.certificateAndPolicy,
      errors.domainNotPublic,
    ],
    suggestName: ({ description, domain }) => description ?? domain,
    describe: async (_queries, domains, name) =>
      domains.map(({ certificate_id, certificate_management_policy: policy, ...domain }) => {
        // The certificate that an authority has issued changes by itself.
        if (policy !== undefined) return toFields({ ...domain, certificate_management: policy.private_key_type });
        return toFields({ ...domain, ...(certificate_id === undefined ? {} : { certificate: name(certificate_id) }) });
      }),
    accept: async (fields) => toFields({ ...read(fields), domain: read(fields).domain.toLowerCase() }),
    create(write, fields) {
      const { domain, region = '', certificate, certificate_management: keyType, ...texts } = read(fields);
      const policy = policyOf(keyType, certificate);
      const wanted = {
        ...textsToSet(texts),
        domain,
        region,
        certificate_id: certificateId(write, certificate),
        policy,
      };
      return writes.create(write.transaction, write.call, wanted);
    },
    async update(write, reserved, fields) {
      const { domain, region = '', certificate, certificate_management: keyType, ...texts } = read(fields);
      if (domain !== reserved.domain || region !== reserved.region)
        throw new UserError(errors.domainFixed, { domain: reserved.domain });
      const policy = policyOf(keyType, certificate);
      const kept = policy && reserved.certificate_management_policy && reserved.certificate_id;
      const change = { ...textsToSet(texts), certificate_id: kept ?? certificateId(write, certificate), policy };
      await writes.update(write.transaction, reserved, change);
    },
    remove: ({ transaction }, reserved) => writes.remove(transaction, reserved),
    claims: (fields) => claimsIn(read(fields)),
    // A name is covered by the wildcard above it too, and so one may take the place of the other.
    dependsOn: async (fields) => wildcardAbove(read(fields)),
  });
}

function policyOf(keyType: 'ecdsa' | 'rsa' | undefined, certificate: string | undefined): ManagementPolicy | undefined {
  if (keyType === undefined) return undefined;
  if (certificate !== undefined) throw new UserError(errors.certificateAndPolicy);
  return { authority: 'letsencrypt', private_key_type: keyType };
}

function toFields({ domain, region = '', certificate, certificate_management, ...texts }: DomainFields): EntryFields {
  return {
    ...textsOf(texts),
    domain,
    ...(region === '' ? {} : { region }),
    ...(certificate === undefined ? {} : { certificate }),
    ...(certificate_management === undefined ? {} : { certificate_management }),
  };
}

/** The fields of a deletion are empty. */
function claimsIn({ domain }: Partial<DomainFields>): readonly string[] {
  return domain === undefined ? [] : [domain, claimOfReservation(domain)];
}

function wildcardAbove({ domain }: Partial<DomainFields>): readonly string[] {
  return domain === undefined ? [] : [claimOfReservation(`*.${parentOf(domain)}`)];
}

function read(fields: EntryFields): DomainFields {
  // The entry has passed its schema.
  return fields as unknown as DomainFields;
}
