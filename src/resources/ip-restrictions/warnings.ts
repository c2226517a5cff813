import { toTimestamp } from '../../lib/ids.ts';
import { formatIp } from '../../lib/ip/address.ts';
import type { ObservationWriter } from '../../store/write/transaction.ts';
import type { Store } from '../../store/store.ts';
import type { Warnings } from './service.ts';
import { WarningSlots } from './warning-slots.ts';

interface Pending {
  readonly restrictionId: string;
  readonly source: string;
  readonly firstMs: number;
  lastMs: number;
  count: number;
}

const flushEveryMs = 1_000;
/** Different sources in memory between two flushes; more are dropped, so that a flood costs no memory. */
const pendingLimit = 10_000;
/** Sources kept for each restriction; the ones not seen longest go first. */
const keptSources = 10_000;
/** Sources that one transaction writes or deletes: a flood of them makes no other write wait. */
const sourcesAtOnce = 250;

/** Counts warnings in memory and writes them to the database every second, where all processes add up. */
export function createWarnings(store: Store): Warnings {
  const slots = new WarningSlots(store);
  let pending = new Map<string, Pending>();
  let timer: NodeJS.Timeout | undefined;
  let flushing = Promise.resolve();
  const write = async () => {
    const batch = [...pending.values()];
    pending = new Map();
    for (let at = 0; at < batch.length; at += sourcesAtOnce) {
      const some = batch.slice(at, at + sourcesAtOnce);
      await store.writeUnlogged((notes) => writeSome(notes, some));
    }
    await slots.add(
      batch.map(({ restrictionId, source, lastMs, count }) => ({ restrictionId, source, count, atMs: lastMs })),
    );
    for (const id of new Set(batch.map(({ restrictionId }) => restrictionId))) await prune(store, id);
  };
  /** Resolves when nothing of it is under way any more, also not of an earlier one. */
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const written = flushing.then(write);
    flushing = written.catch(() => {});
    return written;
  };
  const count = (restrictionId: string, source: string) => {
    const key = `${restrictionId} ${source}`;
    const known = pending.get(key);
    const nowMs = Date.now();
    if (known !== undefined) {
      known.count += 1;
      known.lastMs = nowMs;
    } else if (pending.size < pendingLimit) {
      pending.set(key, { restrictionId, source, firstMs: nowMs, lastMs: nowMs, count: 1 });
    }
  };
  return {
    warned(restrictionIds, source) {
      const text = formatIp(source);
      for (const id of restrictionIds) count(id, text);
      // Counts that cannot be written are lost; traffic is not to suffer for them.
      timer ??= setTimeout(() => void flush().catch(() => {}), flushEveryMs).unref();
    },
    flush,
  };
}

async function writeSome(notes: ObservationWriter, warnings: readonly Pending[]): Promise<void> {
  for (const warning of warnings) await writeOne(notes, warning);
}

/** A restriction that is gone meanwhile has no warnings. */
async function writeOne(
  notes: ObservationWriter,
  { restrictionId, source, firstMs, lastMs, count }: Pending,
): Promise<void> {
  await notes.run(
    `INSERT INTO ip_restriction_warnings (restriction_id, source, first_seen, last_seen, count)
     SELECT id, $2, $3, $4, $5 FROM ip_restrictions WHERE id = $1
     ON CONFLICT (restriction_id, source) DO UPDATE
     SET last_seen = excluded.last_seen, count = ip_restriction_warnings.count + excluded.count`,
    [restrictionId, source, toTimestamp(firstMs), toTimestamp(lastMs), count],
  );
}

async function prune(store: Store, restrictionId: string): Promise<void> {
  let deleted: number;
  do {
    deleted = await store.writeUnlogged(async (notes) =>
      notes.run(
        `DELETE FROM ip_restriction_warnings WHERE restriction_id = $1 AND source IN (
           SELECT source FROM ip_restriction_warnings WHERE restriction_id = $1
           ORDER BY last_seen DESC, source LIMIT ${sourcesAtOnce} OFFSET $2)`,
        [restrictionId, keptSources],
      ),
    );
  } while (deleted === sourcesAtOnce);
}
