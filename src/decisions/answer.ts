import type { DuckDBInstance } from '@duckdb/node-api';

import type { Answer, Asked, QueryLimits, QuestionKind } from './messages.ts';
import type { Parts } from './parts.ts';
import { readPage } from './read-parts.ts';
import { readSummary } from './read-summary.ts';
import { readTop } from './read-top.ts';
import { readVisitedEdges, readVisitors } from './read-visitors.ts';
import { readWithin } from './reading.ts';
import type { Reading } from './reading.ts';

/** Kinds that are read with summaries or pages; decisions behind a place are read otherwise. */
type ReadKind = Exclude<QuestionKind, 'after'>;
type Readers = {
  readonly [Kind in ReadKind]: (reading: Reading, parts: Parts, asked: Asked<Kind>) => Promise<Answer<Kind>>;
};

/** One reader for each kind of question. */
const readers: Readers = {
  list: readPage,
  summary: readSummary,
  top: readTop,
  edges: readVisitedEdges,
  visitors: readVisitors,
};

/** Answers a question from what the store has of the account, within bounds of time and work. */
export function answer<Kind extends ReadKind>(
  kind: Kind,
  asked: Asked<Kind>,
  instance: DuckDBInstance,
  parts: Parts,
  limits: Partial<QueryLimits> = {},
): Promise<Answer<Kind>> {
  return readWithin(instance, limits, (reading) => readers[kind](reading, parts, asked));
}
