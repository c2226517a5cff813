import { isLong } from '../../support/long-form.ts';
import { decide, pick } from '../../support/sample.ts';
import { ways } from './fail-at-each.ts';
import type { Part, Way } from './fail-at-each.ts';
import { onlyReads, operationsOfEachModuleOnce } from './operations.ts';
import type { ApiOperation } from './operations.ts';

/** Commands to agents, which lead through the database and wait for seconds while it is away: one stands for all. */
const isOtherCommand = ({ id }: ApiOperation) => /^TunnelSessions(Restart|Stop)$/.test(id);

/**
 * Returns in which ways a statement of the operation fails; undefined if it is left out. The long form tries every way. The
 * usual one fails each statement that a write on SQLite has of its own in one of them, and each COMMIT without an effect,
 * one in four of them also with its answer lost. The other statements of the store are the same code for every write: those
 * of one in eight fail. On PostgreSQL, where a fault takes ten times as long, it takes one write in nine: the order of
 * statements is the same there, and what differs is the store's.
 */
export function waysFor(
  operation: ApiOperation,
  database: 'SQLite' | 'PostgreSQL',
): ((part: Part, statement: number) => readonly Way[]) | undefined {
  if (isLong) return () => ways;
  if (isOtherCommand(operation) || !operationsOfEachModuleOnce.includes(operation)) return undefined;
  const { id } = operation;
  const oneIn = onlyReads(operation) ? 18 : database === 'SQLite' ? 1 : 9;
  if (decide(oneIn, ['operations whose statements fail', database, id]) > 0) return undefined;
  const isStoreTried = database === 'PostgreSQL' || decide(8, ['statements of the store that fail', id]) === 0;
  const isAnswerLost = isStoreTried || decide(4, ['commits without an answer', database, id]) === 0;
  return (part, statement) => {
    const one = (of: readonly Way[]) =>
      pick(of, 1, ['way in which a statement fails', database, id, part, String(statement)]);
    if (part === 'own') return one(ways);
    if (part === 'store') return isStoreTried ? one(ways) : [];
    return [...one(lost), ...(isAnswerLost ? unanswered : [])];
  };
}

const lost = ways.filter(([fault]) => fault === 'lost');
const unanswered = ways.filter(([fault]) => fault === 'unanswered');
