import { Type } from 'typebox';

import { notFound } from '../../api/errors.ts';
import { cutPage, filteredList } from '../../api/filter/filtered-list.ts';
import { readFilter } from '../../api/filter/read-filter.ts';
import { filterName } from '../../api/http/query.ts';
import { pageSchema, presentPage } from '../../api/list-page.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { shownId } from '../../api/shown-id.ts';
import { UserError } from '../../errors/user-error.ts';
import type { Page } from '../../store/table.ts';
import type { ResourceContext } from '../resource.ts';
import { filterFields, presentSecrets } from './secrets.ts';
import { vaults, vaultSecrets } from './table.ts';
import type { Vault } from './table.ts';
import { vaultsPath } from './vaults.ts';

export const SecretsOfVault = pageSchema('VaultsSecrets', 'secrets', Type.Ref('VaultSecret'));

/** The secrets of one vault, without their values. */
export function listSecretsOperation({ store }: ResourceContext): Operation {
  const read = async ({ account_id, id }: Vault, { beforeId, limit }: Page) => {
    const before = beforeId === undefined ? '' : 'AND id < $4';
    const sql = `SELECT document FROM vault_secrets WHERE account_id = $1 AND vault_id = $2 ${before} ORDER BY id DESC LIMIT $3`;
    const rows = await store.queries.all(sql, [account_id, id, limit, ...(beforeId === undefined ? [] : [beforeId])]);
    return rows.map((row) => vaultSecrets.parse(row));
  };
  return operation({
    method: 'GET',
    path: `${vaultsPath}/{id}/secrets`,
    operationId: 'VaultsSecrets',
    summary: 'List secrets of a vault',
    description: 'Newest first. The next page is reached through `next_page_uri`.',
    tag: 'Vaults',
    rights: 'everyone',
    listedPrefix: vaultSecrets.prefix,
    filterFields,
    status: 200,
    response: SecretsOfVault,
    errors: [notFound],
    handle: async (call) => {
      const { page, filters, caller, params } = call;
      const vault = await vaults.find(store.queries, caller.accountId, params['id'] ?? '');
      if (vault === undefined)
        throw new UserError(notFound, { noun: 'vault', id: shownId(params['id'], vaults.prefix) });
      const path = `${vaultsPath}/${vault.id}/secrets`;
      const condition = readFilter(filters[filterName], filterFields);
      const { documents, nextBefore } =
        condition === undefined
          ? cutPage(await read(vault, { ...page, limit: page.limit + 1 }), page.limit)
          : await filteredList(store, vaultSecrets, call, condition, { vault_id: vault.id });
      return presentPage(call, path, 'secrets', await presentSecrets(store.queries, documents, call), nextBefore);
    },
  });
}
