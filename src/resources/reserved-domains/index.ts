import type { Call } from '../../api/call.ts';
import { crudOperations } from '../../api/crud.ts';
import { fieldRequired, notFound, preconditionFailed, wrongIdKind } from '../../api/errors.ts';
import { checkIfMatch } from '../../api/etag.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { withText } from '../../api/text-fields.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { parseHostname } from '../../lib/host-port.ts';
import type { Transaction } from '../../store/group-commit.ts';
import { hostnameHolders, isHeldElsewhere, parentOf } from '../hostname-holders.ts';
import { listShort } from '../references.ts';
import type { Referables } from '../references.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import type { Services } from '../services.ts';
import { certificateNames } from '../tls-certificates/service.ts';
import * as errors from './errors.ts';
import { ReservedDomainCreate, ReservedDomainUpdate, ReservedDomainView } from './schema.ts';
import { hostnameHolder, migrations, reservedDomains } from './table.ts';
import type { ReservedDomain } from './table.ts';

const path = '/reserved_domains';
const tag = 'Reserved domains';
const noun = 'reserved domain';
const rights = 'everyone';

const certificateErrors = [
  wrongIdKind,
  fieldRequired,
  errors.domainCertificateMissing,
  errors.certificateDoesNotCover,
  errors.certificateManagementNotOffered,
  errors.resolvesToNotOffered,
];

function reservedDomainOperations({ store, services, referables }: ResourceContext): readonly Operation[] {
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
    view: ReservedDomainView,
    createBody: ReservedDomainCreate,
    updateBody: ReservedDomainUpdate,
    fieldErrors: {
      domain: (value, missing) =>
        missing ? new UserError(errors.invalidDomain, { domain: quote(value ?? '') }) : undefined,
    },
    errors: {
      create: [errors.invalidDomain, errors.domainTaken, ...certificateErrors],
      update: certificateErrors,
      delete: [errors.domainInUse],
    },
    async create(transaction, { caller: { accountId }, body }) {
      checkOffered(body);
      const domain = parseHostname(body.domain, { wildcard: true });
      if (domain === undefined) throw new UserError(errors.invalidDomain, { domain: quote(body.domain) });
      await checkFree(services, transaction, accountId, domain);
      const first = { ...reservedDomains.newDocument(accountId), domain, region: body.region ?? '' };
      const reserved = await reservedDomains.insert(
        transaction,
        withCertificate(withText(first, body), body.certificate_id),
      );
      await syncCertificate(services, referables, transaction, reserved);
      return reserved;
    },
    async update(transaction, { body }, previous) {
      checkOffered(body);
      const changed = withCertificate(withText(previous, body), body.certificate_id || previous.certificate_id);
      const reserved = await reservedDomains.update(transaction, previous, changed);
      if (reserved.certificate_id !== previous.certificate_id) {
        await syncCertificate(services, referables, transaction, reserved);
      }
      return reserved;
    },
    async remove(transaction, _call, reserved) {
      const users = await usersOf(services, transaction, reserved);
      if (users.length > 0) {
        throw new UserError(errors.domainInUse, { domain: reserved.domain, users: listShort(users) });
      }
      await referables.set(transaction, 'tls_certificate', reserved.id, []);
      await reservedDomains.delete(transaction, reserved);
    },
    present: (reserved, call) => present(reserved, referables, call),
  });
  return [...crud, deleteCertificateOperation({ store, referables })];
}

/** Takes the certificate away from a domain. Also succeeds when there is none. */
function deleteCertificateOperation({ store, referables }: Pick<ResourceContext, 'store' | 'referables'>): Operation {
  return operation({
    method: 'DELETE',
    path: `${path}/{id}/certificate`,
    operationId: 'ReservedDomainsDeleteCertificate',
    summary: 'Detach the TLS certificate of a reserved domain',
    description: 'The certificate itself stays. Also succeeds when none is attached.',
    tag,
    rights,
    status: 204,
    accepts: ['IfMatch'],
    errors: [notFound, preconditionFailed],
    handle: (call) =>
      store.write(call.actor, async (transaction) => {
        const { id = '' } = call.params;
        const previous = await reservedDomains.find(transaction, call.caller.accountId, id);
        if (previous === undefined) throw new UserError(notFound, { noun, id: quote(id) });
        checkIfMatch(call, previous);
        await reservedDomains.update(transaction, previous, withCertificate(previous, undefined));
        if (previous.certificate_id !== undefined) await referables.set(transaction, 'tls_certificate', id, []);
      }),
  });
}

interface NotOffered {
  readonly certificate_management_policy?: object | undefined;
  readonly resolves_to?: readonly { readonly value: string }[];
}

function checkOffered({ certificate_management_policy: policy, resolves_to: places = [] }: NotOffered): void {
  if (policy !== undefined) throw new UserError(errors.certificateManagementNotOffered);
  if (places.length > 1 || places.some(({ value }) => value !== 'global')) {
    throw new UserError(errors.resolvesToNotOffered);
  }
}

async function checkFree(
  services: Services,
  transaction: Transaction,
  accountId: string,
  domain: string,
): Promise<void> {
  const [own] = await hostnameHolder.holdersOf(transaction, accountId, domain);
  if (own !== undefined) throw new UserError(errors.domainTaken, { domain, by: ` (${own})` });
  // Another account's domains and edges are none of the caller's business.
  if (await isHeldElsewhere(services, transaction, accountId, domain)) {
    throw new UserError(errors.domainTaken, { domain, by: ', or belongs to another account' });
  }
}

/** Edges, and whatever else in the account has the domain as its name. */
async function usersOf(
  services: Services,
  transaction: Transaction,
  reserved: ReservedDomain,
): Promise<readonly string[]> {
  const users: string[] = [];
  for (const holder of services.all(hostnameHolders)) {
    users.push(...(await holder.holdersOf(transaction, reserved.account_id, reserved.domain)));
  }
  return users.filter((id) => id !== reserved.id);
}

function withCertificate(reserved: ReservedDomain, certificateId: string | undefined): ReservedDomain {
  const { certificate_id: _, ...rest } = reserved;
  return certificateId === undefined || certificateId === '' ? rest : { ...rest, certificate_id: certificateId };
}

/** Checks that the certificate exists and is for the domain, and keeps it from being deleted. */
async function syncCertificate(
  services: Services,
  referables: Referables,
  transaction: Transaction,
  { id, account_id, domain, certificate_id }: ReservedDomain,
): Promise<void> {
  if (certificate_id !== undefined) {
    referables.check(
      'tls_certificate',
      'certificate_id',
      [certificate_id],
      () => new UserError(wrongIdKind, { field: 'certificate_id', id: quote(certificate_id), prefix: 'cert' }),
    );
    const names = await services.get(certificateNames).find(transaction, account_id, certificate_id);
    if (names === undefined) throw new UserError(errors.domainCertificateMissing, { id: quote(certificate_id) });
    if (!names.includes(domain) && !names.includes(`*.${parentOf(domain)}`)) {
      throw new UserError(errors.certificateDoesNotCover, { id: certificate_id, domain, names: listShort(names) });
    }
  }
  await referables.set(transaction, 'tls_certificate', id, certificate_id === undefined ? [] : [certificate_id]);
}

function present(reserved: ReservedDomain, referables: Referables, { uri }: Call): object {
  const { id, created_at, description, metadata, domain, region, certificate_id } = reserved;
  return {
    id,
    uri: uri(`${path}/${id}`),
    created_at,
    description,
    metadata,
    domain,
    region,
    cname_target: null,
    certificate:
      certificate_id === undefined
        ? null
        : { id: certificate_id, uri: uri(referables.pathOf('tls_certificate', certificate_id)) },
    certificate_management_policy: null,
    certificate_management_status: null,
    acme_challenge_cname_target: null,
    resolves_to: [{ value: 'global' }],
  };
}

/** Host names that belong to an account, whether or not an edge has them yet. */
export const reservedDomainsResource: Resource = {
  migrations,
  schemas: [ReservedDomainView, ReservedDomainCreate, ReservedDomainUpdate],
  errors: Object.values(errors),
  operations: reservedDomainOperations,
  provide({ services }) {
    services.add(hostnameHolders, hostnameHolder);
  },
};
