import { Type } from 'typebox';

import { textFields, withText } from '../../api/body/text-fields.ts';
import { viewFields } from '../../api/body/view-fields.ts';
import type { Call } from '../../api/call.ts';
import { crudOperations } from '../../api/crud.ts';
import { commonFields, textIn } from '../../api/filter/fields.ts';
import type { Operation } from '../../api/operation.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { toTimestamp } from '../../lib/ids.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import { listShort, shownCount } from '../references.ts';
import type { ResourceContext } from '../resource.ts';
import { vaultNameEmpty, vaultNameInvalid, vaultNameTaken, vaultNameTooLong, vaultNotEmpty } from './errors.ts';
import { checkName, nameField, nameFieldError } from './names.ts';
import { vaults } from './table.ts';
import type { Named, Vault } from './table.ts';

export const vaultsPath = '/vaults';
const nameErrors = { empty: vaultNameEmpty, tooLong: vaultNameTooLong, invalid: vaultNameInvalid };
const name = nameField('vault', 'payments');

/** Fields that say when and by whom it was changed last. */
export const changedFields = {
  updated_at: Type.String({ format: 'date-time', description: 'When it was changed last, RFC 3339.' }),
};

export const VaultView = Type.Object(
  {
    ...viewFields('vault'),
    ...changedFields,
    name,
    created_by: Type.String({ description: 'Id of the user or bot that created it.' }),
    last_updated_by: Type.String({ description: 'Id of the user or bot that changed it last.' }),
  },
  { $id: 'Vault' },
);
export const VaultCreate = Type.Object({ ...textFields, name }, { $id: 'VaultCreate', additionalProperties: false });
export const VaultUpdate = Type.Object(
  { ...textFields, name: Type.Optional(name) },
  { $id: 'VaultUpdate', additionalProperties: false },
);

export function vaultOperations({ store }: ResourceContext): readonly Operation[] {
  return crudOperations({
    store,
    table: vaults,
    path: vaultsPath,
    noun: 'vault',
    plural: 'vaults',
    name: 'Vaults',
    tag: 'Vaults',
    listKey: 'vaults',
    rights: { read: 'everyone', write: 'everyone' },
    filterFields: { ...commonFields, name: textIn('name') },
    view: VaultView,
    createBody: VaultCreate,
    updateBody: VaultUpdate,
    takesNewId: true,
    fieldErrors: { name: nameFieldError(nameErrors) },
    errors: {
      create: [vaultNameEmpty, vaultNameTooLong, vaultNameInvalid, vaultNameTaken],
      update: [vaultNameEmpty, vaultNameTooLong, vaultNameInvalid, vaultNameTaken],
      delete: [vaultNotEmpty],
    },
    async create(transaction, call) {
      const first = vaults.newDocument(call.caller.accountId, call.newId);
      const made = { ...first, ...createdBy(call), name: checkName(call.body.name, nameErrors) };
      await refuseTakenName(transaction, made);
      return vaults.insert(transaction, withText(made, call.body));
    },
    async update(transaction, call, previous) {
      const { name: newName = previous.name } = call.body;
      const changed = withText({ ...previous, name: checkName(newName, nameErrors) }, call.body);
      await refuseTakenName(transaction, changed);
      return vaults.update(transaction, previous, touched(previous, changed, call));
    },
    async remove(transaction, _call, vault) {
      const sql = `SELECT name FROM vault_secrets WHERE vault_id = $1 ORDER BY name LIMIT ${shownCount + 1}`;
      const rows = await transaction.all(sql, [vault.id]);
      if (rows.length > 0) {
        const secrets = listShort(rows.map(([each]) => String(each)));
        throw new UserError(vaultNotEmpty, { vault: quote(vault.name), secrets });
      }
      await vaults.delete(transaction, vault);
    },
    present: ({ account_id: _accountId, ...vault }, { uri }) => ({ ...vault, uri: uri(`${vaultsPath}/${vault.id}`) }),
  });
}

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
