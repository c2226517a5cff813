import type { Queries, Value } from '../../store/database.ts';
import { rowsOf } from '../../store/rows-of.ts';

/** Progress of the events of a destination, as callers see it. */
export interface ShownState {
  readonly status: 'unused' | 'ok' | 'failing';
  readonly sent_at: string | null;
  readonly failing_since: string | null;
  readonly retries_at: string | null;
  readonly last_error: string | null;
  readonly undelivered: number;
  readonly lost: number;
}

/** By destination; those that no subscription names are left out. */
export async function readStates(queries: Queries, ids: readonly string[]): Promise<ReadonlyMap<string, ShownState>> {
  const rows = await rowsOf(
    queries,
    ids,
    (
      places,
    ) => `SELECT destination_id, MAX(failures), MAX(sent_at), MIN(failing_since), MIN(retries_at), MAX(error), SUM(lost)
      FROM event_deliveries WHERE destination_id IN (${places}) GROUP BY destination_id`,
  );
  const counts = await rowsOf(
    queries,
    ids,
    (places) => `SELECT destination_id, COUNT(*) FROM undelivered_events
      WHERE destination_id IN (${places}) GROUP BY destination_id`,
  );
  const undelivered = new Map(counts.map(([id, count]) => [String(id), Number(count)]));
  return new Map(
    rows.map(([id, failures, sentAt, failingSince, retriesAt, error, lost]) => [
      String(id),
      {
        status: Number(failures) > 0 ? 'failing' : 'ok',
        sent_at: textOf(sentAt),
        failing_since: textOf(failingSince),
        retries_at: textOf(retriesAt),
        last_error: textOf(error),
        undelivered: undelivered.get(String(id)) ?? 0,
        lost: Number(lost),
      },
    ]),
  );
}

function textOf(value: Value | undefined): string | null {
  return typeof value === 'string' ? value : null;
}
