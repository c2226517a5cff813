import { deserialize, serialize } from 'node:v8';

import { Pace } from '../lib/pace.ts';
import type { Sealer } from '../lib/sealed-secret.ts';
import { keyOf } from './contract.ts';
import type { EntryKey, SnapshotEntry, SnapshotUpdate } from './contract.ts';
import { mapSecrets } from './entry-secrets.ts';

/** Some entries as the file keeps them: their bytes one after another, with the end of each. One without any is gone. */
export interface PackedEntries {
  /** As `keyOf` writes them, a list in JSON: one text goes to a thread faster than many. */
  readonly keys: string;
  readonly ends: readonly number[];
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const packedBytes = 256 * 1024;
const packedCount = 1_000;

function packEntry(entry: SnapshotEntry, sealer: Sealer): Buffer {
  return serialize(mapSecrets(entry, (text, context) => sealer.seal(text, context)));
}

/** Only `packEntry` makes bytes with the right sum. */
export function unpackEntry(bytes: Uint8Array, sealer: Sealer): SnapshotEntry {
  return mapSecrets(deserialize(bytes) as SnapshotEntry, (text, context) => sealer.open(text, context));
}

/** Entries of a pack, one after another; one without bytes is gone. */
export function* readPack({ keys, ends, bytes }: PackedEntries): Generator<EntryKey & { readonly bytes: Uint8Array }> {
  let start = 0;
  // Only `packUpdate` writes them.
  for (const [at, key] of (JSON.parse(keys) as readonly string[]).entries()) {
    const end = ends[at] ?? start;
    const space = key.indexOf(' ');
    const kind = key.slice(0, space) as EntryKey['kind'];
    yield { kind, id: key.slice(space + 1), bytes: bytes.subarray(start, end) };
    start = end;
  }
}

/** Packs what an update sets and removes, in slices. At least one pack, which may be empty. */
export async function* packUpdate({ set, removed }: SnapshotUpdate, sealer: Sealer): AsyncGenerator<PackedEntries> {
  const pace = new Pace();
  let keys: string[] = [];
  let parts: Uint8Array[] = [];
  let bytes = 0;
  const add = (key: EntryKey, part: Uint8Array): boolean => {
    keys.push(keyOf(key));
    parts.push(part);
    bytes += part.length;
    return bytes >= packedBytes || keys.length >= packedCount;
  };
  const take = (): PackedEntries => {
    const taken = joined(keys, parts, bytes);
    [keys, parts, bytes] = [[], [], 0];
    return taken;
  };
  for (const entry of set) {
    const isFull = add(entry, packEntry(entry, sealer));
    if (pace.isDue) await pace.giveWay();
    if (isFull) yield take();
  }
  for (const key of removed) {
    const isFull = add(key, nothing);
    if (pace.isDue) await pace.giveWay();
    if (isFull) yield take();
  }
  yield take();
}

const nothing = new Uint8Array();

function joined(keys: readonly string[], parts: readonly Uint8Array[], length: number): PackedEntries {
  // Memory of its own, which can be handed to a thread.
  const bytes = new Uint8Array(length);
  const ends: number[] = [];
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
    ends.push(at);
  }
  return { keys: JSON.stringify(keys), ends, bytes };
}
