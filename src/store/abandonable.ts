import { AbandonedError } from '../lib/pace.ts';
import type { Queries } from './database.ts';

/** Queries for somebody who may leave: once that has happened, no further statement begins. */
export function abandonable(queries: Queries, isAbandoned: () => boolean): Queries {
  return {
    all: async (sql, parameters, searcher) => {
      if (isAbandoned()) throw new AbandonedError('nobody waits for it any more');
      return queries.all(sql, parameters, searcher);
    },
  };
}
