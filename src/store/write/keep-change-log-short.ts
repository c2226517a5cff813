import { toTimestamp } from '../../lib/ids.ts';
import { pruneChanges } from './change-log.ts';
import type { Store } from '../store.ts';

const pruneEveryMs = 3_600_000;
const dayMs = 86_400_000;

/** Deletes changes that are older than so many days, now and every hour. */
export function keepChangeLogShort(
  store: Pick<Store, 'writeUnlogged'>,
  days: number,
  log: { error(fields: object, message: string): void },
): AsyncDisposable {
  const stopped = new AbortController();
  let pruning = Promise.resolve();
  const prune = async () => {
    const before = toTimestamp(Date.now() - days * dayMs);
    try {
      // Many short transactions, so that no other write waits for all of it.
      while (!stopped.signal.aborted && (await store.writeUnlogged((notes) => pruneChanges(notes, before))) > 0);
    } catch (error) {
      log.error({ err: error }, 'old changes could not be deleted');
    }
  };
  const pruneNext = () => {
    pruning = pruning.then(prune);
  };
  pruneNext();
  const timer = setInterval(pruneNext, pruneEveryMs).unref();
  return {
    async [Symbol.asyncDispose]() {
      stopped.abort();
      clearInterval(timer);
      await pruning;
    },
  };
}
