import { Pace } from '../lib/pace.ts';
import type { Sealer } from '../lib/sealed-secret.ts';
import type { EntryKey, SnapshotEntry, SnapshotUpdate } from './contract.ts';
import { mapSecrets } from './entry-secrets.ts';

/** Some of what an update sets and removes, with sealed secrets. */
export interface UpdatePart {
  readonly set: readonly SnapshotEntry[];
  readonly removed: readonly EntryKey[];
}

/** Some tenths of a millisecond to send; some milliseconds where all are policies of a thousand rules. */
const entriesOfPart = 100;
const keysOfPart = 1_000;

/** At least one part, which may be empty. Gives way between them. */
export async function* partsOf({ set, removed }: SnapshotUpdate, sealer: Sealer): AsyncGenerator<UpdatePart> {
  const pace = new Pace();
  const seal = (text: string, context: string): string => sealer.seal(text, context);
  for (let at = 0; at < set.length; at += entriesOfPart) {
    if (pace.isDue) await pace.giveWay();
    yield { set: set.slice(at, at + entriesOfPart).map((entry) => mapSecrets(entry, seal)), removed: [] };
  }
  for (let at = 0; at < removed.length; at += keysOfPart) {
    if (pace.isDue) await pace.giveWay();
    yield { set: [], removed: removed.slice(at, at + keysOfPart).map(({ kind, id }) => ({ kind, id })) };
  }
  if (set.length === 0 && removed.length === 0) yield { set, removed };
}
