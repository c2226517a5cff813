import type { Operation } from './operation.ts';

type Json = Readonly<Record<string, unknown>>;

export const headerParameters = {
  ServiceVersion: {
    name: 'Service-Version',
    in: 'header',
    required: true,
    schema: { type: 'string', const: '2' },
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
} as const satisfies Readonly<Record<string, Json>>;

export function parametersOf({ path, listedPrefix, filters = [], accepts = [] }: Operation): readonly Json[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
    description: name === 'id' ? 'Id of the resource.' : `Id of the ${name.replace('_id', '')}.`,
  }));
  const inHeader = ['ServiceVersion', ...accepts].map((name) => ({ $ref: `#/components/parameters/${name}` }));
  const ofFilters = filters.map((name) => ({
    name,
    in: 'query',
    schema: { type: 'string' },
    description: `Only entries with this ${name}.`,
  }));
  return [...inPath, ...inHeader, ...(listedPrefix === undefined ? [] : [...pageParameters, ...ofFilters])];
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
