import { BoundedCache } from '../../lib/bounded-cache.ts';
import { hasElapsed } from '../../lib/elapsed.ts';
import type { Queries } from '../../store/database.ts';
import type { ObservationWriter } from '../../store/write/transaction.ts';
import type { Migration } from '../../store/migrate.ts';
import type { Store } from '../../store/store.ts';

/** Warnings of one source within one slot of time, to be added to what is stored. */
export interface SlotCount {
  readonly restrictionId: string;
  /** Empty for sources that are not told apart. */
  readonly source: string;
  readonly atMs: number;
  readonly count: number;
}

/** Length of the slots that warnings are written in. */
export const shortSlotSeconds = 300;
/** Length of the slots that older ones are joined to. Both begin at whole multiples, so that the first short one is the long one. */
export const longSlotSeconds = 3_600;
/** Short slots are kept for the last two hours. */
const keptShortSeconds = 2 * longSlotSeconds;
const keptSeconds = 8 * 24 * 3_600;
/** Counts kept for each restriction; beyond, those of old slots and of sources that came seldom are no longer told apart. */
const keptCounts = 20_000;
/** Sources of a restriction that one flush tells apart: those that came most. */
const sourcesInFlush = 1_000;
const countsAtOnce = 250;
const condenseEveryMs = 60_000;
const rememberedRestrictions = 10_000;

/** Begins with the migration: earlier warnings have no time beside the first and the last. */
export const slotsMigration: Migration = {
  name: 'ip-restrictions 0001 warnings over time',
  sql: `
    CREATE TABLE ip_restriction_warning_slots (
      restriction_id TEXT NOT NULL REFERENCES ip_restrictions (id) ON DELETE CASCADE,
      slot INTEGER NOT NULL,
      source TEXT NOT NULL,
      count INTEGER NOT NULL,
      PRIMARY KEY (restriction_id, slot, source)
    );
  `,
};

/** Counts of warnings by time and source, bounded for each restriction. */
export class WarningSlots {
  readonly #store: Store;
  readonly #condensedAtMs = new BoundedCache<string, number>(rememberedRestrictions);

  constructor(store: Store) {
    this.#store = store;
  }

  /** Adds the counts, by short transactions. */
  async add(counts: readonly SlotCount[]): Promise<void> {
    for (const [restrictionId, all] of Map.groupBy(counts, (each) => each.restrictionId)) {
      const kept = boundSources(all);
      for (let at = 0; at < kept.length; at += countsAtOnce) {
        const some = kept.slice(at, at + countsAtOnce);
        await this.#store.writeUnlogged(async (notes) => {
          for (const each of some) await addOne(notes, each);
        });
      }
      await this.#condenseSometimes(restrictionId, kept.length);
    }
  }

  /** Often where many sources come, so that what is above the bound stays small. */
  async #condenseSometimes(restrictionId: string, written: number): Promise<void> {
    const nowMs = Date.now();
    const condensedAtMs = this.#condensedAtMs.get(restrictionId) ?? 0;
    if (written < countsAtOnce && !hasElapsed(condensedAtMs, condenseEveryMs, nowMs)) return;
    this.#condensedAtMs.set(restrictionId, nowMs);
    const nowSeconds = Math.floor(nowMs / 1000);
    await this.#store.writeUnlogged((notes) => joinOldSlots(notes, restrictionId, nowSeconds));
    await this.#store.writeUnlogged((notes) => foldRareSources(notes, restrictionId));
  }
}

/** Counts by slots of this length, from the second `from` on. */
export async function readBuckets(
  queries: Queries,
  restrictionId: string,
  from: number,
  lengthSeconds: number,
): Promise<ReadonlyMap<number, number>> {
  const rows = await queries.all(
    `SELECT slot - slot % $3, SUM(count) FROM ip_restriction_warning_slots
     WHERE restriction_id = $1 AND slot >= $2 GROUP BY slot - slot % $3`,
    [restrictionId, from, lengthSeconds],
  );
  return new Map(rows.map(([slot, count]) => [Number(slot), Number(count)]));
}

export interface CountedSource {
  readonly source: string;
  readonly count: number;
  /** Whole seconds: the slot in which it was last seen. */
  readonly lastSlot: number;
}

/** The sources that came most, and how many there are in all; a source that is empty stands for those not told apart. */
export async function readSources(
  queries: Queries,
  restrictionId: string,
  from: number,
  limit: number,
): Promise<{ readonly sources: readonly CountedSource[]; readonly total: number; readonly hasOthers: boolean }> {
  const where = `FROM ip_restriction_warning_slots WHERE restriction_id = $1 AND slot >= $2`;
  const rows = await queries.all(
    `SELECT source, SUM(count), MAX(slot) ${where} AND source <> '' GROUP BY source
     ORDER BY SUM(count) DESC, MAX(slot) DESC, source LIMIT $3`,
    [restrictionId, from, limit],
  );
  const [totals] = await queries.all(
    `SELECT COUNT(DISTINCT source), SUM(CASE WHEN source = '' THEN 1 ELSE 0 END) ${where}`,
    [restrictionId, from],
  );
  const others = Number(totals?.[1] ?? 0) > 0;
  return {
    sources: rows.map(([source, count, slot]) => ({
      source: String(source),
      count: Number(count),
      lastSlot: Number(slot),
    })),
    total: Number(totals?.[0] ?? 0) - (others ? 1 : 0),
    hasOthers: others,
  };
}

/** Adds up those that came seldom where there are too many. */
function boundSources(counts: readonly SlotCount[]): readonly SlotCount[] {
  if (counts.length <= sourcesInFlush) return counts;
  const sorted = counts.toSorted((a, b) => b.count - a.count);
  const rest = sorted.slice(sourcesInFlush);
  const [first] = rest;
  if (first === undefined) return sorted;
  const count = rest.reduce((sum, each) => sum + each.count, 0);
  return [...sorted.slice(0, sourcesInFlush), { ...first, source: '', count }];
}

const addSql = `
  ON CONFLICT (restriction_id, slot, source) DO UPDATE SET count = ip_restriction_warning_slots.count + excluded.count`;

/** A restriction that is gone meanwhile has no warnings. */
async function addOne(notes: ObservationWriter, { restrictionId, source, atMs, count }: SlotCount): Promise<void> {
  const seconds = Math.floor(atMs / 1000);
  await notes.run(
    `INSERT INTO ip_restriction_warning_slots (restriction_id, slot, source, count)
     SELECT id, $2, $3, $4 FROM ip_restrictions WHERE id = $1 ${addSql}`,
    [restrictionId, seconds - (seconds % shortSlotSeconds), source, count],
  );
}

async function joinOldSlots(notes: ObservationWriter, restrictionId: string, nowSeconds: number): Promise<void> {
  const hour = nowSeconds - (nowSeconds % longSlotSeconds);
  const parameters = [restrictionId, hour - keptShortSeconds];
  const isShort = `restriction_id = $1 AND slot < $2 AND slot % ${longSlotSeconds} <> 0`;
  await notes.run(
    `INSERT INTO ip_restriction_warning_slots (restriction_id, slot, source, count)
     SELECT restriction_id, slot - slot % ${longSlotSeconds}, source, SUM(count) FROM ip_restriction_warning_slots
     WHERE ${isShort} GROUP BY restriction_id, slot - slot % ${longSlotSeconds}, source ${addSql}`,
    parameters,
  );
  await notes.run(`DELETE FROM ip_restriction_warning_slots WHERE ${isShort}`, parameters);
  await notes.run('DELETE FROM ip_restriction_warning_slots WHERE restriction_id = $1 AND slot < $2', [
    restrictionId,
    nowSeconds - keptSeconds,
  ]);
}

/** Keeps the newest slots, and in the oldest of these the sources that came most; the sums stay what they were. */
async function foldRareSources(notes: ObservationWriter, restrictionId: string): Promise<void> {
  const counted = "FROM ip_restriction_warning_slots WHERE restriction_id = $1 AND source <> ''";
  // The first that is beyond; a comparison with it takes one pass, where IN over a subquery may compare each with each.
  const [first] = await notes.all(
    `SELECT slot, count, source ${counted} ORDER BY slot DESC, count DESC, source LIMIT 1 OFFSET ${keptCounts}`,
    [restrictionId],
  );
  if (first === undefined) return;
  const beyond = `${counted} AND (slot < $2 OR (slot = $2 AND (count < $3 OR (count = $3 AND source >= $4))))`;
  const parameters = [restrictionId, ...first];
  await notes.run(
    `INSERT INTO ip_restriction_warning_slots (restriction_id, slot, source, count)
     SELECT $1, slot, '', SUM(count) ${beyond} GROUP BY slot ${addSql}`,
    parameters,
  );
  await notes.run(`DELETE ${beyond}`, parameters);
}
