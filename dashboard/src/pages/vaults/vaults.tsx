import type { Vault } from '../../../../client/src/index.ts';
import { useList } from '../../api/queries.ts';
import { Time } from '../../components/time.tsx';
import { textHas } from '../../lib/filter.ts';
import { countOf } from '../../lib/text.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { OwnerName } from '../../parts/owners.tsx';
import { createdColumn, nameColumn } from '../../resource/columns.tsx';
import type { Resource, Rows as RowsOf, Shown } from '../../resource/describe.ts';
import { description, metadata, text } from '../../resource/fields.tsx';
import { CreateDialog } from '../../resource/form.tsx';
import { CreateButton, Rows } from '../../resource/lists.tsx';
import { standardFacts } from '../../resource/page.tsx';
import { canBeReverted, linesOf } from '../../resource/uses.tsx';
import { path, secretsOf } from './secrets.tsx';

const rows: RowsOf<Vault> = {
  columns: [
    nameColumn({
      head: 'Name',
      width: '34%',
      path,
      look: 'main mono',
      name: ({ name }) => name,
      sub: ({ description: words = '' }) => <span className="sub m1">{words}</span>,
    }),
    {
      id: 'description',
      head: 'Description',
      width: '34%',
      priority: 'p1',
      sortBy: ({ description: words = '' }) => words.toLowerCase(),
      cell: ({ description: words = '' }) => <span className="main soft">{words}</span>,
    },
    createdColumn(),
  ],
  searchFilter: textHas('name', 'description', 'id'),
};

export const vaults: Resource<'VaultsList'> = {
  list: 'VaultsList',
  noun: ['vault', 'vaults'],
  icon: 'vault',
  path,
  filterHint: 'Name, description or id',
  whenEmpty: ['No vaults', 'A vault keeps the secrets that traffic policies use by name.'],
  Rows: ({ render }) => render(rows),
  nameOf: ({ name }) => name,
  fields: [
    text('name', {
      label: 'Name',
      mono: true,
      limitBytes: 255,
      startsFocused: true,
      placeholder: 'payments',
      hint: 'Policies find it by this name. Letters, digits, "-", "_", "." and "/".',
    }),
    description(),
    metadata(),
  ],
  errors: { 23000: 'name', 23001: 'name', 23002: 'name', 23004: 'name' },
  create: { title: 'Create a vault', act: 'Create vault' },
  edit: { intro: 'Policies that use its secrets by the name it has now no longer find them once it has another one.' },
  lead: ({ description: words }) => words,
  facts: (vault) => [
    ...standardFacts(vault),
    ['Created by', <OwnerName key="by" id={vault.created_by} />],
    [
      'Changed',
      <>
        <Time at={vault.updated_at} /> by <OwnerName id={vault.last_updated_by} />
      </>,
    ],
  ],
  Body,
  Removal: ({ document, render }) => {
    const { data = [] } = useList('VaultsSecrets', { path: { id: document.id } });
    return render({
      lost: `Policies no longer find a vault of this name. ${canBeReverted}`,
      uses: linesOf(
        data
          .slice(0, 10)
          .map(({ id, name }) => ({ id, tone: 'warn', text: <code>{name}</code>, end: 'delete it first' })),
      ),
      blocked: data.length === 0 ? undefined : `Still has ${countOf(data.length, 'secret', 'secrets')}`,
    });
  },
};

function Body({ document: vault, mayWrite, isEditing }: Shown<Vault>) {
  const [params] = useUrlState();
  const secrets = secretsOf(vault);
  const action = mayWrite && !isEditing ? <CreateButton>Add secret</CreateButton> : undefined;
  return (
    <>
      <div className="head section">
        <h2>Secrets</h2>
        {action === undefined ? null : <div className="actions">{action}</div>}
      </div>
      <Rows listed={secrets} action={action} />
      {params.has('create') && mayWrite ? <CreateDialog resource={secrets} /> : null}
    </>
  );
}
