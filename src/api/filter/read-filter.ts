import { quote, UserError } from '../../errors/user-error.ts';
import { parseExpression } from '../../lib/cel/parse.ts';
import { ExpressionFault } from '../../lib/cel/syntax-fault.ts';
import { lookupsOf } from '../../store/search/condition.ts';
import type { Condition } from '../../store/search/condition.ts';
import { badFilter, filterLookups, filterTooLong } from '../errors.ts';
import { toCondition } from './to-condition.ts';
import type { FilterFields } from './fields.ts';

/** Characters of a filter: enough for a hundred ids. */
export const filterLimit = 4_096;

/** Comparisons with lists and maps in one filter: an edge may have a thousand hostports, and each comparison reads them all. */
const lookupLimit = 32;

/** Reads the query parameter `filter` of a list; undefined where none was given. */
export function readFilter(text: string | undefined, fields: FilterFields): Condition | undefined {
  // Official clients send "" for what was not given.
  if (text === undefined || text === '') return undefined;
  if (text.length > filterLimit) throw new UserError(filterTooLong, { length: text.length, limit: filterLimit });
  const condition = toCheckedCondition(text, fields);
  const lookups = lookupsOf(condition);
  if (lookups > lookupLimit) throw new UserError(filterLookups, { count: lookups, limit: lookupLimit });
  return condition;
}

function toCheckedCondition(text: string, fields: FilterFields): Condition {
  try {
    return toCondition(parseExpression(text), fields);
  } catch (error) {
    if (!(error instanceof ExpressionFault)) throw error;
    throw new UserError(badFilter, { filter: quote(text), at: error.at, reason: error.message });
  }
}
