import type { HttpResponseBackend } from '../../../../client/src/index.ts';
import { TextField } from '../../components/field.tsx';
import type { Column } from '../../components/table.tsx';
import { answerText } from '../../parts/backends.ts';
import type { Resource } from '../../resource/describe.ts';
import { description, field, metadata, pairs, text } from '../../resource/fields.tsx';
import { standardFacts } from '../../resource/page.tsx';
import { backendParts, BackendRows, nameWith } from './backend-parts.tsx';

const search = {
  searchText: (row: HttpResponseBackend) => `${row.description ?? ''} ${row.status_code} ${row.body} ${row.id}`,
};

const columns: readonly Column<HttpResponseBackend>[] = [
  {
    id: 'status',
    head: 'Status',
    priority: 'p1',
    sortBy: ({ status_code }) => status_code,
    cell: ({ status_code }) => <code className="main">{status_code}</code>,
  },
  { id: 'body', head: 'Body', width: '34%', priority: 'p2', cell: ({ body }) => body.slice(0, 80) },
];

export const httpResponses: Resource<'HttpResponseBackendsList'> = {
  ...backendParts,
  list: 'HttpResponseBackendsList',
  listPath: '/backends?kind=http_response',
  noun: ['fixed answer', 'fixed answers'],
  icon: 'paste',
  filterHint: 'Description, status, body or id',
  whenEmpty: ['No fixed answers', 'This backend gives every request a fixed answer, such as a maintenance page.'],
  Rows: ({ render }) => (
    <BackendRows head="Fixed answer" target={answerText} columns={columns} search={search} render={render} />
  ),
  nameOf: (row) => nameWith(row.description, answerText(row)),
  fields: [
    field<HttpResponseBackend, string>({
      name: 'status_code',
      start: '200',
      from: ({ status_code }) => String(status_code),
      toBody: (value) => ({ status_code: Number(value) }),
      Input: ({ value, onChange, error }) => (
        <TextField
          label="Status"
          type="number"
          value={value}
          onChange={onChange}
          error={error}
          hint="From 200 to 599."
        />
      ),
    }),
    pairs('headers', {
      label: 'Headers',
      note: 'without a content-type, the body is plain text',
      nouns: ['Header name', 'Header value'],
      addWords: 'Add header',
    }),
    text('body', { label: 'Body', note: 'optional', mono: true, rows: 6, limitBytes: 65_536 }),
    description(),
    metadata(),
  ],
  facts: (row) => [
    ['Status', <code key="status">{row.status_code}</code>],
    ['Headers', <code key="headers">{Object.keys(row.headers).join(', ')}</code>],
    ['Body', <code key="body">{row.body.slice(0, 200)}</code>],
    ...standardFacts(row),
  ],
};
