import { plainPrefix } from '../lib/sealed-secret.ts';
import type { Sealer } from '../lib/sealed-secret.ts';
import type { ResourceContext } from './resource.ts';
import { serviceListKey } from './services.ts';
import type { Notice } from './start-notices.ts';
import type { Services } from './services.ts';

/** A private key as it is stored. */
export interface StoredSecret {
  /** The thing it belongs to, in words, such as `the TLS certificate cert_…`. */
  readonly owner: string;
  readonly sealed: string;
  /** The context that it was sealed for. */
  readonly context: string;
}

/** The private keys that one resource stores. */
export interface StoredSecrets {
  /** The oldest that is encrypted, or that is not; undefined where there is none. */
  oldest(form: 'encrypted' | 'plain'): Promise<StoredSecret | undefined>;
  /** Encrypts those that are not, and answers their number. */
  sealPlain(): Promise<number>;
}

/** Provided by every resource that keeps private keys. */
export const storedSecrets = serviceListKey<StoredSecrets>('stored secrets');

const noKey =
  'secret_key is not set: private keys are stored as plain text, in the database, its backups and the snapshot file. ' +
  'Set GATEHOUSE_SECRET_KEY to at least 32 random characters, the same everywhere.';

/**
 * Throws where the key of this process is not the one that secrets are encrypted with: it would write secrets that no
 * other process can open. With the right key, secrets that were stored before there was one are encrypted.
 */
export async function checkStoredSecrets(
  services: Services,
  sealer: Sealer,
  hasKey: boolean,
): Promise<Notice | undefined> {
  const all = services.all(storedSecrets);
  for (const secrets of all) {
    const encrypted = await secrets.oldest('encrypted');
    if (encrypted !== undefined) tryOpen(sealer, encrypted);
  }
  if (!hasKey) return { level: 'warn', message: noKey };
  let count = 0;
  for (const secrets of all) count += await secrets.sealPlain();
  if (count === 0) return undefined;
  return {
    level: 'info',
    message:
      `secret_key is new: ${count} private ${count === 1 ? 'key that was' : 'keys that were'} stored as plain text ` +
      `${count === 1 ? 'is' : 'are'} encrypted now. Backups that were made before still hold plain text.`,
  };
}

interface SealedColumn {
  readonly table: string;
  readonly id: string;
  readonly column: string;
  /** The context that the secret of a row is sealed for. */
  readonly contextOf: (id: string) => string;
}

const batchSize = 50;

/**
 * Encrypts the secrets of a table that are plain text, a few in each transaction. Both forms can be read at any time, so that
 * a crash in the middle leaves nothing to repair, and several processes may do it at once.
 */
export async function sealPlainRows(
  { store, sealer }: Pick<ResourceContext, 'store' | 'sealer'>,
  { table, id, column, contextOf }: SealedColumn,
): Promise<number> {
  const find = `SELECT ${id}, ${column} FROM ${table} WHERE ${column} LIKE $1 ORDER BY ${id} LIMIT ${batchSize}`;
  const replace = `UPDATE ${table} SET ${column} = $1 WHERE ${id} = $2 AND ${column} = $3`;
  for (let total = 0; ;) {
    const sealed = await store.writeUnlogged(async (writer) => {
      const rows = await writer.all(find, [`${plainPrefix}%`]);
      for (const [key = null, value] of rows) {
        const [text, context] = [String(value), contextOf(String(key))];
        await writer.run(replace, [sealer.seal(sealer.open(text, context), context), key, text]);
      }
      return rows.length;
    });
    total += sealed;
    if (sealed < batchSize) return total;
  }
}

function tryOpen(sealer: Sealer, { owner, sealed, context }: StoredSecret): void {
  try {
    sealer.open(sealed, context);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`the private key of ${owner} cannot be used: ${reason}`, { cause: error });
  }
}
