import { Type } from 'typebox';

import { text, textFields, withText } from '../../api/body/text-fields.ts';
import { viewFields } from '../../api/body/view-fields.ts';
import type { Call } from '../../api/call.ts';
import { crudOperations } from '../../api/crud.ts';
import { commonFields, textIn } from '../../api/filter/fields.ts';
import type { FieldError, Operation } from '../../api/operation.ts';
import { vaultNameUnknown } from '../../errors/shared.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import type { Sealer } from '../../lib/sealed-secret.ts';
import type { Queries } from '../../store/database.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import type { ResourceContext } from '../resource.ts';
import * as errors from './errors.ts';
import { checkName, nameField, nameFieldError } from './names.ts';
import { vaults, vaultSecrets } from './table.ts';
import type { Vault, VaultSecret } from './table.ts';
import { createdBy, touched } from './vault-writes.ts';
import { changedFields, vaultsPath } from './vaults.ts';

const secretsPath = '/vault_secrets';
const valueLimitBytes = 16_384;
const { secretNameEmpty, secretNameInvalid, secretNameTaken, secretNameTooLong } = errors;
const { secretValueEmpty, secretValueTooLong } = errors;
const fieldFaults = [
  secretNameEmpty,
  secretNameTooLong,
  secretNameInvalid,
  secretNameTaken,
  secretValueEmpty,
  secretValueTooLong,
];
const nameErrors = { empty: secretNameEmpty, tooLong: secretNameTooLong, invalid: secretNameInvalid };
const name = nameField('secret', 'stripe/webhook');
const value = text(
  valueLimitBytes,
  'The secret itself, max 16384 bytes. It is never returned.',
  'whsec_5WbX5kEWLlfzsGNj',
);
const vaultId = Type.String({
  description: 'Id of the vault that holds it.',
  examples: ['vault_2aBcDeFgHiJkLmNoPqRsTuVwXyZ'],
});
const vaultName = Type.String({ description: 'Name of the vault that holds it.', examples: ['payments'] });
export const filterFields = { ...commonFields, name: textIn('name') };

export const VaultSecretView = Type.Object(
  {
    ...viewFields('vault secret'),
    ...changedFields,
    name,
    vault: Type.Ref('Ref'),
    vault_name: vaultName,
    created_by: Type.Ref('Ref'),
    last_updated_by: Type.Ref('Ref'),
  },
  { $id: 'VaultSecret' },
);
export const VaultSecretCreate = Type.Object(
  { ...textFields, name, value, vault_id: Type.Optional(vaultId), vault_name: Type.Optional(vaultName) },
  {
    $id: 'VaultSecretCreate',
    additionalProperties: false,
    examples: [{ vault_name: 'payments', name: 'stripe/webhook', value: 'whsec_5WbX5kEWLlfzsGNj' }],
  },
);
export const VaultSecretUpdate = Type.Object(
  { ...textFields, name: Type.Optional(name), value: Type.Optional(value) },
  { $id: 'VaultSecretUpdate', additionalProperties: false },
);

/** A value of the wrong type may be the secret all the same, and must not be repeated. */
const valueError: FieldError = (given, missing) => {
  if (missing || typeof given !== 'string') return new UserError(secretValueEmpty);
  const bytes = Buffer.byteLength(given);
  return bytes > valueLimitBytes ? new UserError(secretValueTooLong, { bytes }) : undefined;
};

export function secretOperations({ store, sealer }: ResourceContext): readonly Operation[] {
  return crudOperations({
    store,
    table: vaultSecrets,
    path: secretsPath,
    noun: 'vault secret',
    plural: 'vault secrets',
    name: 'VaultSecrets',
    tag: 'Vaults',
    listKey: 'secrets',
    rights: { read: 'everyone', write: 'everyone' },
    filterFields,
    view: VaultSecretView,
    createBody: VaultSecretCreate,
    updateBody: VaultSecretUpdate,
    whyGone: 'its value is gone too',
    fieldErrors: { name: nameFieldError(nameErrors), value: valueError },
    misplacedFields: { vault_id: 'A secret stays in the vault that it was created in.' },
    errors: {
      create: [...fieldFaults, errors.vaultIdUnknown, vaultNameUnknown, errors.vaultMissing],
      update: fieldFaults,
      delete: [],
    },
    async create(transaction, call) {
      const { body, caller } = call;
      const vault = await findVault(transaction, caller.accountId, body);
      const made = withText(
        {
          ...vaultSecrets.newDocument(caller.accountId),
          ...createdBy(call),
          name: checkName(body.name, nameErrors),
          vault_id: vault.id,
          value_version: 1,
        },
        body,
      );
      await refuseTakenName(transaction, made);
      return vaultSecrets.insert(transaction, made, [sealValue(sealer, body.value, made.id)]);
    },
    async update(transaction, call, previous) {
      const { name: newName = previous.name, value: newValue } = call.body;
      const changed = withText(
        {
          ...previous,
          name: checkName(newName, nameErrors),
          value_version: previous.value_version + (newValue === undefined ? 0 : 1),
        },
        call.body,
      );
      await refuseTakenName(transaction, changed);
      if (newValue !== undefined) {
        const sql = 'UPDATE vault_secrets SET sealed_value = $1 WHERE id = $2';
        await transaction.run(sql, [sealValue(sealer, newValue, previous.id), previous.id]);
      }
      return vaultSecrets.update(transaction, previous, touched(previous, changed, call));
    },
    async remove(transaction, _call, secret) {
      await vaultSecrets.delete(transaction, secret);
    },
    presentAll: presentSecrets,
  });
}

function sealValue(sealer: Sealer, given: string, id: string): string {
  if (given === '') throw new UserError(secretValueEmpty);
  return sealer.seal(given, id);
}

interface VaultReference {
  readonly vault_id?: string;
  readonly vault_name?: string;
}

async function findVault(queries: Queries, accountId: string, reference: VaultReference): Promise<Vault> {
  const { vault_id: id = '', vault_name: named = '' } = reference;
  if (id === '' && named === '') throw new UserError(errors.vaultMissing);
  const byId = id === '' ? undefined : await vaults.find(queries, accountId, id);
  if (id !== '' && byId === undefined) throw new UserError(errors.vaultIdUnknown, { vault: quote(id) });
  const found = byId ?? (await vaultNamed(queries, accountId, named));
  if (found === undefined || (named !== '' && found.name !== named)) {
    throw new UserError(vaultNameUnknown, { what: `vault named ${quote(named)}` });
  }
  return found;
}

export async function vaultNamed(queries: Queries, accountId: string, named: string): Promise<Vault | undefined> {
  // A column of PostgreSQL cannot hold a NUL, and neither can a question about it.
  if (named.includes('\0')) return undefined;
  const sql = 'SELECT document FROM vaults WHERE account_id = $1 AND name = $2';
  const [row] = await queries.all(sql, [accountId, named]);
  return row && vaults.parse(row);
}

/** The views of secrets, with the names of their vaults. */
export async function presentSecrets(
  queries: Queries,
  secrets: readonly VaultSecret[],
  { uri }: Call,
): Promise<readonly object[]> {
  const found = await vaults.loadMany(queries, [...new Set(secrets.map(({ vault_id }) => vault_id))]);
  const names = new Map(found.map((vault) => [vault.id, vault.name]));
  return secrets.map((secret) => ({
    id: secret.id,
    uri: uri(`${secretsPath}/${secret.id}`),
    created_at: secret.created_at,
    updated_at: secret.updated_at,
    description: secret.description,
    metadata: secret.metadata,
    name: secret.name,
    vault: { id: secret.vault_id, uri: uri(`${vaultsPath}/${secret.vault_id}`) },
    vault_name: names.get(secret.vault_id) ?? '',
    created_by: { id: secret.created_by, uri: '' },
    last_updated_by: { id: secret.last_updated_by, uri: '' },
  }));
}

async function refuseTakenName(transaction: Transaction, secret: VaultSecret): Promise<void> {
  const sql = 'SELECT id FROM vault_secrets WHERE vault_id = $1 AND name = $2 AND id <> $3';
  const [taken] = await transaction.all(sql, [secret.vault_id, secret.name, secret.id]);
  if (taken !== undefined) throw new UserError(secretNameTaken, { name: quote(secret.name), id: String(taken[0]) });
}
