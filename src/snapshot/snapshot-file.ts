import { randomBytes } from 'node:crypto';

import type { Sealer } from '../lib/sealed-secret.ts';
import { Turns } from '../lib/turns.ts';
import type { SnapshotUpdate } from './contract.ts';
import type { FileHead } from './file/format.ts';
import { readSnapshot } from './file/reader.ts';
import { WritingThread } from './file/writing.ts';
import type { CertificatePair } from './local-ca.ts';
import { lastingPart, Observations } from './observations.ts';
import { WaitingUpdates } from './waiting-updates.ts';

/** The state that lets a gateway start without its database. */
export interface SavedSnapshot {
  readonly update: SnapshotUpdate;
  /** The installation's certificate authority. */
  readonly localCa: CertificatePair;
}

/** Where a process of the same gateway finds the snapshot in force: in the file, and what that does not have. */
export interface SnapshotSource {
  /** Undefined: `beyond` is everything. */
  readonly file: { readonly path: string; readonly key: Uint8Array | undefined; readonly writer: string } | undefined;
  readonly beyond: SnapshotUpdate;
}

interface SnapshotFileOptions {
  /** False for a file that no process starts from. */
  readonly isKept?: boolean;
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
  readonly #isKept: boolean;
  readonly #thread: WritingThread;
  #writer = randomBytes(12).toString('base64url');
  #localCa: CertificatePair | undefined;
  #loaded: SnapshotUpdate | undefined;
  #last: Pick<SnapshotUpdate, 'version' | 'mark'> = { version: 0 };
  /** What the file does not have yet: the update that is being written, those that wait for it, and what never comes there. */
  #underWay: SnapshotUpdate | undefined;
  readonly #waiting = new WaitingUpdates();
  readonly #observations = new Observations();
  #timer: NodeJS.Timeout | undefined;
  #retryMs = retryMs;
  readonly #writes = new Turns();

  /** `database` says which database the configuration comes from; a file of another one is refused. */
  constructor(
    path: string,
    sealer: Sealer,
    database: string,
    onFault: (error: unknown) => void,
    { isKept = true }: SnapshotFileOptions = {},
  ) {
    this.#path = path;
    this.#database = database;
    this.#sealer = sealer;
    this.#onFault = onFault;
    this.#isKept = isKept;
    this.#thread = new WritingThread(path, sealer);
  }

  /** Undefined where there is no snapshot. Throws for one that is damaged or cannot be opened. */
  async load(): Promise<SavedSnapshot | undefined> {
    const read = await readSnapshot(this.#path, this.#sealer);
    if (read?.head.localCa === undefined) return undefined;
    const { version, mark, database, localCa, writer } = read.head;
    if (database !== this.#database) {
      throw new Error(
        `the database cannot be reached, and ${this.#path} holds the configuration of another one (${database}), which is ` +
          'not served. Name a file of its own with --snapshot-file, or delete this one.',
      );
    }
    const update = { version, ...(mark !== undefined && { mark }), full: true, set: read.entries, removed: [] };
    const opened = { ...localCa, privateKeyPem: this.#sealer.open(localCa.privateKeyPem, 'local_ca') };
    this.#loaded = update;
    this.#writer = writer;
    this.#localCa ??= opened;
    return { update, localCa: opened };
  }

  setLocalCa(localCa: CertificatePair): void {
    this.#localCa = localCa;
  }

  /** Takes an update that is in force. */
  follow(update: SnapshotUpdate): void {
    this.#observations.follow(update);
    const { version, mark } = update;
    this.#last = { version, ...(mark !== undefined && { mark }) };
    // The file has it.
    if (update === this.#loaded) return;
    this.#waiting.add(lastingPart(update));
    this.#writeAfter(writeAfterMs);
  }

  /** Where the snapshot in force is now. */
  source(): SnapshotSource {
    const waiting = this.#waiting.all(this.#underWay) ?? { full: false, set: [], removed: [] };
    const beyond = this.#observations.addTo({ ...waiting, ...this.#last });
    const file = { path: this.#path, key: this.#sealer.key, writer: this.#writer };
    return { file: beyond.full ? undefined : file, beyond };
  }

  /** Writes what the file does not have yet. Rejects where it cannot be written. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.#writes.run(() => this.#write());
  }

  /** Makes sure that the file is in its place, and has all that is in force as far as the disk takes it. */
  async confirm(): Promise<void> {
    try {
      this.#waiting.add({ ...this.#last, full: false, set: [], removed: [] });
      await this.flush();
    } catch (error) {
      this.#onFault(error);
    }
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
    if (this.#isKept && this.#localCa === undefined) return;
    for (let update = this.#waiting.take(); update !== undefined; update = this.#waiting.take()) {
      this.#underWay = update;
      try {
        await this.#thread.write(update, this.#headOf(update));
        this.#retryMs = retryMs;
      } catch (error) {
        this.#waiting.putBack(update);
        this.#writeAfter(this.#retryMs);
        this.#retryMs = Math.min(2 * this.#retryMs, longestRetryMs);
        throw error;
      } finally {
        this.#underWay = undefined;
      }
    }
  }

  #headOf({ version, mark }: SnapshotUpdate): FileHead {
    const localCa = this.#localCa;
    return {
      writer: this.#writer,
      version,
      ...(mark !== undefined && { mark }),
      database: this.#database,
      ...(localCa && {
        localCa: {
          certificatePem: localCa.certificatePem,
          privateKeyPem: this.#sealer.seal(localCa.privateKeyPem, 'local_ca'),
        },
      }),
    };
  }
}
