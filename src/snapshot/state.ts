import { keyOf } from './contract.ts';
import type { SnapshotEntry, SnapshotUpdate } from './contract.ts';

/** The whole snapshot in force, kept to initialise new workers and to write the snapshot file. */
export class SnapshotState {
  readonly #entries = new Map<string, SnapshotEntry>();
  #version = 0;
  #mark: number | undefined;

  get version(): number {
    return this.#version;
  }

  follow({ version, mark, full, set, removed }: SnapshotUpdate): void {
    if (full) this.#entries.clear();
    for (const entry of set) this.#entries.set(keyOf(entry), entry);
    for (const key of removed) this.#entries.delete(keyOf(key));
    this.#version = version;
    this.#mark = mark;
  }

  asUpdate(): SnapshotUpdate {
    const mark = this.#mark === undefined ? {} : { mark: this.#mark };
    return { version: this.#version, ...mark, full: true, set: [...this.#entries.values()], removed: [] };
  }
}
