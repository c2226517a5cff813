import { chunks } from '../../lib/chunks.ts';
import type { Change } from './change-log.ts';
import type { Connection } from '../database.ts';

/** Items whose statements travel together. */
const itemsAtOnce = 64;

/** Does the work of a transaction for each item; `changes` are those that the transaction has recorded. */
export async function forEachItem<Item>(
  connection: Connection,
  changes: Change[],
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  if (!connection.isRemote || items.length === 1) {
    for (const item of items) await work(item);
    return;
  }
  for (const some of chunks(items, itemsAtOnce)) {
    if (await isDoneTogether(connection, changes, some, work)) continue;
    // One of them has a fault, and two that want the same meet another one together than one after the other.
    for (const item of some) await work(item);
  }
}

/** False where one of them has failed: then none of them has happened. */
async function isDoneTogether<Item>(
  connection: Connection,
  changes: Change[],
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<boolean> {
  const recorded = changes.length;
  await connection.script('SAVEPOINT items');
  // All of them have ended before anything is undone.
  const ends = await Promise.allSettled(items.map(work));
  if (ends.every(({ status }) => status === 'fulfilled')) {
    await connection.script('RELEASE items');
    return true;
  }
  await connection.script('ROLLBACK TO items; RELEASE items');
  changes.length = recorded;
  return false;
}
