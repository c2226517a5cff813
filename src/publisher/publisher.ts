import { Pace } from '../lib/pace.ts';
import { keyOf } from '../snapshot/contract.ts';
import type { EntryKey, SnapshotEntry, SnapshotUpdate } from '../snapshot/contract.ts';
import type { Change } from '../store/write/change-log.ts';
import type { Queries } from '../store/database.ts';
import type { Store } from '../store/store.ts';
import type { Compiler } from './compiler.ts';

/** Puts an update of the snapshot in force, whole or not at all. */
export type Target = (update: SnapshotUpdate) => Promise<void>;

interface PublisherOptions {
  readonly store: Store;
  readonly compilers: readonly Compiler[];
  readonly targets: readonly Target[];
  /** Called when a target failed: it stays with its last good snapshot, and its next update includes this one. */
  readonly onFault: (error: unknown, version: number) => void;
  /** Called when the version is in force at every target. */
  readonly onPublished?: (version: number, durationMs: number) => void;
}

/**
 * Follows the change log: recompiles the entries that a change affects and hands them to the targets before the write is
 * answered. The change feed calls its followers one at a time, so that updates never overlap.
 */
export class Publisher {
  readonly #options: PublisherOptions;
  readonly #targets: readonly TargetState[];
  #version = 0;

  private constructor(options: PublisherOptions) {
    this.#options = options;
    this.#targets = options.targets.map((target) => new TargetState(target));
  }

  /** Publishes everything, then follows. */
  static async start(options: PublisherOptions): Promise<Publisher> {
    const publisher = new Publisher(options);
    await options.store.followFromStart({
      changed: (changes, version) => publisher.#publish(changes, version),
      reset: (version) => publisher.#publishAll(version),
    });
    return publisher;
  }

  /** The newest version that is in force at every target. */
  get version(): number {
    return this.#version;
  }

  /** A target could not take the newest update. */
  get lagging(): boolean {
    return this.#targets.some((target) => target.isBehind);
  }

  async #publishAll(version: number): Promise<void> {
    const { store, compilers } = this.#options;
    const startMs = performance.now();
    // A write that is committed meanwhile comes again, as a change, and finds the same or newer entries.
    const set = await store.readSnapshot((queries) => loadAll(compilers, queries));
    await this.#send({ version, full: true, set, removed: [] }, startMs);
  }

  async #publish(changes: readonly Change[], version: number): Promise<void> {
    const startMs = performance.now();
    const set: SnapshotEntry[] = [];
    const removed: EntryKey[] = [];
    const affected = await affectedIds(this.#options.compilers, changes);
    for (const [compiler, ids] of affected) {
      const entries = await compiler.load(this.#options.store.queries, [...ids], { changes, version });
      const present = new Set(entries.map(({ id }) => id));
      for (const entry of entries) set.push(entry);
      for (const id of ids) if (!present.has(id)) removed.push({ kind: compiler.kind, id });
    }
    await this.#send({ version, full: false, set, removed }, startMs);
  }

  async #send(update: SnapshotUpdate, startMs: number): Promise<void> {
    const results = await Promise.allSettled(this.#targets.map((target) => target.take(update)));
    const faults = results.filter((result) => result.status === 'rejected');
    for (const { reason } of faults) this.#options.onFault(reason, update.version);
    if (faults.length > 0) return;
    this.#version = update.version;
    this.#options.onPublished?.(update.version, performance.now() - startMs);
  }
}

/** A target, and the updates that it could not take yet. */
class TargetState {
  readonly #target: Target;
  #pending: SnapshotUpdate | undefined;

  constructor(target: Target) {
    this.#target = target;
  }

  get isBehind(): boolean {
    return this.#pending !== undefined;
  }

  async take(update: SnapshotUpdate): Promise<void> {
    const merged = this.#pending === undefined ? update : merge(this.#pending, update);
    this.#pending = merged;
    await this.#target(merged);
    this.#pending = undefined;
  }
}

function merge(earlier: SnapshotUpdate, later: SnapshotUpdate): SnapshotUpdate {
  if (later.full) return later;
  const superseded = new Set([...later.set, ...later.removed].map(keyOf));
  const stays = (key: EntryKey) => !superseded.has(keyOf(key));
  return {
    version: later.version,
    full: earlier.full,
    set: [...earlier.set.filter(stays), ...later.set],
    removed: [...earlier.removed.filter(stays), ...later.removed],
  };
}

/** Ids of the entries that changes affect, by their compilers. One write may have changed very many resources. */
async function affectedIds(
  compilers: readonly Compiler[],
  changes: readonly Change[],
): Promise<ReadonlyMap<Compiler, ReadonlySet<string>>> {
  const affected = new Map<Compiler, Set<string>>();
  const pace = new Pace();
  for (const compiler of compilers) {
    const ids = new Set<string>();
    for (const change of changes) {
      for (const id of compiler.affectedIds(change)) ids.add(id);
      if (pace.isDue) await pace.giveWay();
    }
    if (ids.size > 0) affected.set(compiler, ids);
  }
  return affected;
}

async function loadAll(compilers: readonly Compiler[], queries: Queries): Promise<readonly SnapshotEntry[]> {
  const entries: SnapshotEntry[] = [];
  for (const compiler of compilers) for (const entry of await compiler.load(queries, undefined)) entries.push(entry);
  return entries;
}
