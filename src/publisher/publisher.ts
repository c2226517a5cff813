import { setTimeout as sleep } from 'node:timers/promises';

import { Pace } from '../lib/pace.ts';
import { Turns } from '../lib/turns.ts';
import { keyOf } from '../snapshot/contract.ts';
import type { EntryKey, SnapshotEntry, SnapshotUpdate } from '../snapshot/contract.ts';
import type { Change } from '../store/write/change-log.ts';
import type { Queries } from '../store/database.ts';
import type { Store } from '../store/store.ts';
import type { Point } from '../store/write/history.ts';
import { AccountLine } from './account-line.ts';
import type { ChangeBatch, Compiler } from './compiler.ts';

/** Puts an update of the snapshot in force, whole or not at all. */
export type Target = (update: SnapshotUpdate) => Promise<void>;

/** An update that takes longer than this to be put in force is late. */
const lateAfterMs = 1_000;

/** A load of one account's entries that takes longer goes on in a line of its own. */
const lineAfterMs = 50;
/** Changes of one account that are loaded together with those of others. */
const fewChanges = 100;
/** Pause after a load that has failed. */
const retryMs = 500;
/** Entries that claim ports or names: one that came while another account still held its claim is loaded again. */
const claiming: ReadonlySet<SnapshotEntry['kind']> = new Set(['tcp_edge', 'tls_endpoint']);

interface PublisherOptions {
  readonly store: Store;
  readonly compilers: readonly Compiler[];
  readonly targets: readonly Target[];
  /** Called when changes could not be loaded or put in force: it is tried again, and the next update of a target includes this one. */
  readonly onFault: (error: unknown, version: number) => void;
  /** Called when the version is in force at every target. */
  readonly onPublished?: (version: number, durationMs: number) => void;
  readonly now?: () => number;
}

/** Entries of an update. */
type Entries = Pick<SnapshotUpdate, 'set' | 'removed'>;

/** Changes that are loaded together; `accountId`: all of one account, whose load may take long. */
interface Group {
  readonly accountId: string | undefined;
  readonly changes: readonly Change[];
}

/**
 * Follows the change log: recompiles the entries that a change affects and hands them to the targets before the write is
 * answered. The change feed calls its followers one at a time. Where loading takes long, as that of a large policy which
 * another process has written, the account gets a line of its own: its changes go on there, in their order, and those of
 * all others are not held up.
 */
export class Publisher implements AsyncDisposable {
  readonly #options: PublisherOptions;
  readonly #targets: readonly TargetState[];
  /** Updates are put in force one at a time. */
  readonly #sends = new Turns();
  readonly #lines = new Map<string, AccountLine>();
  readonly #running = new Set<Promise<void>>();
  /** Keys of entries with claims that came while there were lines. */
  readonly #overtook = new Map<string, EntryKey>();
  /** The newest point whose changes are in force or in a line. */
  #told: Point = { version: 0, mark: 0 };
  #inForce: Point = { version: 0, mark: 0 };

  private constructor(options: PublisherOptions) {
    this.#options = options;
    const { targets, now = () => performance.now() } = options;
    this.#targets = targets.map((target) => new TargetState(target, now));
  }

  /** Publishes everything, then follows. */
  static async start(options: PublisherOptions): Promise<Publisher> {
    const publisher = new Publisher(options);
    await options.store.followFromStart({
      changed: (changes, at) => publisher.#publish(changes, at),
      reset: (at) => publisher.#publishAll(at),
      settled: (accountIds) => publisher.#settled(accountIds),
    });
    return publisher;
  }

  /** The newest version that is in force at every target, with all versions before it. */
  get version(): number {
    return this.#inForce.version;
  }

  /** A target could not take the newest update, or takes long to, or a line fails. What is under way is no fault. */
  get lagging(): boolean {
    return this.#targets.some((target) => target.isBehind) || this.#lines.values().some((line) => line.isFailing);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closing = new Error('the process is being stopped');
    for (const line of this.#cancelLines()) line.end(closing);
    await Promise.all(this.#running);
  }

  async #publishAll(at: Point): Promise<void> {
    const { store, compilers } = this.#options;
    const startMs = performance.now();
    const cancelled = this.#cancelLines();
    try {
      // A write that is committed meanwhile comes again, as a change, and finds the same or newer entries.
      const set = await store.readSnapshot((queries) => loadAll(compilers, queries));
      await this.#sends.run(() => this.#put({ set, removed: [] }, at, startMs, { full: true }));
      for (const line of cancelled) line.end();
    } catch (error) {
      for (const line of cancelled) line.end(error);
      throw error;
    }
  }

  async #publish(changes: readonly Change[], at: Point): Promise<void> {
    const startMs = performance.now();
    const { version } = at;
    const inLines = Map.groupBy(changes, ({ accountId }) => this.#lines.get(accountId));
    const free = inLines.get(undefined) ?? [];
    // Done before others are loaded: a line may end meanwhile.
    for (const [line, own] of inLines) line?.add({ changes: own, version });
    const late = new Map<Group, Promise<Entries>>();
    const loaded = await this.#loadGroups(groupsOf(this.#options.compilers, free), version, late);
    for (const [{ accountId = '', changes: own }, loading] of late) this.#begin(accountId, own, version, loading);
    await this.#sends.run(() => this.#put(joined(loaded), at, startMs));
  }

  /** Loads what the changes of each group affect. Groups that take long are left to `late`. */
  async #loadGroups(
    groups: readonly Group[],
    version: number,
    late: Map<Group, Promise<Entries>>,
  ): Promise<readonly Entries[]> {
    const over = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => over.resolve(undefined), lineAfterMs);
    const load = async (group: Group): Promise<Entries> => {
      const loading = this.#load({ changes: group.changes, version });
      if (group.accountId === undefined) return loading;
      const loaded = await Promise.race([loading, over.promise]);
      if (loaded !== undefined) return loaded;
      late.set(group, loading);
      // Nobody waits for it where another group fails: all are loaded anew then.
      loading.catch(() => {});
      return { set: [], removed: [] };
    };
    try {
      return await Promise.all(groups.map(load));
    } finally {
      clearTimeout(timer);
    }
  }

  async #load(batch: ChangeBatch): Promise<Entries> {
    const set: SnapshotEntry[] = [];
    const removed: EntryKey[] = [];
    const affected = await affectedIds(this.#options.compilers, batch.changes);
    for (const [compiler, ids] of affected) {
      const entries = await compiler.load(this.#options.store.queries, [...ids], batch);
      const present = new Set(entries.map(({ id }) => id));
      for (const entry of entries) set.push(entry);
      for (const id of ids) if (!present.has(id)) removed.push({ kind: compiler.kind, id });
    }
    return { set, removed };
  }

  #begin(accountId: string, changes: readonly Change[], version: number, loading: Promise<Entries>): void {
    const line = new AccountLine({ changes, version });
    this.#lines.set(accountId, line);
    const running = this.#catchUp(accountId, line, loading).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async #catchUp(accountId: string, line: AccountLine, first: Promise<Entries>): Promise<void> {
    let loading = first;
    for (;;) {
      const startMs = performance.now();
      try {
        const loaded = await loading;
        await this.#sends.run(() => this.#putOfLine(line, loaded, startMs));
        if (line.isCancelled) return;
        line.done();
        if (!line.hasMore) break;
      } catch (error) {
        if (line.isCancelled) return;
        line.failed(error);
        this.#options.onFault(error, this.#told.version);
        await sleep(retryMs);
      }
      if (line.isCancelled) return;
      loading = this.#load(line.take());
    }
    this.#lines.delete(accountId);
  }

  /** Entries with claims that have overtaken the line come again: the account of the line may have given up what they claim. */
  async #putOfLine(line: AccountLine, loaded: Entries, startMs: number): Promise<void> {
    if (line.isCancelled) return;
    const again = await Promise.all(
      [...Map.groupBy(this.#overtook.values(), ({ kind }) => kind)].map(([kind, keys]) =>
        this.#loadEntries(kind, keys),
      ),
    );
    await this.#put(joined([loaded, ...again]), this.#told, startMs, { line });
  }

  async #loadEntries(wanted: EntryKey['kind'], keys: readonly EntryKey[]): Promise<Entries> {
    const compilers = this.#options.compilers.filter(({ kind }) => kind === wanted);
    const ids = keys.map(({ id }) => id);
    const set = await Promise.all(compilers.map((compiler) => compiler.load(this.#options.store.queries, ids)));
    return { set: set.flat(), removed: [] };
  }

  /** Puts entries in force. `told`: the newest point whose changes are among these entries, in force, or in a line. */
  async #put(
    { set, removed }: Entries,
    told: Point,
    startMs: number,
    { full = false, line }: { readonly full?: boolean; readonly line?: AccountLine } = {},
  ): Promise<void> {
    this.#told = told;
    const isAll = this.#lines.values().every((each) => each === line && !each.hasMore);
    if (isAll) this.#overtook.clear();
    else for (const entry of set) if (claiming.has(entry.kind)) this.#overtook.set(keyOf(entry), entry);
    const { version, mark } = isAll ? told : this.#inForce;
    const update = { version, mark, full, set, removed };
    const results = await Promise.allSettled(this.#targets.map((target) => target.take(update)));
    const faults = results.filter((result) => result.status === 'rejected');
    for (const { reason } of faults) this.#options.onFault(reason, told.version);
    if (faults.length > 0) return;
    this.#inForce = { version, mark };
    this.#options.onPublished?.(version, performance.now() - startMs);
  }

  #settled(accountIds: ReadonlySet<string> | undefined): Promise<void> | undefined {
    const lines = [...this.#lines].filter(([accountId]) => accountIds?.has(accountId) !== false);
    return lines.length === 0 ? undefined : Promise.all(lines.map(([, line]) => line.settled)).then(() => {});
  }

  #cancelLines(): readonly AccountLine[] {
    const lines = [...this.#lines.values()];
    this.#lines.clear();
    for (const line of lines) line.isCancelled = true;
    return lines;
  }
}

/** A target, and the updates that it could not take yet. */
class TargetState {
  readonly #target: Target;
  readonly #now: () => number;
  #pending: SnapshotUpdate | undefined;
  /** Time from which on the pending update counts as late. */
  #lateAtMs = Infinity;

  constructor(target: Target, now: () => number) {
    this.#target = target;
    this.#now = now;
  }

  get isBehind(): boolean {
    return this.#now() >= this.#lateAtMs;
  }

  async take(update: SnapshotUpdate): Promise<void> {
    const merged = this.#pending === undefined ? update : merge(this.#pending, update);
    this.#pending = merged;
    this.#lateAtMs = Math.min(this.#lateAtMs, this.#now() + lateAfterMs);
    try {
      await this.#target(merged);
    } catch (error) {
      this.#lateAtMs = -Infinity;
      throw error;
    }
    this.#pending = undefined;
    this.#lateAtMs = Infinity;
  }
}

/** One group for each account whose load may take long, and one for all others. */
function groupsOf(compilers: readonly Compiler[], changes: readonly Change[]): readonly Group[] {
  const long = compilers.filter(({ mayTakeLong }) => mayTakeLong);
  const mayTakeLong = (own: readonly Change[]) =>
    own.length > fewChanges || own.some((change) => long.some((compiler) => compiler.affectedIds(change).length > 0));
  const groups: Group[] = [];
  const others: Change[] = [];
  for (const [accountId, own] of Map.groupBy(changes, (change) => change.accountId)) {
    if (mayTakeLong(own)) groups.push({ accountId, changes: own });
    else for (const change of own) others.push(change);
  }
  return others.length === 0 ? groups : [{ accountId: undefined, changes: others }, ...groups];
}

function joined(entries: readonly Entries[]): Entries {
  const [only] = entries;
  if (entries.length === 1 && only !== undefined) return only;
  return { set: entries.flatMap(({ set }) => set), removed: entries.flatMap(({ removed }) => removed) };
}

function merge(earlier: SnapshotUpdate, later: SnapshotUpdate): SnapshotUpdate {
  if (later.full) return later;
  const superseded = new Set([...later.set, ...later.removed].map(keyOf));
  const stays = (key: EntryKey) => !superseded.has(keyOf(key));
  return {
    ...later,
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
