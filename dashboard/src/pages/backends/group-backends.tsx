import { Link } from 'wouter';

import type { FailoverBackend, WeightedBackend } from '../../../../client/src/index.ts';
import type { Column } from '../../components/table.tsx';
import { UnbrokenPort } from '../../components/unbroken-port.tsx';
import { Verdict } from '../../components/verdict.tsx';
import { failoverText, useBackends, weightedText } from '../../parts/backends.ts';
import { useConditions } from '../../parts/conditions.ts';
import type { Resource } from '../../resource/describe.ts';
import { description, field, metadata } from '../../resource/fields.tsx';
import { standardFacts } from '../../resource/page.tsx';
import { backendParts, BackendRows, nameWith } from './backend-parts.tsx';
import { MembersField } from './members-field.tsx';
import type { Member } from './members-field.tsx';

const noMember: Member = { id: '', weight: '100' };
/** Numbers of errors about the members, from none to too many. */
const memberErrors = [20_287, 20_288, 20_289, 20_290, 20_291, 20_292, 20_293];
const errors = { ...backendParts.errors, ...Object.fromEntries(memberErrors.map((number) => [number, 'backends'])) };

function Names({ ids, note }: { readonly ids: readonly string[]; readonly note?: (id: string) => string }) {
  const { find } = useBackends();
  return ids.map((id, at) => (
    <span key={id}>
      {at === 0 ? '' : ', '}
      <Link to={`/backends/${id}`}>
        <UnbrokenPort text={find(id).name} />
      </Link>
      {note === undefined ? '' : ` ${note(id)}`}
    </span>
  ));
}

/** The member that traffic goes to, as far as checks and agents tell. */
function Serving({ id }: { readonly id: string }) {
  const conditions = useConditions();
  const serving = conditions?.servingOf(id);
  if (conditions === undefined) return '…';
  if (serving === undefined) return <Verdict tone="deny">None can answer</Verdict>;
  return (
    <>
      <Names ids={[serving]} />
      {conditions.of([serving]) === 'unknown' ? <span className="muted"> (nothing checks it)</span> : null}
    </>
  );
}

function shareOf({ backends }: WeightedBackend): (id: string) => string {
  const sum = Object.values(backends).reduce((total, weight) => total + weight, 0);
  return (id) => `${Math.round(((backends[id] ?? 0) * 100) / sum)} %`;
}

const weightedColumns: readonly Column<WeightedBackend>[] = [
  {
    id: 'members',
    head: 'Shares',
    width: '40%',
    priority: 'p1',
    cell: (row) => <Names ids={Object.keys(row.backends)} note={shareOf(row)} />,
  },
];
const failoverColumns: readonly Column<FailoverBackend>[] = [
  { id: 'members', head: 'In order', width: '40%', priority: 'p1', cell: (row) => <Names ids={row.backends} /> },
];
const search = {
  searchText: (row: { readonly id: string; readonly description?: string }) => `${row.description ?? ''} ${row.id}`,
};

export const weightedBackends: Resource<'WeightedBackendsList'> = {
  ...backendParts,
  errors,
  list: 'WeightedBackendsList',
  listPath: '/backends?kind=weighted',
  noun: ['weighted backend', 'weighted backends'],
  icon: 'filter',
  filterHint: 'Description or id',
  whenEmpty: ['No weighted backends', 'A weighted backend shares traffic out among others, such as 90 to 10.'],
  Rows: ({ render }) => (
    <BackendRows
      head="Weighted backend"
      target={weightedText}
      columns={weightedColumns}
      search={search}
      render={render}
    />
  ),
  nameOf: (row) => nameWith(row.description, weightedText(row)),
  fields: [
    field<WeightedBackend, readonly Member[]>({
      name: 'backends',
      start: [noMember],
      from: ({ backends }) => Object.entries(backends).map(([id, weight]) => ({ id, weight: String(weight) })),
      toBody: (members) => ({
        backends: Object.fromEntries(
          members.filter(({ id }) => id !== '').map(({ id, weight }) => [id, Number(weight)]),
        ),
      }),
      Input: (props) => <MembersField {...props} label="Backends and weights" hasWeights />,
    }),
    description(),
    metadata(),
  ],
  facts: (row) => [
    ['Shares', <Names key="members" ids={Object.keys(row.backends)} note={shareOf(row)} />],
    ...standardFacts(row),
  ],
};

export const failoverBackends: Resource<'FailoverBackendsList'> = {
  ...backendParts,
  errors,
  list: 'FailoverBackendsList',
  listPath: '/backends?kind=failover',
  noun: ['failover backend', 'failover backends'],
  icon: 'list',
  filterHint: 'Description or id',
  whenEmpty: ['No failover backends', 'A failover backend sends traffic to the first of others that can be reached.'],
  Rows: ({ render }) => (
    <BackendRows
      head="Failover backend"
      target={failoverText}
      columns={failoverColumns}
      search={search}
      render={render}
    />
  ),
  nameOf: (row) => nameWith(row.description, failoverText(row)),
  fields: [
    field<FailoverBackend, readonly Member[]>({
      name: 'backends',
      start: [noMember],
      from: ({ backends }) => backends.map((id) => ({ id, weight: '' })),
      toBody: (members) => ({ backends: members.map(({ id }) => id).filter((id) => id !== '') }),
      Input: (props) => <MembersField {...props} label="Backends, in order" />,
    }),
    description(),
    metadata(),
  ],
  facts: (row) => [
    ['In order', <Names key="members" ids={row.backends} />],
    ['Serves now', <Serving key="serving" id={row.id} />],
    ...standardFacts(row),
  ],
};
