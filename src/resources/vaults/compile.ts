import type { Sealer } from '../../lib/sealed-secret.ts';
import type { Compiler } from '../../publisher/compiler.ts';
import type { VaultSecretEntry } from '../../snapshot/contract.ts';
import { vaults, vaultSecrets } from './table.ts';
import type { VaultSecret } from './table.ts';

/** Vaults and secrets as gateways get them: they stand apart, so that a new name of a vault is one entry. */
export function vaultCompilers(sealer: Sealer): readonly Compiler[] {
  return [
    {
      kind: 'vault',
      affectedIds: ({ kind, id }) => (kind === vaults.kind ? [id] : []),
      async load(queries, ids) {
        const found = await vaults.loadMany(queries, ids);
        return found.map(({ id, account_id, name }) => ({ kind: 'vault', id, accountId: account_id, name }));
      },
    },
    {
      kind: 'vault_secret',
      affectedIds: ({ kind, id }) => (kind === vaultSecrets.kind ? [id] : []),
      async load(queries, ids) {
        const found = await vaultSecrets.loadMany(queries, ids);
        const values = new Map<string, string>();
        for (let at = 0; at < found.length; at += atOnce) {
          const some = found.slice(at, at + atOnce);
          const places = some.map((_, place) => `$${place + 1}`).join(', ');
          const sql = `SELECT id, sealed_value FROM vault_secrets WHERE id IN (${places})`;
          const rows = await queries.all(
            sql,
            some.map(({ id }) => id),
          );
          for (const [id, sealed] of rows) values.set(String(id), String(sealed));
        }
        return found.flatMap((secret) => {
          const sealed = values.get(secret.id);
          // The secret may have been deleted in the meantime.
          return sealed === undefined ? [] : [toEntry(secret, sealed, sealer)];
        });
      },
    },
  ];
}

const atOnce = 100;

function toEntry({ id, vault_id, name }: VaultSecret, sealed: string, sealer: Sealer): VaultSecretEntry {
  const entry = { kind: 'vault_secret', id, vaultId: vault_id, name, value: '' } as const;
  try {
    return { ...entry, value: sealer.open(sealed, id) };
  } catch (error) {
    return {
      ...entry,
      fault: `the secret ${name} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}
