import { quote, UserError } from '../errors/user-error.ts';
import { timeOfId } from '../lib/ids.ts';
import type { Transaction } from '../store/write/transaction.ts';
import type { Stored, Table } from '../store/table.ts';
import type { Call } from './call.ts';
import { adminOnly, invalidValue } from './errors.ts';

export const newIdHeader = 'Gatehouse-New-Id';
export const newIdErrors = [adminOnly, invalidValue] as const;

/** Ids say when something was made, and sort by it: one of the future would stay the newest. Clocks may differ by so much. */
const aheadMs = 60_000;

/**
 * The id that the caller chooses for a new resource, so that one which comes from another server keeps its own; undefined
 * where none is chosen, or where something has it, in whatever account.
 */
export async function acceptNewId<Document extends Stored>(
  transaction: Transaction,
  table: Table<Document>,
  { chosenId, caller }: Call,
): Promise<string | undefined> {
  if (chosenId === undefined) return undefined;
  if (caller.principal.role !== 'admin') throw new UserError(adminOnly, { action: 'choose the id of a new resource' });
  const time = table.mayHave(chosenId) ? timeOfId(chosenId) : undefined;
  if (time === undefined || time > Date.now() + aheadMs) {
    const reason = `is ${quote(chosenId)}, where ${table.prefix}_ and 27 letters and digits belong, made before now`;
    throw new UserError(invalidValue, { field: quote(newIdHeader), reason });
  }
  return (await table.load(transaction, chosenId)) === undefined ? chosenId : undefined;
}
