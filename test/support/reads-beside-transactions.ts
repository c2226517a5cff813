import { AsyncLocalStorage } from 'node:async_hooks';

import type { Queries } from '../../src/store/database.ts';
import type { Store } from '../../src/store/store.ts';

/**
 * Makes reads fail that are asked for within a transaction, but beside it. They do not see what the transaction has
 * changed, and behind a pooler they need a second connection, which may never be free while the transaction lasts.
 */
export function refuseReadsBesideTransactions(store: Store): void {
  const transacting = new AsyncLocalStorage<true>();
  const queries: { all: Queries['all'] } = store.queries;
  const all = queries.all.bind(queries);
  queries.all = (sql, parameters, keep) => {
    if (transacting.getStore() === true) throw new Error(`it is read beside the transaction: ${sql}`);
    return all(sql, parameters, keep);
  };
  const { write, writeUnlogged, readSnapshot } = bound(store);
  store.write = (actor, work) => write(actor, (transaction) => transacting.run(true, () => work(transaction)));
  store.writeUnlogged = (work, accountId) =>
    writeUnlogged((writer) => transacting.run(true, () => work(writer)), accountId);
  store.readSnapshot = (work) => readSnapshot((snapshot) => transacting.run(true, () => work(snapshot)));
}

function bound(store: Store): Pick<Store, 'write' | 'writeUnlogged' | 'readSnapshot'> {
  return {
    write: store.write.bind(store),
    writeUnlogged: store.writeUnlogged.bind(store),
    readSnapshot: store.readSnapshot.bind(store),
  };
}
