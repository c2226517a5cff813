import type { StaticBackend } from '../../../../client/src/index.ts';
import { Check } from '../../components/field.tsx';
import type { Column } from '../../components/table.tsx';
import { textHas } from '../../lib/filter.ts';
import type { Resource } from '../../resource/describe.ts';
import { description, field, metadata } from '../../resource/fields.tsx';
import { standardFacts } from '../../resource/page.tsx';
import { HostportText } from '../../parts/hostports.tsx';
import { AddressesField } from './addresses-field.tsx';
import type { AddressLine } from './addresses-field.tsx';
import { WatchedPanels } from './addresses-panel.tsx';
import { backendParts, BackendRows, isWatched, nameWith } from './backend-parts.tsx';
import { watchFacts } from './watch-facts.ts';
import { bodyOf, watchOf, WatchField } from './watch-field.tsx';
import type { Watch } from './watch-field.tsx';

const addressOf = ({ address }: StaticBackend): string => address;

function targetOf({ address, addresses = [] }: StaticBackend): string {
  return `${address}${moreOf(addresses)}`;
}

function moreOf(addresses: readonly unknown[]): string {
  return addresses.length < 2 ? '' : ` and ${addresses.length - 1} more`;
}

const search = { searchFilter: textHas('description', 'address', 'id') };

const columns: readonly Column<StaticBackend>[] = [
  {
    id: 'address',
    head: 'Address',
    width: '26%',
    priority: 'p1',
    sortBy: addressOf,
    cell: (row) => <code className="main">{targetOf(row)}</code>,
  },
  {
    id: 'tls',
    head: 'Connection',
    priority: 'p3',
    sortBy: ({ tls }) => (tls.enabled ? 0 : 1),
    cell: ({ tls }) => (tls.enabled ? 'over TLS' : <span className="muted">without TLS</span>),
  },
];

export const staticBackends: Resource<'StaticBackendsList'> = {
  ...backendParts,
  Body: (shown) => (
    <>
      {isWatched(shown.document) ? <WatchedPanels backend={shown.document} /> : null}
      <backendParts.Body {...shown} />
    </>
  ),
  list: 'StaticBackendsList',
  noun: ['backend', 'backends'],
  icon: 'server',
  filterHint: 'Description, address or id',
  whenEmpty: [
    'No static backends',
    'A static backend is an address that the gateway connects to, such as app.internal:8080.',
  ],
  Rows: ({ render }) => (
    <BackendRows head="Backend" target={targetOf} columns={columns} search={search} render={render} />
  ),
  nameOf: (row) => nameWith(row.description, targetOf(row)),
  fields: [
    field<StaticBackend, readonly AddressLine[]>({
      name: 'address',
      start: [{ address: '', weight: '1' }],
      from: ({ address, addresses = [{ address, weight: 1 }] }) =>
        addresses.map((each) => ({ address: each.address, weight: String(each.weight) })),
      toBody: (lines, form) => {
        const given = lines
          .filter(({ address }) => address.trim() !== '')
          .map(({ address, weight }) => ({ address: address.trim(), weight: Number(weight) }));
        if (given.length > 1) return { addresses: given };
        const alone = { address: given[0]?.address ?? '' };
        return form === 'create' ? alone : { ...alone, addresses: [] };
      },
      Input: AddressesField,
    }),
    field<StaticBackend, boolean>({
      name: 'tls',
      start: false,
      from: ({ tls }) => tls.enabled,
      toBody: (enabled) => ({ tls: { enabled } }),
      Input: ({ value, onChange }) => (
        <Check isOn={value} onChange={onChange}>
          It speaks TLS
        </Check>
      ),
    }),
    field<StaticBackend, Watch>({
      name: 'watch',
      form: 'edit',
      start: watchOf({}),
      from: watchOf,
      toBody: bodyOf,
      Input: WatchField,
    }),
    description(),
    metadata(),
  ],
  facts: (row) => [
    [
      'Address',
      <span key="address">
        <HostportText text={row.address} />
        {moreOf(row.addresses ?? [])}
      </span>,
    ],
    ['Connection', row.tls.enabled ? 'over TLS' : 'without TLS'],
    ...(isWatched(row) ? watchFacts(row) : []),
    ...standardFacts(row),
  ],
};
