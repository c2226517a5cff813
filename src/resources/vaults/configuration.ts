import { textFields } from '../../api/body/text-fields.ts';
import type { TextFields } from '../../api/body/text-fields.ts';
import { defineKind, textsOf, textsToSet } from '../configuration-kind.ts';
import type { ConfigurationKind, EntryFields } from '../configuration-kind.ts';
import { entrySchema } from '../configuration-schema.ts';
import { claimOfVault } from '../policy-dependencies.ts';
import { vaultNotEmpty } from './errors.ts';
import { nameField } from './names.ts';
import { vaults } from './table.ts';
import { vaultErrors, vaultWrites } from './vault-writes.ts';

export const VaultEntry = entrySchema('VaultEntry', 'vaults', {
  ...textFields,
  vault: nameField('vault', 'payments'),
});

interface VaultFields extends TextFields {
  readonly vault: string;
}

/** Vaults without their secrets, whose values leave the server in no form. */
export function vaultKind(): ConfigurationKind {
  return defineKind({
    kind: 'vaults',
    noun: 'vault',
    scope: 'vault',
    table: vaults,
    changeKinds: [vaults.kind],
    schema: VaultEntry,
    errors: [...vaultErrors, vaultNotEmpty],
    // Policies of other kinds name its secrets.
    isCreatedFirst: true,
    suggestName: ({ name }) => name,
    describe: async (_queries, found) => found.map(({ name, ...texts }) => toFields({ ...texts, vault: name })),
    accept: async (fields) => toFields(read(fields)),
    create: ({ transaction, call }, fields) => vaultWrites.create(transaction, call, toChange(fields)),
    async update({ transaction, call }, vault, fields) {
      await vaultWrites.update(transaction, call, vault, toChange(fields));
    },
    remove: ({ transaction }, vault) => vaultWrites.remove(transaction, vault),
    claims: (fields) => claimsIn(read(fields)),
    async release({ transaction }, vault) {
      await vaultWrites.leaveName(transaction, vault);
      return vault;
    },
  });
}

function toChange(fields: EntryFields) {
  const { vault: name, ...texts } = read(fields);
  return { ...textsToSet(texts), name };
}

function toFields({ vault, ...texts }: VaultFields): EntryFields {
  return { ...textsOf(texts), vault };
}

/** The fields of a deletion are empty. */
function claimsIn({ vault }: Partial<VaultFields>): readonly string[] {
  return vault === undefined ? [] : [claimOfVault(vault)];
}

function read(fields: EntryFields): VaultFields {
  // The entry has passed its schema.
  return fields as unknown as VaultFields;
}
