import type { Queries } from '../../store/database.ts';
import { alertKindOf } from '../alerts/service.ts';
import type { AlertKind } from '../alerts/service.ts';
import { eventSubscriptions } from './table.ts';

/** Kinds of alerts to which somebody subscribes, by account. A subscription without a destination tells nobody. */
export async function readWatched(queries: Queries): Promise<ReadonlyMap<string, ReadonlySet<AlertKind>>> {
  const watched = new Map<string, ReadonlySet<AlertKind>>();
  for (const { account_id, sources, destination_ids } of await eventSubscriptions.loadMany(queries, undefined)) {
    if (destination_ids.length === 0) continue;
    const kinds = new Set(sources.map(alertKindOf).filter((kind) => kind !== undefined));
    if (kinds.size > 0) watched.set(account_id, new Set([...(watched.get(account_id) ?? []), ...kinds]));
  }
  return watched;
}
