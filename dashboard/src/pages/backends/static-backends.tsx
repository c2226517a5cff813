import type { StaticBackend } from '../../../../client/src/index.ts';
import { Check } from '../../components/field.tsx';
import type { Column } from '../../components/table.tsx';
import { textHas } from '../../lib/filter.ts';
import type { Resource } from '../../resource/describe.ts';
import { description, field, metadata, text } from '../../resource/fields.tsx';
import { standardFacts } from '../../resource/page.tsx';
import { backendParts, BackendRows, nameWith } from './backend-parts.tsx';

const addressOf = ({ address }: StaticBackend): string => address;
const search = { searchFilter: textHas('description', 'address', 'id') };

const columns: readonly Column<StaticBackend>[] = [
  {
    id: 'address',
    head: 'Address',
    width: '34%',
    priority: 'p1',
    sortBy: addressOf,
    cell: ({ address }) => <code className="main">{address}</code>,
  },
  {
    id: 'tls',
    head: 'Spoken to',
    priority: 'p2',
    sortBy: ({ tls }) => (tls.enabled ? 0 : 1),
    cell: ({ tls }) => (tls.enabled ? 'over TLS' : <span className="muted">in plain</span>),
  },
];

export const staticBackends: Resource<'StaticBackendsList'> = {
  ...backendParts,
  list: 'StaticBackendsList',
  noun: ['backend', 'backends'],
  icon: 'server',
  filterHint: 'Description, address or id',
  whenEmpty: [
    'No static backends',
    'A static backend is an address that the gateway connects to, such as app.internal:8080.',
  ],
  Rows: ({ render }) => (
    <BackendRows head="Backend" target={addressOf} columns={columns} search={search} render={render} />
  ),
  nameOf: (row) => nameWith(row.description, row.address),
  fields: [
    text('address', {
      label: 'Address',
      mono: true,
      placeholder: 'app.internal:8080',
      hint: 'As host:port. An IPv6 address stands in brackets.',
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
    description(),
    metadata(),
  ],
  facts: (row) => [
    ['Address', <code key="address">{row.address}</code>],
    ['Spoken to', row.tls.enabled ? 'over TLS' : 'in plain'],
    ...standardFacts(row),
  ],
};
