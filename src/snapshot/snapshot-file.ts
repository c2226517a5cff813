import { createHash, hash, randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { deserialize, serialize } from 'node:v8';

import type { Sealer } from '../lib/sealed-secret.ts';
import { nextTurn } from '../lib/next-turn.ts';
import { Turns } from '../lib/turns.ts';
import type { HttpsEdgeEntry, SnapshotEntry, SnapshotUpdate } from './contract.ts';
import type { CertificatePair } from './local-ca.ts';
import { SnapshotState } from './state.ts';

/** The state that lets a gateway start without its database. */
export interface SavedSnapshot {
  readonly update: SnapshotUpdate;
  /** The installation's certificate authority. */
  readonly localCa: CertificatePair;
  /** The database that it was made of; files of older versions do not say. */
  readonly database?: string;
}

/** Delay in which further updates join a write. */
const writeAfterMs = 1_000;
/** A large snapshot that changes all the time takes one part in so many of a processor. */
const restFactor = 20;
/** Some tenths of a millisecond; some milliseconds where all are policies of a thousand rules. */
const entriesInTurn = 100;
const lengthBytes = 4;
/** Blocks of bytes, each behind its length: the snapshot without its entries, then these. */
const blockFormat = 'gatehouse-snapshot-3';
/** The former format: one value. */
const valueFormat = 'gatehouse-snapshot-2';

/** The last snapshot in force, in a file that is written whole or not at all and has a checksum. */
export class SnapshotFile {
  readonly #path: string;
  readonly #sealer: Sealer;
  readonly #onFault: (error: unknown) => void;
  readonly #database: string;
  readonly #state = new SnapshotState();
  #localCa: CertificatePair | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** `performance.now()` until which the last write has been paid for. */
  #restsUntil = 0;
  #busyMs = 0;
  readonly #writes = new Turns();

  /** `database` says which database the configuration comes from; a file of another one is refused. */
  constructor(path: string, sealer: Sealer, database: string, onFault: (error: unknown) => void) {
    this.#path = path;
    this.#database = database;
    this.#sealer = sealer;
    this.#onFault = onFault;
  }

  /** Undefined where there is no file. Throws for one that is damaged or cannot be opened. */
  async load(): Promise<SavedSnapshot | undefined> {
    const bytes = await readFile(this.#path).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (bytes === undefined) return undefined;
    const lineEnd = bytes.indexOf('\n');
    const payload = bytes.subarray(lineEnd + 1);
    const [format = '', sum] = bytes.subarray(0, lineEnd).toString().split(' ');
    if (![blockFormat, valueFormat].includes(format) || sum !== hash('sha256', payload)) {
      throw new Error(`${this.#path} is damaged or of another version; delete it once the database is back`);
    }
    // Only `#write` makes a payload with this checksum.
    const { update, localCa, database } =
      format === blockFormat ? readBlocks(payload) : (deserialize(payload) as SavedSnapshot);
    const saved = {
      update: {
        ...update,
        set: update.set.map((entry) => this.#mapSecrets(entry, (text, id) => this.#sealer.open(text, id))),
      },
      localCa: { ...localCa, privateKeyPem: this.#sealer.open(localCa.privateKeyPem, 'local_ca') },
    };
    if (database !== undefined && database !== this.#database) {
      throw new Error(
        `the database cannot be reached, and ${this.#path} holds the configuration of another one (${database}), which is ` +
          'not served. Name a file of its own with --snapshot-file, or delete this one.',
      );
    }
    return saved;
  }

  setLocalCa(localCa: CertificatePair): void {
    this.#localCa = localCa;
  }

  follow(update: SnapshotUpdate): void {
    this.#state.follow(update);
    this.#timer ??= setTimeout(
      () => {
        this.flush().catch(this.#onFault);
      },
      Math.max(writeAfterMs, this.#restsUntil - performance.now()),
    ).unref();
  }

  /** Writes the updates since the last write now. */
  flush(): Promise<void> {
    if (this.#timer === undefined) return this.#writes.settled();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.#writes.run(() => this.#write());
  }

  /** Goes on in many turns: traffic and the API must not wait for a hundred thousand entries. */
  async #write(): Promise<void> {
    if (this.#localCa === undefined) return;
    // The next write will take as long as the last one did.
    this.#restsUntil = performance.now() + restFactor * this.#busyMs;
    const { set, ...rest } = this.#state.asUpdate();
    const { certificatePem, privateKeyPem } = this.#localCa;
    const withoutEntries: SavedSnapshot = {
      update: { ...rest, set: [] },
      localCa: { certificatePem, privateKeyPem: this.#sealer.seal(privateKeyPem, 'local_ca') },
      database: this.#database,
    };
    const blocks = [toBlock(withoutEntries)];
    const digest = createHash('sha256').update(blocks[0] ?? '');
    let busyMs = 0;
    for (let at = 0; at < set.length; at += entriesInTurn) {
      const beganMs = performance.now();
      const entries = set.slice(at, at + entriesInTurn).flatMap(withoutObserved);
      const block = toBlock(entries.map((entry) => this.#mapSecrets(entry, (text, id) => this.#sealer.seal(text, id))));
      digest.update(block);
      blocks.push(block);
      busyMs += performance.now() - beganMs;
      await nextTurn();
    }
    await writeAtomically(this.#path, [Buffer.from(`${blockFormat} ${digest.digest('hex')}\n`), ...blocks]);
    this.#busyMs = busyMs;
    this.#restsUntil = performance.now() + restFactor * busyMs;
  }

  /** Seals or opens private keys, the secrets of clients and those in vaults, the only secrets in a snapshot. */
  #mapSecrets(entry: SnapshotEntry, change: ChangeSecret): SnapshotEntry {
    if (entry.kind === 'certificate') return { ...entry, privateKeyPem: change(entry.privateKeyPem, entry.id) };
    if (entry.kind === 'visitor_key') {
      const { id, secret, privateJwk } = entry;
      return {
        ...entry,
        secret: change(secret, `visitor_key ${id}`),
        privateJwk: change(privateJwk, `visitor_jwk ${id}`),
      };
    }
    if (entry.kind === 'vault_secret') return { ...entry, value: change(entry.value, `vault_secret ${entry.id}`) };
    return entry.kind === 'https_edge' ? mapClientSecrets(entry, change) : entry;
  }
}

type ChangeSecret = (text: string, context: string) => string;

function mapClientSecrets(entry: HttpsEdgeEntry, change: ChangeSecret): HttpsEdgeEntry {
  if (!entry.routes.some(({ modules }) => Object.values(modules).some(hasClientSecret))) return entry;
  const routes = entry.routes.map((route) => ({
    ...route,
    modules: Object.fromEntries(
      Object.entries(route.modules).map(([name, settings]) => [
        name,
        hasClientSecret(settings)
          ? { ...settings, client_secret: change(settings.client_secret, `${route.id} ${name}`) }
          : settings,
      ]),
    ),
  }));
  return { ...entry, routes };
}

function hasClientSecret(settings: unknown): settings is { readonly client_secret: string } {
  return (
    typeof settings === 'object' &&
    settings !== null &&
    'client_secret' in settings &&
    typeof settings.client_secret === 'string'
  );
}

/** Tunnels are gone after a restart; a backend that was configured stays, and has none until agents are back. */
function withoutObserved(entry: SnapshotEntry): readonly SnapshotEntry[] {
  if ('observed' in entry && entry.observed) return [];
  return [entry.kind === 'tunnel_backend' ? { ...entry, tunnels: [] } : entry];
}

function toBlock(value: unknown): Buffer {
  const bytes = serialize(value);
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32LE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** Only `#write` makes blocks with the right checksum. */
function readBlocks(payload: Buffer): SavedSnapshot {
  const values: unknown[] = [];
  for (let at = 0; at < payload.length;) {
    const end = at + lengthBytes + payload.readUInt32LE(at);
    values.push(deserialize(payload.subarray(at + lengthBytes, end)));
    at = end;
  }
  const [saved, ...entries] = values as [SavedSnapshot, ...SnapshotEntry[][]];
  return { ...saved, update: { ...saved.update, set: entries.flat() } };
}

/** Writes another file, syncs it, then renames it: a crash leaves the old or the new file. */
async function writeAtomically(path: string, parts: readonly Uint8Array[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // A random name, because another gateway may have been given the same path.
  const beside = `${path}.${randomBytes(6).toString('hex')}.partial`;
  try {
    await using file = await open(beside, 'wx', 0o600);
    await file.writeFile(parts);
    await file.sync();
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
  await using folder = await open(dirname(path), 'r');
  await folder.sync();
}
