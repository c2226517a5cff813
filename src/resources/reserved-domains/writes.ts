import { isDeepStrictEqual } from 'node:util';

import type { Call } from '../../api/call.ts';
import { wrongIdKind } from '../../api/errors.ts';
import { withText } from '../../api/body/text-fields.ts';
import type { TextFields } from '../../api/body/text-fields.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { parseHostname } from '../../lib/host-port.ts';
import { whyNotPublic } from '../../lib/public-name.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import { findNameUse, parentOf } from '../hostname-holders.ts';
import { cloudEndpointService } from '../endpoints/service.ts';
import { nameUsers } from '../name-users.ts';
import { listShort } from '../references.ts';
import type { ResourceContext } from '../resource.ts';
import { certificateNames } from '../tls-certificates/service.ts';
import * as errors from './errors.ts';
import { findDomain, reservedDomains } from './table.ts';
import type { ManagementPolicy, ReservedDomain } from './table.ts';

interface DomainChange extends TextFields {
  /** Undefined or `""`: none. */
  readonly certificate_id: string | undefined;
  readonly policy: ManagementPolicy | undefined;
}

interface NewDomain extends DomainChange {
  readonly domain: string;
  readonly region: string;
}

type Parts = Pick<ResourceContext, 'services' | 'referables' | 'settings'>;

/** The writes of single calls and of configurations. */
export function reservedDomainWrites(parts: Parts) {
  const { services, referables } = parts;
  return {
    async create(
      transaction: Transaction,
      { caller: { accountId }, newId }: Call,
      wanted: NewDomain,
    ): Promise<ReservedDomain> {
      const domain = parseHostname(wanted.domain, { wildcard: true });
      if (domain === undefined) throw new UserError(errors.invalidDomain, { domain: quote(wanted.domain) });
      checkPolicy(parts, domain, wanted);
      await checkFree(parts, transaction, accountId, domain);
      const first = { ...reservedDomains.newDocument(accountId, newId), domain, region: wanted.region };
      const reserved = await reservedDomains.insert(
        transaction,
        withCertificate(withText(first, wanted), wanted.certificate_id, wanted.policy),
      );
      await syncCertificate(parts, transaction, reserved);
      return reserved;
    },
    async update(transaction: Transaction, previous: ReservedDomain, change: DomainChange): Promise<ReservedDomain> {
      // What was possible once stays, whatever the operator's settings are by now.
      if (!isDeepStrictEqual(change.policy, previous.certificate_management_policy))
        checkPolicy(parts, previous.domain, change);
      const changed = withCertificate(withText(previous, change), change.certificate_id, change.policy);
      const reserved = await reservedDomains.update(transaction, previous, changed);
      if (reserved.certificate_id !== previous.certificate_id) await syncCertificate(parts, transaction, reserved);
      return reserved;
    },
    async remove(transaction: Transaction, reserved: ReservedDomain): Promise<void> {
      const { account_id, domain } = reserved;
      const { users: named } = await findNameUse(services, transaction, account_id, domain);
      const below = domain.startsWith('*.')
        ? await services.get(cloudEndpointService).needing(transaction, account_id, domain)
        : [];
      const users = [...named, ...below];
      if (users.length > 0) {
        throw new UserError(errors.domainInUse, {
          domain: reserved.domain,
          users: await nameUsers(transaction, reserved.account_id, users),
        });
      }
      await referables.set(transaction, 'tls_certificate', reserved.id, []);
      await reservedDomains.delete(transaction, reserved);
    },
  };
}

async function checkFree(
  { services, settings }: Parts,
  transaction: Transaction,
  accountId: string,
  domain: string,
): Promise<void> {
  const own = await findDomain(transaction, accountId, domain);
  if (own !== undefined) throw new UserError(errors.domainTaken, { domain, by: ` (${own})` });
  await settings.ownNames.check(domain);
  // Another account's domains and edges are none of the caller's business.
  const { isElsewhere } = await findNameUse(services, transaction, accountId, domain);
  if (isElsewhere) throw new UserError(errors.domainTaken, { domain, by: ', or belongs to another account' });
}

/** Throws where nobody could obtain a certificate for the domain. */
function checkPolicy({ settings }: Parts, domain: string, { policy }: Pick<DomainChange, 'policy'>): void {
  if (policy === undefined) return;
  if (!settings.acme.isOn) throw new UserError(errors.certificateManagementNotOffered);
  const needsHook = domain.startsWith('*.') && !settings.acme.hasDnsHook;
  const reason = needsHook ? 'a wildcard needs a program in GATEHOUSE_ACME_DNS_HOOK' : whyNotPublic(domain);
  if (reason !== undefined) throw new UserError(errors.domainNotPublic, { domain, reason });
}

export function withCertificate(
  reserved: ReservedDomain,
  certificateId: string | undefined,
  policy: ManagementPolicy | undefined,
): ReservedDomain {
  const { certificate_id: _, certificate_management_policy: __, ...rest } = reserved;
  return {
    ...rest,
    ...(certificateId === undefined || certificateId === '' ? {} : { certificate_id: certificateId }),
    ...(policy === undefined ? {} : { certificate_management_policy: policy }),
  };
}

/** Checks that the certificate exists and is for the domain, and keeps it from being deleted. */
async function syncCertificate(
  { services, referables }: Parts,
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
