import type pg from 'pg';

import type { Value } from '../database.ts';

type Statement = pg.QueryArrayConfig<Value[]>;
/** Makes what the driver takes of a text and its parameters. */
export type MakeStatement = (sql: string, parameters: readonly Value[], searcher?: string) => Statement;

const names = new Map<string, string>();

/** A named statement is parsed and planned once in each connection. */
export const named: MakeStatement = (sql, parameters, searcher) => {
  if (searcher !== undefined) return unnamed(sql, parameters);
  let name = names.get(sql);
  if (name === undefined) {
    name = `s${names.size}`;
    names.set(sql, name);
  }
  return { name, text: sql, values: [...parameters], rowMode: 'array' };
};

/** Behind a pooler the next transaction may be on another connection, which does not know the name. */
export const unnamed: MakeStatement = (sql, parameters) => ({ text: sql, values: [...parameters], rowMode: 'array' });
