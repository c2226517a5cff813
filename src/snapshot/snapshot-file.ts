import { randomBytes } from 'node:crypto';

import type { Sealer } from '../lib/sealed-secret.ts';
import { Turns } from '../lib/turns.ts';
import type { SnapshotEntry, SnapshotUpdate } from './contract.ts';
import type { FileHead } from './file/format.ts';
import { readSnapshot } from './file/reader.ts';
import { WritingThread } from './file/writing.ts';
import type { CertificatePair } from './local-ca.ts';
import { WaitingUpdates } from './waiting-updates.ts';

/** The state that lets a gateway start without its database. */
export interface SavedSnapshot {
  readonly update: SnapshotUpdate;
  /** The installation's certificate authority. */
  readonly localCa: CertificatePair;
}

/** Delay in which further updates join a write. */
const writeAfterMs = 100;
/** Pause after a write that has failed; it doubles with each further one. */
const retryMs = 1_000;
const longestRetryMs = 30_000;

/**
 * The last snapshot in force, in a file of SQLite. Each update is written in one transaction by a thread of its own, a moment
 * after it came in force. What the disk does not take is kept, and tried again.
 */
export class SnapshotFile implements AsyncDisposable {
  readonly #path: string;
  readonly #sealer: Sealer;
  readonly #onFault: (error: unknown) => void;
  readonly #database: string;
  readonly #writer = randomBytes(12).toString('base64url');
  readonly #thread: WritingThread;
  #localCa: CertificatePair | undefined;
  /** What the file does not have yet. */
  readonly #pending = new WaitingUpdates();
  #timer: NodeJS.Timeout | undefined;
  #retryMs = retryMs;
  readonly #writes = new Turns();

  /** `database` says which database the configuration comes from; a file of another one is refused. */
  constructor(path: string, sealer: Sealer, database: string, onFault: (error: unknown) => void) {
    this.#path = path;
    this.#database = database;
    this.#sealer = sealer;
    this.#onFault = onFault;
    this.#thread = new WritingThread(path, sealer);
  }

  /** Undefined where there is no snapshot. Throws for one that is damaged or cannot be opened. */
  async load(): Promise<SavedSnapshot | undefined> {
    const read = await readSnapshot(this.#path, this.#sealer);
    if (read === undefined) return undefined;
    const { version, mark, database, localCa } = read.head;
    if (database !== this.#database) {
      throw new Error(
        `the database cannot be reached, and ${this.#path} holds the configuration of another one (${database}), which is ` +
          'not served. Name a file of its own with --snapshot-file, or delete this one.',
      );
    }
    return {
      update: { version, ...(mark !== undefined && { mark }), full: true, set: read.entries, removed: [] },
      localCa: { ...localCa, privateKeyPem: this.#sealer.open(localCa.privateKeyPem, 'local_ca') },
    };
  }

  setLocalCa(localCa: CertificatePair): void {
    this.#localCa = localCa;
  }

  follow(update: SnapshotUpdate): void {
    this.#pending.add(lasting(update));
    this.#writeAfter(writeAfterMs);
  }

  /** Writes what the file does not have yet. Rejects where it cannot be written. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.#writes.run(() => this.#write());
  }

  /** Writes what is left, and closes the file. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.flush().catch(this.#onFault);
    clearTimeout(this.#timer);
    await this.#thread[Symbol.asyncDispose]().catch(this.#onFault);
  }

  #writeAfter(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.flush().catch(this.#onFault);
    }, ms).unref();
  }

  async #write(): Promise<void> {
    const localCa = this.#localCa;
    if (localCa === undefined) return;
    for (let update = this.#pending.take(); update !== undefined; update = this.#pending.take()) {
      try {
        await this.#thread.write(update, this.#headOf(update, localCa));
        this.#retryMs = retryMs;
      } catch (error) {
        this.#pending.putBack(update);
        this.#writeAfter(this.#retryMs);
        this.#retryMs = Math.min(2 * this.#retryMs, longestRetryMs);
        throw error;
      }
    }
  }

  #headOf({ version, mark }: SnapshotUpdate, { certificatePem, privateKeyPem }: CertificatePair): FileHead {
    return {
      writer: this.#writer,
      version,
      ...(mark !== undefined && { mark }),
      database: this.#database,
      localCa: { certificatePem, privateKeyPem: this.#sealer.seal(privateKeyPem, 'local_ca') },
    };
  }
}

/** Tunnels are gone after a restart; a backend that was configured stays, and has none until agents are back. */
function lasting(update: SnapshotUpdate): SnapshotUpdate {
  if (!update.set.some((entry) => entry.kind === 'tunnel_backend' || isObserved(entry))) return update;
  const set = update.set
    .filter((entry) => !isObserved(entry))
    .map((entry) => (entry.kind === 'tunnel_backend' ? { ...entry, tunnels: [] } : entry));
  // One that lasted may have become one that does not.
  return { ...update, set, removed: [...update.removed, ...update.set.filter(isObserved)] };
}

function isObserved(entry: SnapshotEntry): boolean {
  return 'observed' in entry && entry.observed;
}
