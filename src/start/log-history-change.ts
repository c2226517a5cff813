import type { HistoryWatcher } from '../store/write/change-feed.ts';

interface HistoryLog {
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(message: string): void;
}

/** Lost changes that one line names. */
const loggedChanges = 100;

/** Tells the operator what a failover or a restore has taken away, in lines of a bounded length. */
export function logHistoryChange(log: HistoryLog): HistoryWatcher {
  return {
    changed({ seenVersion, version, lost }) {
      log.error(
        { seenVersion, version, lostChanges: lost.length, lost: lost.slice(0, loggedChanges) },
        'the database has another history than before, after a failover or a restore: everything is read again; ' +
          (lost.length > 0 ? 'the changes in "lost" were seen, and are gone' : 'what is gone is not known by name'),
      );
      for (let at = loggedChanges; at < lost.length; at += loggedChanges)
        log.error(
          { seenVersion, version, lost: lost.slice(at, at + loggedChanges) },
          'more changes that were seen, and are gone',
        );
    },
    rebuilt() {
      log.warn('everything was read again, and is in force');
    },
  };
}
