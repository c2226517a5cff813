import { isLong } from '../../support/long-form.ts';
import { decide, pick } from '../../support/sample.ts';
import { ways } from './fail-at-each.ts';
import type { Way } from './fail-at-each.ts';
import { onlyReads } from './operations.ts';
import type { ApiOperation } from './operations.ts';

/** Commands to agents, which lead through the database and wait for seconds while it is away: one stands for all. */
const isOtherCommand = ({ id }: ApiOperation) => /^TunnelSessions(Restart|Stop)$/.test(id);

/**
 * Returns in which ways a statement of the operation fails; undefined if it is left out. The long form tries every way. The
 * usual one fails each statement of each write on SQLite in one of them; on PostgreSQL, where a fault takes ten times as
 * long, it takes one write in nine: the order of statements is the same there, and what differs is the store's.
 */
export function waysFor(
  operation: ApiOperation,
  database: 'SQLite' | 'PostgreSQL',
): ((statement: number) => readonly Way[]) | undefined {
  if (isLong) return () => ways;
  if (isOtherCommand(operation)) return undefined;
  const { id } = operation;
  const oneIn = onlyReads(operation) ? 18 : database === 'SQLite' ? 1 : 9;
  if (decide(oneIn, ['operations whose statements fail', database, id]) > 0) return undefined;
  return (statement) => pick(ways, 1, ['way in which a statement fails', database, id, String(statement)]);
}
