import { Type } from 'typebox';

import { operation } from '../../api/operation.ts';
import type { Store } from '../../store/store.ts';
import { readUsage } from '../../store/usage.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import { hostCommands } from './host-commands.ts';
import { nearQuotas } from './service.ts';
import type { NearQuotas } from './service.ts';
import { migrations, quotas } from './table.ts';

const path = '/quotas';

const QuotasView = Type.Object(
  {
    quotas: Type.Array(
      Type.Object({
        name: Type.String({ description: 'Name of the quota.', examples: ['edges'] }),
        description: Type.String({ description: 'What counts.', examples: ['TCP, TLS and HTTPS edges'] }),
        limit: Type.Integer({ description: 'How many the account may have.' }),
        used: Type.Integer({ description: 'How many it has.' }),
      }),
      { description: 'Every quota, whether it is used or not.' },
    ),
    uri: Type.String({ description: 'URI of this list.' }),
  },
  { $id: 'Quotas' },
);

/** How many of everything an account may have. Only the operator changes it, on the host. */
export const quotasResource: Resource = {
  migrations,
  schemas: [QuotasView],
  operations: ({ store }: ResourceContext) => [
    operation({
      rights: 'everyone',
      method: 'GET',
      path,
      operationId: 'QuotasList',
      summary: 'List the quotas of the account',
      description:
        'How many of everything the account may have, and how many it has. A write that goes beyond is refused with 403. ' +
        'The operator of the installation changes quotas: `gatehouse accounts quotas`.',
      tag: 'Quotas',
      status: 200,
      response: QuotasView,
      errors: [],
      handle: async ({ caller, uri }) => {
        const usage = new Map((await readUsage(store.queries, caller.accountId)).map((each) => [each.quota, each]));
        return {
          quotas: Object.entries(quotas).map(([name, { description, most }]) => {
            const { most: limit = most, used = 0 } = usage.get(name) ?? {};
            return { name, description, limit, used };
          }),
          uri: uri(path),
        };
      },
    }),
  ],
  provide({ store, services }) {
    services.provide(nearQuotas, createNearQuotas(store));
  },
  hostCommands,
};

function createNearQuotas({ queries }: Store): NearQuotas {
  return {
    async list(count) {
      const rows = await queries.all(
        `SELECT account_id, quota, used, most FROM account_usage WHERE used > 0 AND used * 5 >= most * 4
         ORDER BY used * 100 / (most + 1) DESC, account_id, quota LIMIT $1`,
        [count],
      );
      return rows.map(([accountId, quota, used, most]) => ({
        accountId: String(accountId),
        quota: String(quota),
        used: Number(used),
        most: Number(most),
      }));
    },
  };
}
