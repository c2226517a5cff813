import { unwatchFile, watchFile } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';

import { BoundedCache } from '../lib/bounded-cache.ts';
import type { IpAddress } from '../lib/ip/address.ts';
import type { MmdbMap } from '../lib/mmdb/decode.ts';
import { Mmdb } from '../lib/mmdb/mmdb.ts';

const lookMs = 2_000;
const largest = 1_073_741_824;

interface PlacesLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** What this process knows of places: rules of all policies ask the same database. */
let inUse: Places | undefined;

/** True: the operator has named a database of places. */
export function knowsPlaces(): boolean {
  return inUse !== undefined;
}

/** What the database says of an address; undefined: nothing. */
export function placeOf(address: IpAddress): MmdbMap | undefined {
  return inUse?.find(address);
}

/** From now on rules ask this database. Disposing of it ends that. */
export function usePlaces(places: Places): Disposable {
  inUse = places;
  return {
    [Symbol.dispose]() {
      places[Symbol.dispose]();
      inUse = undefined;
    },
  };
}

/** A file with places of addresses, which is read again whenever it changes. */
export class Places implements Disposable {
  readonly #path: string;
  readonly #log: PlacesLog;
  #database: Mmdb | undefined;
  /** Records that were read last. */
  #known = new BoundedCache<string, MmdbMap | 'nothing'>(1_000);
  #reading: Promise<void> = Promise.resolve();

  /** Throws if it cannot be read. */
  static async open(path: string, log: PlacesLog): Promise<Places> {
    const places = new Places(path, log);
    const fault = await places.#read();
    if (fault !== undefined)
      throw new Error(
        `--geo-database ${JSON.stringify(path)} cannot be used: ${fault}. Name a file in the MaxMind DB format`,
      );
    watchFile(path, { interval: lookMs, persistent: false }, places.#changed);
    return places;
  }

  private constructor(path: string, log: PlacesLog) {
    this.#path = path;
    this.#log = log;
  }

  find(address: IpAddress): MmdbMap | undefined {
    const { family, word0, word1, word2, word3 } = address;
    const key = `${family} ${word0} ${word1} ${word2} ${word3}`;
    const known = this.#known.get(key) ?? this.#look(address);
    this.#known.set(key, known);
    return known === 'nothing' ? undefined : known;
  }

  #look(address: IpAddress): MmdbMap | 'nothing' {
    try {
      return this.#database?.find(address) ?? 'nothing';
    } catch {
      // A record of a broken file: the place is unknown, and rules that guard refuse.
      return 'nothing';
    }
  }

  /** Returns what is wrong with the file; the one before then stays. */
  async #read(): Promise<string | undefined> {
    try {
      const { size } = await stat(this.#path);
      if (size > largest) return 'it is larger than 1 GiB';
      const database = new Mmdb(await readFile(this.#path));
      if (!/city|country|enterprise/i.test(database.type))
        return `it is a database of the type ${JSON.stringify(database.type)}, which tells no countries or cities`;
      this.#database = database;
      this.#known = new BoundedCache(1_000);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  // Bound, because the watcher is ended by it.
  readonly #changed = (): void => {
    this.#reading = this.#reading.then(async () => {
      const fault = await this.#read();
      const file = { file: this.#path };
      if (fault === undefined) this.#log.info(file, 'the database of places was read again');
      else this.#log.warn({ ...file, fault }, 'the database of places cannot be read: the one before stays in use');
    });
  };

  [Symbol.dispose](): void {
    unwatchFile(this.#path, this.#changed);
  }
}
