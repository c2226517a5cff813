import { plainPrefix } from '../../lib/sealed-secret.ts';
import type { Resource } from '../resource.ts';
import { sealPlainRows, storedSecrets } from '../stored-secrets.ts';
import { configurationKinds } from '../configuration-kind.ts';
import { vaultCompilers } from './compile.ts';
import { VaultEntry, vaultKind } from './configuration.ts';
import * as errors from './errors.ts';
import { listSecretsOperation, SecretsOfVault } from './list-secrets.ts';
import { secretOperations, vaultNamed, VaultSecretCreate, VaultSecretUpdate, VaultSecretView } from './secrets.ts';
import { vaultNames } from './service.ts';
import { migrations } from './table.ts';
import { VaultCreate, vaultOperations, VaultUpdate, VaultView } from './vaults.ts';

const oldestPlain = 'SELECT id, sealed_value FROM vault_secrets WHERE sealed_value LIKE $1 ORDER BY id LIMIT 1';
const oldestEncrypted = oldestPlain.replace('LIKE', 'NOT LIKE');

/** Secrets that policies use by name, and nobody reads back. */
export const vaultsResource: Resource = {
  errors: Object.values(errors),
  migrations,
  schemas: [
    VaultEntry,
    VaultView,
    VaultCreate,
    VaultUpdate,
    VaultSecretView,
    VaultSecretCreate,
    VaultSecretUpdate,
    SecretsOfVault,
  ],
  operations: (context) => [...vaultOperations(context), listSecretsOperation(context), ...secretOperations(context)],
  compilers: ({ sealer }) => vaultCompilers(sealer),
  provide({ services, store, sealer }) {
    services.add(configurationKinds, vaultKind());
    services.provide(vaultNames, {
      async find(queries, accountId, vault, secret) {
        const found = await vaultNamed(queries, accountId, vault);
        if (found === undefined) return 'no vault';
        if (secret.includes('\0')) return 'no secret';
        const sql = 'SELECT 1 FROM vault_secrets WHERE vault_id = $1 AND name = $2';
        return (await queries.all(sql, [found.id, secret])).length > 0 ? 'found' : 'no secret';
      },
    });
    services.add(storedSecrets, {
      async oldest(form) {
        const [row] = await store.queries.all(form === 'plain' ? oldestPlain : oldestEncrypted, [`${plainPrefix}%`]);
        const id = String(row?.[0]);
        return row && { owner: `the vault secret ${id}`, sealed: String(row[1]), context: id };
      },
      sealPlain: () =>
        sealPlainRows(
          { store, sealer },
          { table: 'vault_secrets', id: 'id', column: 'sealed_value', contextOf: (id) => id },
        ),
    });
  },
};
