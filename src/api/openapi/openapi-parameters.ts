import type { FilterFields } from '../filter/fields.ts';
import { filterLimit } from '../filter/read-filter.ts';
import { newIdHeader } from '../new-id.ts';
import type { Operation } from '../operation.ts';
import { filterName } from '../http/query.ts';

type Json = Readonly<Record<string, unknown>>;

export const headerParameters = {
  ServiceVersion: {
    name: 'Service-Version',
    in: 'header',
    required: true,
    schema: { type: 'string', const: '2', default: '2' },
    description: 'The version of the interface.',
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    schema: { type: 'string' },
    description: 'The ETag of an earlier answer: the change is made only if the resource is still the same.',
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    description:
      'Any text that is new for each creation: a call that the same User or Bot repeats with it within 24 hours creates nothing more.',
  },
  AllowLockout: {
    name: 'Gatehouse-Allow-Lockout',
    in: 'header',
    schema: { type: 'string', const: 'true' },
    description: 'The change is made even if it locks the caller out.',
  },
  NewId: {
    name: newIdHeader,
    in: 'header',
    schema: { type: 'string' },
    description:
      'For admins: the id that the new resource gets, such as the one it had on another server. If it is taken, another one is made.',
  },
} as const satisfies Readonly<Record<string, Json>>;

export function parametersOf(operation: Operation): readonly Json[] {
  const { path, listedPrefix, filterFields, filters = [], query = [], accepts = [] } = operation;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
    description: describeParameter(name),
  }));
  const inHeader = ['ServiceVersion', ...accepts].map((name) => ({ $ref: `#/components/parameters/${name}` }));
  const ofFilters = filters.map((name) => ({
    name,
    in: 'query',
    schema: { type: 'string' },
    description: `Only entries with this ${name}.`,
  }));
  const inQuery = query.map(({ name, description, schema }) => ({ name, in: 'query', schema, description }));
  const filter = filterFields === undefined ? [] : [filterParameter(filterFields)];
  const ofList = [...pageParameters, ...filter, ...ofFilters, ...inQuery];
  return [...inPath, ...inHeader, ...(listedPrefix === undefined ? [...inQuery, ...filter] : ofList)];
}

function filterParameter(fields: FilterFields): Json {
  return {
    name: filterName,
    in: 'query',
    schema: { type: 'string', maxLength: filterLimit },
    description:
      'Only entries that pass this expression, a subset of CEL in which `obj` is the entry, such as ' +
      '`obj.created_at > timestamp("2026-01-31T00:00:00Z")`. It may name these fields: ' +
      `${Object.keys(fields).join(', ')}.`,
  };
}

function describeParameter(name: string): string {
  if (name === 'id') return 'Id of the resource.';
  return name === 'ip' ? 'An IPv4 or IPv6 address.' : `Id of the ${name.replace('_id', '')}.`;
}

const pageParameters: readonly Json[] = [
  {
    name: 'limit',
    in: 'query',
    schema: { type: 'integer', minimum: 1, maximum: 100, default: 100 },
    description: 'How many entries a page holds at most.',
  },
  {
    name: 'before_id',
    in: 'query',
    schema: { type: 'string' },
    description: 'Only entries created before the one with this id; it need not exist any more.',
  },
];
