import { hash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { deserialize, serialize } from 'node:v8';

import type { CertificatePair } from '../local-ca.ts';

/** The head of the file: facts beside its entries, written with each update. */
export interface FileHead {
  /** Of the process that wrote it, a random text: what changes may follow only to what is its own. */
  readonly writer: string;
  readonly version: number;
  readonly mark?: number;
  /** The database that it was made of. */
  readonly database: string;
  /** The installation's certificate authority, its key sealed; undefined in a file that no process starts from. */
  readonly localCa?: CertificatePair;
}

interface StoredHead extends FileHead {
  /** The sums of all entries together: an entry that is missing, or of another version, is noticed. */
  readonly total: Uint8Array;
}

/** "Gate" in ASCII: other programs can tell what the file is. */
const applicationId = 0x47617465;
/** Counts up with each form that older programs cannot read. */
const formatVersion = 4;
const sumBytes = 16;

export const noSum: Uint8Array = new Uint8Array(sumBytes);

/** The file is not one of this form, or not whole. */
export class DamagedFileError extends Error {
  override readonly name = 'DamagedFileError';

  constructor(path: string, options?: ErrorOptions) {
    super(`${path} is damaged or of another version; delete it once the database is back`, options);
  }
}

export function createTables(database: DatabaseSync): void {
  database.exec(`
    PRAGMA application_id = ${applicationId};
    PRAGMA user_version = ${formatVersion};
    CREATE TABLE head (bytes BLOB NOT NULL, sum BLOB NOT NULL);
    CREATE TABLE entries (kind TEXT NOT NULL, id TEXT NOT NULL, sum BLOB NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (kind, id));
  `);
}

/** Throws for a file of another form. */
export function checkFormat(database: DatabaseSync): void {
  const { application_id: application } = database.prepare('PRAGMA application_id').get() ?? {};
  const { user_version: version } = database.prepare('PRAGMA user_version').get() ?? {};
  if (application !== applicationId || version !== formatVersion) throw new Error('it has another form');
}

export function sumOf(bytes: Uint8Array): Uint8Array {
  return hash('sha256', bytes, 'buffer').subarray(0, sumBytes);
}

/** Adds a sum to those of others, or takes it out again. */
export function addSum(total: Uint8Array, sum: Uint8Array): void {
  for (let at = 0; at < sumBytes; at++) total[at] = (total[at] ?? 0) ^ (sum[at] ?? 0);
}

export function isSameSum(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}

/** Undefined in a file that nothing has been written to. Throws where it is damaged. */
export function readHead(database: DatabaseSync): StoredHead | undefined {
  const row = database.prepare('SELECT bytes, sum FROM head').get();
  if (row === undefined) return undefined;
  const { bytes, sum } = row;
  if (!(bytes instanceof Uint8Array && sum instanceof Uint8Array && isSameSum(sumOf(bytes), sum)))
    throw new Error('its head has another sum');
  // Only `writeHead` makes bytes with this sum.
  return deserialize(bytes) as StoredHead;
}

export function writeHead(database: DatabaseSync, head: StoredHead): void {
  const bytes = serialize(head);
  database.exec('DELETE FROM head');
  database.prepare('INSERT INTO head VALUES (?, ?)').run(bytes, sumOf(bytes));
}
