import { crudOperations } from '../../api/crud.ts';
import { notFound, preconditionFailed, wrongIdKind } from '../../api/errors.ts';
import { checkIfMatch } from '../../api/http/etag.ts';
import { alwaysText, commonFields, textIn } from '../../api/filter/fields.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { nameOfInstallation, wildcardOverSuffix } from '../../errors/shared.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import { certificateTroubles } from '../acme/service.ts';
import { configurationKinds, textsToSet } from '../configuration-kind.ts';
import { hostnameHolders, parentOf } from '../hostname-holders.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import { ReservedDomainEntry, reservedDomainKind } from './configuration.ts';
import * as errors from './errors.ts';
import { ReservedDomainCreate, ReservedDomainUpdate, ReservedDomainView } from './schema.ts';
import { changedCertificate, checkBody, withDefaults } from './body.ts';
import { presentAll } from './present.ts';
import { managedDomains, reservedNames } from './service.ts';
import { createManagedDomains } from './managed-domains.ts';
import { findDomain, hostnameHolder, migrations, reservedDomains } from './table.ts';
import type { ReservedDomain } from './table.ts';
import { reservedDomainWrites, withCertificate } from './writes.ts';

const path = '/reserved_domains';
const tag = 'Reserved domains';
const noun = 'reserved domain';
const rights = 'everyone';
const itsDomain = 'A reserved domain has its name in "domain".';

const certificateErrors = [
  wrongIdKind,
  errors.domainCertificateMissing,
  errors.certificateDoesNotCover,
  errors.certificateManagementNotOffered,
  errors.certificateAndPolicy,
  errors.domainNotPublic,
  errors.resolvesToNotOffered,
];

function reservedDomainOperations(context: ResourceContext): readonly Operation[] {
  const { store, services } = context;
  const writes = reservedDomainWrites(context);
  const crud = crudOperations({
    store,
    table: reservedDomains,
    path,
    noun,
    plural: 'reserved domains',
    name: 'ReservedDomains',
    tag,
    rights: { read: rights, write: rights },
    listKey: 'reserved_domains',
    filterFields: {
      ...commonFields,
      domain: textIn('domain'),
      region: textIn('region'),
      certificate: textIn('certificate_id'),
      'certificate.id': textIn('certificate_id'),
      cname_target: alwaysText(''),
      acme_challenge_cname_target: alwaysText(''),
    },
    takesNewId: true,
    view: ReservedDomainView,
    createBody: ReservedDomainCreate,
    updateBody: ReservedDomainUpdate,
    fieldErrors: {
      domain: (value, missing) =>
        missing ? new UserError(errors.invalidDomain, { domain: quote(value ?? '') }) : undefined,
    },
    misplacedFields: { host: itsDomain, hostname: itsDomain, name: itsDomain },
    errors: {
      create: [errors.invalidDomain, errors.domainTaken, nameOfInstallation, wildcardOverSuffix, ...certificateErrors],
      update: certificateErrors,
      delete: [errors.domainInUse],
    },
    async create(transaction, call) {
      const { body } = call;
      checkBody(body);
      const { domain, region = '', certificate_id, certificate_management_policy: policy } = body;
      return writes.create(transaction, call, {
        ...body,
        domain,
        region,
        certificate_id,
        policy: withDefaults(policy),
      });
    },
    async update(transaction, { body }, previous) {
      checkBody(body, previous);
      return writes.update(transaction, previous, { ...body, ...changedCertificate(body, previous) });
    },
    remove: (transaction, _call, reserved) => writes.remove(transaction, reserved),
    restore(transaction, call, wanted, current) {
      const { id, certificate_id, certificate_management_policy: policy } = wanted;
      const change = { ...wanted, ...textsToSet(wanted), certificate_id, policy };
      return current === undefined
        ? writes.create(transaction, { ...call, newId: id }, change)
        : writes.update(transaction, current, change);
    },
    warning: (queries, { account_id, domain, certificate_management_policy: policy }) =>
      services.get(certificateTroubles).warningFor(queries, account_id, [domain], policy !== undefined),
    presentAll: (queries, reserved, call) => presentAll(context, queries, reserved, call),
  });
  return [...crud, deleteCertificateOperation(context), deletePolicyOperation(context)];
}

/** An operation that takes something away from a domain. Also succeeds when there is nothing. */
function detachOperation(
  { store }: Pick<ResourceContext, 'store'>,
  described: Pick<Operation, 'operationId' | 'summary' | 'description'> & { readonly field: string },
  detach: (transaction: Transaction, reserved: ReservedDomain) => Promise<void>,
): Operation {
  const { field, ...texts } = described;
  return operation({
    ...texts,
    method: 'DELETE',
    path: `${path}/{id}/${field}`,
    tag,
    rights,
    status: 204,
    accepts: ['IfMatch'],
    errors: [notFound, preconditionFailed],
    handle: (call) =>
      store.write(call.actor, async (transaction) => {
        const { id = '' } = call.params;
        const reserved = await reservedDomains.find(transaction, call.caller.accountId, id);
        if (reserved === undefined) throw new UserError(notFound, { noun, id: quote(id) });
        checkIfMatch(call, reserved);
        await detach(transaction, reserved);
      }),
  });
}

function deleteCertificateOperation(context: Pick<ResourceContext, 'store' | 'referables'>): Operation {
  const described = {
    field: 'certificate',
    operationId: 'ReservedDomainsDeleteCertificate',
    summary: 'Detach the TLS certificate of a reserved domain',
    description: 'The certificate itself stays. Also succeeds when none is attached.',
  };
  return detachOperation(context, described, async (transaction, reserved) => {
    const { id, certificate_id, certificate_management_policy: policy } = reserved;
    await reservedDomains.update(transaction, reserved, withCertificate(reserved, undefined, policy));
    if (certificate_id !== undefined) await context.referables.set(transaction, 'tls_certificate', id, []);
  });
}

function deletePolicyOperation(context: Pick<ResourceContext, 'store'>): Operation {
  const described = {
    field: 'certificate_management_policy',
    operationId: 'ReservedDomainsDeleteCertificateManagementPolicy',
    summary: 'Detach the certificate management policy of a reserved domain',
    description: 'The certificate that was issued last stays. Also succeeds when no policy is attached.',
  };
  return detachOperation(context, described, async (transaction, reserved) => {
    await reservedDomains.update(transaction, reserved, withCertificate(reserved, reserved.certificate_id, undefined));
  });
}

/** Host names that belong to an account, whether or not an edge has them yet. */
export const reservedDomainsResource: Resource = {
  migrations,
  schemas: [ReservedDomainView, ReservedDomainCreate, ReservedDomainUpdate, ReservedDomainEntry],
  errors: Object.values(errors),
  operations: reservedDomainOperations,
  provide(context) {
    const { services } = context;
    services.add(configurationKinds, reservedDomainKind(context));
    services.add(hostnameHolders, hostnameHolder);
    services.provide(managedDomains, createManagedDomains(context));
    services.provide(reservedNames, {
      async find(queries, accountId, hostname) {
        const id = await findDomain(queries, accountId, hostname);
        return id ?? findDomain(queries, accountId, `*.${parentOf(hostname)}`);
      },
    });
  },
};
