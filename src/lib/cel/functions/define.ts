import { addTo } from '../../lists-by-key.ts';
import type { Overload, Work } from '../environment.ts';
import type { Type } from '../types.ts';
import type { Value } from '../values.ts';

type ValuesOf<Types extends readonly Type[]> = {
  readonly [Place in keyof Types]: Types[Place] extends Type<infer Of> ? Of : never;
};

/** A function by its name, with one of its forms. */
export type Definition = readonly [name: string, overload: Overload<unknown>];

type Facts = Partial<Pick<Overload<unknown>, 'check' | 'size' | 'ofTexts' | 'prepare' | 'isTotal'>>;

function define<const Types extends readonly Type[]>(
  isMethod: boolean,
  name: string,
  parameters: Types,
  result: Overload<unknown>['result'],
  run: (values: ValuesOf<Types>, work: Work<unknown>) => Value,
  facts: Facts,
): Definition {
  // Arguments are of the types of the parameters whenever it is called.
  return [name, { isMethod, parameters, result, run, ...facts }];
}

/** A function such as `size(x)`. */
export function plainFunction<const Types extends readonly Type[]>(
  name: string,
  parameters: Types,
  result: Overload<unknown>['result'],
  run: (values: ValuesOf<Types>, work: Work<unknown>) => Value,
  facts: Facts = {},
): Definition {
  return define(false, name, parameters, result, run, facts);
}

/** A function such as `x.size()`; the first parameter is what it is called on. */
export function method<const Types extends readonly Type[]>(
  name: string,
  parameters: Types,
  result: Overload<unknown>['result'],
  run: (values: ValuesOf<Types>, work: Work<unknown>) => Value,
  facts: Facts = {},
): Definition {
  return define(true, name, parameters, result, run, facts);
}

/** The same under both forms. */
export function both<const Types extends readonly Type[]>(
  plain: string,
  called: string,
  parameters: Types,
  result: Overload<unknown>['result'],
  run: (values: ValuesOf<Types>, work: Work<unknown>) => Value,
  facts: Facts = {},
): readonly Definition[] {
  return [plainFunction(plain, parameters, result, run, facts), method(called, parameters, result, run, facts)];
}

/** All forms of each function, by its name. */
export function functionTable(definitions: readonly Definition[]): ReadonlyMap<string, readonly Overload<unknown>[]> {
  const table = new Map<string, Overload<unknown>[]>();
  for (const [name, overload] of definitions) addTo(table, name, overload);
  return table;
}
