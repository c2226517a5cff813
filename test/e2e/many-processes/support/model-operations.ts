import fc from 'fast-check';

import { kinds } from './model-kinds.ts';
import type { Choice } from './model.ts';

export interface Operation {
  readonly verb:
    | 'create'
    | 'update'
    | 'delete'
    | 'read'
    | 'list'
    | 'putModule'
    | 'readModule'
    | 'deleteModule'
    | 'useKey';
  readonly kind: string;
  /** Number of the process. */
  readonly via: number;
  /** Index in the list of all resources of that kind that exist or existed. */
  readonly at: number;
  readonly match: 'none' | 'current' | 'any' | 'wrong';
  readonly key: 'none' | 'fresh' | 'again' | 'other';
  readonly choice: Choice;
}

const kindNames = Object.keys(kinds);
const place = fc.nat({ max: 7 });

const details = {
  via: fc.nat({ max: 1 }),
  at: place,
  match: fc.constantFrom('none', 'none', 'current', 'any', 'wrong'),
  key: fc.constantFrom('none', 'fresh', 'again', 'other'),
  choice: fc.record({
    text: fc.option(fc.constantFrom('', 'a', 'b', 'é🏠'), { nil: undefined }),
    flag: fc.option(fc.boolean(), { nil: undefined }),
    one: place,
    few: fc.array(place, { maxLength: 3 }),
  }),
} as const;

function verb(name: Operation['verb'], among: readonly string[]): fc.Arbitrary<Operation> {
  return fc.record({ verb: fc.constant(name), kind: fc.constantFrom(...among), ...details });
}

export const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 6, arbitrary: verb('create', kindNames) },
  { weight: 4, arbitrary: verb('update', kindNames) },
  { weight: 2, arbitrary: verb('delete', kindNames) },
  { weight: 3, arbitrary: verb('read', kindNames) },
  { weight: 1, arbitrary: verb('list', kindNames) },
  { weight: 3, arbitrary: verb('putModule', ['edge']) },
  { weight: 1, arbitrary: verb('readModule', ['edge']) },
  { weight: 1, arbitrary: verb('deleteModule', ['edge']) },
  { weight: 2, arbitrary: verb('useKey', ['key']) },
);
