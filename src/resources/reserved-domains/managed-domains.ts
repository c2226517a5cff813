import type { ResourceContext } from '../resource.ts';
import type { ManagedDomains } from './service.ts';
import { reservedDomains } from './table.ts';

export function createManagedDomains({ referables }: Pick<ResourceContext, 'referables'>): ManagedDomains {
  return {
    async list(queries) {
      const documents = await reservedDomains.loadMany(queries, undefined);
      return documents.map(({ account_id, domain, certificate_management_policy: policy }) => ({
        accountId: account_id,
        hostname: domain,
        keyType: policy?.private_key_type,
      }));
    },
    async attach(transaction, accountId, hostname, certificateId) {
      const sql = 'SELECT id FROM reserved_domains WHERE account_id = $1 AND hostname = $2';
      const [row] = await transaction.all(sql, [accountId, hostname]);
      const reserved = row && (await reservedDomains.find(transaction, accountId, String(row[0])));
      if (reserved?.certificate_management_policy === undefined) return;
      await reservedDomains.update(transaction, reserved, { ...reserved, certificate_id: certificateId });
      await referables.set(transaction, 'tls_certificate', reserved.id, [certificateId]);
    },
  };
}
