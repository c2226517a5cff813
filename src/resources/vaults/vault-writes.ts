import { withText } from '../../api/body/text-fields.ts';
import type { TextFields } from '../../api/body/text-fields.ts';
import type { Call } from '../../api/call.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { toTimestamp } from '../../lib/ids.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import { listShort, shownCount } from '../references.ts';
import { vaultNameEmpty, vaultNameInvalid, vaultNameTaken, vaultNameTooLong, vaultNotEmpty } from './errors.ts';
import { checkName } from './names.ts';
import { vaults } from './table.ts';
import type { Named, Vault } from './table.ts';

export const nameErrors = { empty: vaultNameEmpty, tooLong: vaultNameTooLong, invalid: vaultNameInvalid };
/** Errors of a vault that is written. */
export const vaultErrors = [...Object.values(nameErrors), vaultNameTaken];

interface VaultChange extends TextFields {
  readonly name?: string;
}

/** The writes of single calls and of configurations. */
export const vaultWrites = {
  async create(
    transaction: Transaction,
    call: Call,
    wanted: VaultChange & { readonly name: string },
    newId?: string,
  ): Promise<Vault> {
    const first = vaults.newDocument(call.caller.accountId, newId);
    const made = { ...first, ...createdBy(call), name: checkName(wanted.name, nameErrors) };
    await refuseTakenName(transaction, made);
    return vaults.insert(transaction, withText(made, wanted));
  },
  async update(transaction: Transaction, call: Call, previous: Vault, change: VaultChange): Promise<Vault> {
    const { name = previous.name } = change;
    const changed = withText({ ...previous, name: checkName(name, nameErrors) }, change);
    await refuseTakenName(transaction, changed);
    return vaults.update(transaction, previous, touched(previous, changed, call));
  },
  /** Leaves its name to another vault until it is written with a new one. No vault has a name with a space. */
  async leaveName(transaction: Transaction, { id }: Vault): Promise<void> {
    await transaction.run('UPDATE vaults SET name = $2 WHERE id = $1', [id, `left ${id}`]);
  },
  async remove(transaction: Transaction, vault: Vault): Promise<void> {
    const sql = `SELECT name FROM vault_secrets WHERE vault_id = $1 ORDER BY name LIMIT ${shownCount + 1}`;
    const rows = await transaction.all(sql, [vault.id]);
    if (rows.length > 0) {
      const secrets = listShort(rows.map(([each]) => String(each)));
      throw new UserError(vaultNotEmpty, { vault: quote(vault.name), secrets });
    }
    await vaults.delete(transaction, vault);
  },
};

export function createdBy({ caller }: Call): Pick<Named, 'updated_at' | 'created_by' | 'last_updated_by'> {
  const { id } = caller.principal;
  return { updated_at: toTimestamp(Date.now()), created_by: id, last_updated_by: id };
}

/** The document with who changed it and when, unless nothing was changed. */
export function touched<Document extends Named>(previous: Document, changed: Document, { caller }: Call): Document {
  if (JSON.stringify(previous) === JSON.stringify(changed)) return previous;
  return { ...changed, updated_at: toTimestamp(Date.now()), last_updated_by: caller.principal.id };
}

async function refuseTakenName(transaction: Transaction, vault: Vault): Promise<void> {
  const sql = 'SELECT id FROM vaults WHERE account_id = $1 AND name = $2 AND id <> $3';
  const [taken] = await transaction.all(sql, [vault.account_id, vault.name, vault.id]);
  if (taken !== undefined) throw new UserError(vaultNameTaken, { name: quote(vault.name), id: String(taken[0]) });
}
