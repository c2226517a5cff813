import type { Sealer } from '../lib/sealed-secret.ts';
import { serviceListKey } from './services.ts';
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
}

/** Provided by every resource that keeps private keys. */
export const storedSecrets = serviceListKey<StoredSecrets>('stored secrets');

const noKey =
  'secret_key is not set: private keys are stored as plain text, in the database, its backups and the snapshot file. ' +
  'Set GATEHOUSE_SECRET_KEY to at least 32 random characters, the same everywhere.';

/**
 * Throws where the key of this process is not the one that secrets are encrypted with: it would write secrets that no
 * other process can open. Returns what to warn of, undefined if all is well.
 */
export async function checkStoredSecrets(
  services: Services,
  sealer: Sealer,
  hasKey: boolean,
): Promise<string | undefined> {
  let plain: StoredSecret | undefined;
  for (const secrets of services.all(storedSecrets)) {
    const encrypted = await secrets.oldest('encrypted');
    if (encrypted !== undefined) tryOpen(sealer, encrypted);
    plain ??= await secrets.oldest('plain');
  }
  if (!hasKey) return noKey;
  return plain === undefined
    ? undefined
    : `the private key of ${plain.owner} is stored as plain text: it was kept before secret_key was set. ` +
        'Upload such certificates again and delete the old ones; new keys are stored encrypted.';
}

function tryOpen(sealer: Sealer, { owner, sealed, context }: StoredSecret): void {
  try {
    sealer.open(sealed, context);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`the private key of ${owner} cannot be used: ${reason}`, { cause: error });
  }
}
