import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DatabaseSync } from 'node:sqlite';
import { deserialize } from 'node:v8';

import { Pace } from '../../lib/pace.ts';
import type { Sealer } from '../../lib/sealed-secret.ts';
import type { SnapshotEntry } from '../contract.ts';
import { mapSecrets } from '../entry-secrets.ts';
import { addSum, checkFormat, DamagedFileError, isSameSum, noSum, readHead, sumOf } from './format.ts';
import type { FileHead } from './format.ts';

/** The content of a snapshot file, at one version. */
export interface ReadSnapshot {
  readonly head: FileHead;
  readonly entries: readonly SnapshotEntry[];
}

/** Undefined where there is no snapshot. Throws for a file that is damaged, and for secrets that do not open. */
export async function readSnapshot(path: string, sealer: Sealer): Promise<ReadSnapshot | undefined> {
  if (!isThere(path)) return undefined;
  using source = whole(path, () => openToRead(path));
  const { database } = source;
  // One version, whatever is written meanwhile.
  database.exec('BEGIN');
  const head = whole(path, () => {
    checkFormat(database);
    return readHead(database);
  });
  if (head === undefined) return undefined;
  const { total, ...rest } = head;
  const sums = noSum.slice();
  const entries: SnapshotEntry[] = [];
  const pace = new Pace();
  const rows = whole(path, () => database.prepare('SELECT kind, id, sum, bytes FROM entries ORDER BY rowid').iterate());
  for (;;) {
    const next = whole(path, () => rows.next());
    if (next.done === true) break;
    const { kind, id, sum, bytes } = next.value;
    const isGood = bytes instanceof Uint8Array && sum instanceof Uint8Array && isSameSum(sum, sumOf(bytes));
    if (!isGood) throw new DamagedFileError(path);
    // Only the writer makes bytes with the right sum.
    const entry = mapSecrets(deserialize(bytes) as SnapshotEntry, (text, context) => sealer.open(text, context));
    if (entry.kind !== kind || entry.id !== id) throw new DamagedFileError(path);
    addSum(sums, sum);
    entries.push(entry);
    if (pace.isDue) await pace.giveWay();
  }
  if (!isSameSum(sums, total)) throw new DamagedFileError(path);
  return { head: rest, entries };
}

interface OpenedToRead extends Disposable {
  readonly database: DatabaseSync;
}

/** SQLite makes files beside the one that it reads: where it may not, a copy is read. */
function openToRead(path: string): OpenedToRead {
  try {
    const database = openReadOnly(path);
    return { database, [Symbol.dispose]: () => database.close() };
  } catch (error) {
    if (!(error instanceof Error && 'errcode' in error && unwritable.has(Number(error.errcode) & 0xff))) throw error;
  }
  // Without a log, the file is all there is.
  if (!isThere(`${path}-wal`)) {
    const database = openReadOnly(new URL(`${pathToFileURL(path).href}?immutable=1`));
    return { database, [Symbol.dispose]: () => database.close() };
  }
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-snapshot-'));
  const copy = join(folder, 'copy');
  for (const end of ['', '-wal']) copyFileSync(`${path}${end}`, `${copy}${end}`);
  const database = openReadOnly(copy);
  return {
    database,
    [Symbol.dispose]: () => {
      database.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Codes of SQLite: it may not write, the disk fails or is full, it cannot open a file. */
const unwritable: ReadonlySet<number> = new Set([8, 10, 13, 14]);

/** Opens it as far as reading needs it. */
function openReadOnly(path: string | URL): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    database.prepare('PRAGMA user_version').get();
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** What SQLite says of a file that is no database, or torn, is said in our words. */
function whole<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const isOfDisk = error instanceof Error && 'errcode' in error && unwritable.has(Number(error.errcode) & 0xff);
    if (isOfDisk) throw error;
    throw new DamagedFileError(path, { cause: error });
  }
}

function isThere(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}
