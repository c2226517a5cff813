import { createKeySealer } from '../lib/sealed-secret.ts';
import { keyOf } from './contract.ts';
import type { SnapshotUpdate } from './contract.ts';
import { readSnapshot } from './file/reader.ts';
import type { SnapshotSource } from './snapshot-file.ts';

/**
 * The whole snapshot in force. The file may be of an older version, or of a newer one that was on its way there: whatever differs is in what
 * goes beyond it.
 */
export async function readSource({ file, beyond }: SnapshotSource): Promise<SnapshotUpdate> {
  if (file === undefined) return { ...beyond, removed: [] };
  const read = await readSnapshot(file.path, createKeySealer(file.key));
  if (read?.head.writer !== file.writer) throw new Error(`${file.path} was written by another process`);
  const replaced = new Set([...beyond.set, ...beyond.removed].map(keyOf));
  const set = [...read.entries.filter((entry) => !replaced.has(keyOf(entry))), ...beyond.set];
  return { ...beyond, full: true, set, removed: [] };
}
