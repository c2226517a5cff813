import { Type } from 'typebox';

import { textFields } from '../../api/body/text-fields.ts';
import { viewFields } from '../../api/body/view-fields.ts';
import { crudOperations } from '../../api/crud.ts';
import { commonFields, textIn } from '../../api/filter/fields.ts';
import type { Operation } from '../../api/operation.ts';
import type { ResourceContext } from '../resource.ts';
import { vaultNotEmpty } from './errors.ts';
import { nameField, nameFieldError } from './names.ts';
import { vaults } from './table.ts';
import { nameErrors, vaultErrors, vaultWrites } from './vault-writes.ts';

export const vaultsPath = '/vaults';
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
      create: vaultErrors,
      update: vaultErrors,
      delete: [vaultNotEmpty],
    },
    create: (transaction, call) => vaultWrites.create(transaction, call, call.body, call.newId),
    update: (transaction, call, previous) => vaultWrites.update(transaction, call, previous, call.body),
    remove: (transaction, _call, vault) => vaultWrites.remove(transaction, vault),
    present: ({ account_id: _accountId, ...vault }, { uri }) => ({ ...vault, uri: uri(`${vaultsPath}/${vault.id}`) }),
  });
}
