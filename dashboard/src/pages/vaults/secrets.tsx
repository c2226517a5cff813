import { useState } from 'react';
import { Link } from 'wouter';

import type { Vault, VaultSecret } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import { Check, TextField } from '../../components/field.tsx';
import type { Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { textHas } from '../../lib/filter.ts';
import { OwnerName } from '../../parts/owners.tsx';
import { usePolicyUses } from '../../parts/policy/policy-uses.ts';
import { nameColumn, timeColumn } from '../../resource/columns.tsx';
import type { InputProps, Resource, Rows, Shown } from '../../resource/describe.ts';
import { description, field, metadata, text } from '../../resource/fields.tsx';
import { standardFacts } from '../../resource/page.tsx';
import { linesOf, UsesPanel } from '../../resource/uses.tsx';

export const path = '/vaults';

const vaultColumn: Column<VaultSecret> = {
  id: 'vault',
  head: 'Vault',
  width: '22%',
  priority: 'p1',
  sortBy: ({ vault_name: name }) => name.toLowerCase(),
  cell: ({ vault, vault_name: name }) => (
    <Link className="main mono" to={`${path}/${vault.id}`}>
      {name}
    </Link>
  ),
};

function rowsOf(more: readonly Column<VaultSecret>[]): Rows<VaultSecret> {
  return {
    columns: [
      nameColumn({
        head: 'Name',
        width: '34%',
        path,
        look: 'main mono',
        name: ({ name }) => name,
        sub: ({ vault_name: vault, description: words = '' }) => (
          <span className="sub m1">{more.length === 0 ? words : vault}</span>
        ),
      }),
      ...more,
      {
        id: 'description',
        head: 'Description',
        width: '26%',
        priority: 'p2',
        sortBy: ({ description: words = '' }) => words.toLowerCase(),
        cell: ({ description: words = '' }) => <span className="main soft">{words}</span>,
      },
      timeColumn('Changed', ({ updated_at: at }) => at),
    ],
    searchFilter: textHas('name', 'description', 'id'),
  };
}

const ofAll = rowsOf([vaultColumn]);
const ofOneVault = rowsOf([]);

export const secrets: Resource<'VaultSecretsList'> = {
  list: 'VaultSecretsList',
  noun: ['secret', 'secrets'],
  icon: 'key',
  path,
  listPath: `${path}?kind=secrets`,
  filterHint: 'Name, description or id',
  whenEmpty: ['No secrets', 'A secret is added to a vault, on the page of that vault.'],
  Rows: ({ render }) => render(ofAll),
  nameOf: ({ name }) => name,
  fields: [
    text('name', {
      label: 'Name',
      mono: true,
      limitBytes: 255,
      startsFocused: true,
      placeholder: 'stripe/webhook',
      hint: 'Policies find it by this name. Letters, digits, "-", "_", "." and "/".',
    }),
    field<VaultSecret, string>({
      name: 'value',
      start: '',
      from: () => '',
      toBody: (value, form) => (value === '' && form === 'edit' ? {} : { value }),
      isSecret: true,
      Input: ValueField,
    }),
    description(),
    metadata(),
  ],
  errors: { 24000: 'name', 24001: 'name', 24002: 'name', 24003: 'value', 24004: 'value', 24005: 'name' },
  create: {
    title: 'Add a secret',
    open: 'Add secret',
    act: 'Add secret',
    intro: 'Its value is written here once, and is never shown again.',
    missing: ({ name, value }) => (name === '' ? 'Give it a name' : value === '' ? 'Give it a value' : undefined),
  },
  edit: { intro: 'A new value works at once in every policy that uses it. Left empty, the value stays as it is.' },
  lead: ({ description: words }) => words,
  facts: (secret) => [
    [
      'Vault',
      <Link key="vault" className="mono" to={`${path}/${secret.vault.id}`}>
        {secret.vault_name}
      </Link>,
    ],
    ['Value', 'Never shown'],
    ['In a policy', <code key="use">{`\${secrets.get('${secret.vault_name}', '${secret.name}')}`}</code>],
    ...standardFacts(secret),
    [
      'Changed',
      <>
        <Time at={secret.updated_at} /> by <OwnerName id={secret.last_updated_by.id} />
      </>,
    ],
  ],
  Body: UsedBy,
  Removal: ({ document, render }) => {
    const { uses } = usePolicyUses((policy) => isReadBy(policy, document));
    return render({
      lost: 'Rules that use it refuse everybody from now on. Its value is gone for good.',
      uses: linesOf(uses.map((use) => ({ ...use, tone: 'warn', end: 'uses it' }))),
      mustType: true,
    });
  },
};

/** The secrets of one vault, and the form that adds one to it. */
export function secretsOf(vault: Vault): Resource<'VaultSecretsList'> {
  return {
    ...secrets,
    // Entries of both lists are alike.
    list: 'VaultsSecrets' as 'VaultSecretsList',
    below: { id: vault.id },
    whenEmpty: ['It has no secrets', 'A secret is a text that policies use by the names of its vault and its own.'],
    Rows: ({ render }) => render(ofOneVault),
    create: {
      ...secrets.create,
      send: (body) =>
        // The body is made of the fields above.
        client.call('VaultSecretsCreate', {
          body: { ...(body as { name: string; value: string }), vault_id: vault.id },
        }),
    },
  };
}

/** The value is typed unseen; a key of several lines can be looked at while it is typed. */
function ValueField({ value, onChange, error }: InputProps<string>) {
  const [isShown, setShown] = useState(false);
  return (
    <div className={isShown ? 'stack tight' : 'stack tight unseen-text'}>
      <TextField
        label="Value"
        mono
        rows={3}
        value={value}
        onChange={onChange}
        error={error}
        limitBytes={16_384}
        hint="Every character counts, line breaks too."
      />
      <Check isOn={isShown} onChange={setShown}>
        Show what I type
      </Check>
    </div>
  );
}

function UsedBy({ document }: Shown<VaultSecret>) {
  const { uses, isCut } = usePolicyUses((policy) => isReadBy(policy, document));
  return (
    <UsesPanel
      title="Used by"
      note={isCut ? 'of the newest 1,000 policies' : String(uses.length)}
      uses={uses}
      icon="filter"
      none="No policy names it"
    >
      A policy that works its name out is not found here.
    </UsesPanel>
  );
}

/** Whether the text reads the secret by its names, in any quotes. */
function isReadBy(policy: string, { vault_name: vault, name }: VaultSecret): boolean {
  const calls = policy.replaceAll('\\', '').matchAll(/secrets\.get\(\s*["']([^"']+)["']\s*,\s*["']([^"']+)["']\s*\)/g);
  return [...calls].some(([, inVault, named]) => inVault === vault && named === name);
}
