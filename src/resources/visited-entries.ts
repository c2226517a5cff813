import type { SnapshotEntry } from '../snapshot/contract.ts';
import type { Queries } from '../store/database.ts';
import type { Stored, Table } from '../store/table.ts';
import type { Past } from './configuration-kind.ts';
import { serviceListKey } from './services.ts';

/** Loads one edge or endpoint as gateways have it, now and as it was. */
export interface VisitedEntries {
  readonly prefix: string;
  /** Kinds in the change log that an entry is made of; undefined: the log does not have them. */
  readonly changeKinds: readonly string[] | undefined;
  /** Without a past, as it is now. Undefined: there is none. */
  load(queries: Queries, accountId: string, id: string, past?: Past): Promise<SnapshotEntry | undefined>;
}

export const visitedEntries = serviceListKey<VisitedEntries>('entries that are visited');

/** A document of the account as it is, or was. */
export async function documentAt<Document extends Stored>(
  table: Table<Document>,
  queries: Queries,
  accountId: string,
  id: string,
  past: Past | undefined,
): Promise<Document | undefined> {
  const then = past?.changed(table.kind).get(id);
  // Documents of this kind are of the table.
  if (then !== undefined) return table.complete(then as Document);
  const today = await table.find(queries, accountId, id);
  if (today === undefined || past === undefined) return today;
  return (await past.unchanged([today]))[0];
}
