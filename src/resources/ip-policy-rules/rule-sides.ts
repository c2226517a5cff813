import { randomUUID } from 'node:crypto';

import { toTimestamp } from '../../lib/ids.ts';
import { Pace } from '../../lib/pace.ts';
import type { Queries, Row } from '../../store/database.ts';
import type { ObservationWriter, Transaction } from '../../store/write/group-commit.ts';
import type { Store } from '../../store/store.ts';
import { rulesAtOnce } from './read-rules.ts';
import { everySide } from './table.ts';

/*
 * Thousands of rules cannot be replaced in one short transaction, and a long one makes every other writer wait. So a rule
 * lies on side 1, on side 2 or on both, and each policy names the side that is hidden. The new rules are put on the hidden
 * side by many short transactions; those that go lie on the shown side, those that stay on both. Then one short
 * transaction, the only one that anybody sees, hides the other side. What is left on the hidden side is swept.
 *
 * Whatever lies on the hidden side is either prepared by whoever holds the lease of the policy, or rubbish: a process that
 * dies leaves an expired lease, and whoever takes it over sweeps first. Moves between sides are not in the change log: a
 * side that was read before the lease was taken is worth nothing.
 */

/** The right to put rules on the hidden side of a policy, or to sweep it. Each step renews it. */
export interface Lease {
  readonly policyId: string;
  readonly accountId: string;
  readonly id: string;
  readonly hiddenSide: number;
  /** The lease was not given back: rules may lie on the hidden side. */
  readonly needsSweep: boolean;
}

/** The lease has expired and went to another, or the policy is gone. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}

/** Far longer than a step takes; a process that is silent for so long has lost its lease. */
const leaseMs = 10_000;
/** Rows that are swept in one step. */
const rowsInStep = 256;

/** Undefined while another has the lease, or if there is nothing to lease. */
export function takeLease(store: Store, accountId: string, policyId: string): Promise<Lease | undefined> {
  const id = randomUUID();
  return store.writeUnlogged(async (writer) => {
    const [known] = await writer.all(
      'SELECT hidden_side, lease, lease_ends_at FROM ip_policy_rule_sides WHERE ip_policy_id = $1',
      [policyId],
    );
    if (known === undefined) {
      const made = await writer.run(
        `INSERT INTO ip_policy_rule_sides (ip_policy_id, hidden_side, lease, lease_ends_at)
         SELECT id, 1, $2, $3 FROM ip_policies WHERE id = $1`,
        [policyId, id, inMs(leaseMs)],
      );
      return made === 0 ? undefined : { policyId, accountId, id, hiddenSide: 1, needsSweep: false };
    }
    const [hiddenSide, lease, endsAt] = known;
    if (lease !== null && isHeld(String(endsAt))) return undefined;
    await writer.run('UPDATE ip_policy_rule_sides SET lease = $2, lease_ends_at = $3 WHERE ip_policy_id = $1', [
      policyId,
      id,
      inMs(leaseMs),
    ]);
    return { policyId, accountId, id, hiddenSide: Number(hiddenSide), needsSweep: lease !== null };
  }, accountId);
}

/** One short transaction under the lease. */
export function inLease<T>(store: Store, lease: Lease, step: (writer: ObservationWriter) => Promise<T>): Promise<T> {
  return store.writeUnlogged(async (writer) => {
    await renew(writer, lease, leaseMs);
    return step(writer);
  }, lease.accountId);
}

/** Hides the side that was shown so far, and leaves it to be swept. */
export async function switchSides(transaction: Transaction, lease: Lease): Promise<void> {
  await renew(transaction, lease, 0);
  await transaction.run('UPDATE ip_policy_rule_sides SET hidden_side = $2 WHERE ip_policy_id = $1', [
    lease.policyId,
    shownSide(lease),
  ]);
}

export function shownSide({ hiddenSide }: Lease): number {
  return hiddenSide === 1 ? 2 : 1;
}

/** Leaves the hidden side, whichever it is by now, to whoever sweeps next. */
export async function abandon(store: Store, lease: Lease): Promise<void> {
  await store.writeUnlogged((writer) => renew(writer, lease, 0), lease.accountId);
}

/** Reads what the change of sides would show, in the order of the CIDRs. Rows have the columns cidr, side and action. */
export async function* readPrepared(queries: Queries, lease: Lease): AsyncGenerator<readonly Row[]> {
  let [afterCidr, afterSide] = ['', 0];
  for (;;) {
    const rows = await queries.all(
      `SELECT cidr, side, action FROM ip_policy_rule_rows WHERE ip_policy_id = $1 AND (cidr, side) > ($2, $3)
       AND side <> $4 ORDER BY cidr, side LIMIT ${rulesAtOnce}`,
      [lease.policyId, afterCidr, afterSide, shownSide(lease)],
    );
    yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < rulesAtOnce) return;
    [afterCidr, afterSide] = [String(last[0]), Number(last[1])];
  }
}

/** Deletes what lies on the hidden side, in short transactions. */
export async function sweep(store: Store, lease: Lease): Promise<void> {
  const pace = new Pace();
  let [afterCidr, afterSide] = ['', 0];
  for (;;) {
    const rows = await store.queries.all(
      `SELECT id, cidr, side FROM ip_policy_rule_rows WHERE ip_policy_id = $1 AND (cidr, side) > ($2, $3)
       ORDER BY cidr, side LIMIT ${rowsInStep}`,
      [lease.policyId, afterCidr, afterSide],
    );
    const hidden = rows.filter(([, , side]) => lease.hiddenSide === everySide || side === lease.hiddenSide);
    const ids = hidden.map(([id]) => String(id));
    if (ids.length > 0) await inLease(store, lease, (writer) => deleteRows(writer, ids));
    const last = rows.at(-1);
    if (last === undefined || rows.length < rowsInStep) return;
    [afterCidr, afterSide] = [String(last[1]), Number(last[2])];
    if (pace.isDue) await pace.giveWay();
  }
}

/** Gives the lease of a swept policy back. */
export function release(store: Store, lease: Lease): Promise<void> {
  return inLease(store, lease, async (writer) => {
    const sql =
      lease.hiddenSide === everySide
        ? 'DELETE FROM ip_policy_rule_sides WHERE ip_policy_id = $1'
        : 'UPDATE ip_policy_rule_sides SET lease = NULL, lease_ends_at = NULL WHERE ip_policy_id = $1';
    await writer.run(sql, [lease.policyId]);
  });
}

/** Policies whose hidden side nobody sweeps although something may lie there. */
export async function findUnswept(queries: Queries): Promise<readonly string[]> {
  const rows = await queries.all(
    'SELECT ip_policy_id FROM ip_policy_rule_sides WHERE lease IS NOT NULL AND lease_ends_at <= $1',
    [inMs(0)],
  );
  return rows.map(([id]) => String(id));
}

/** Deletes all rules of a policy that is being deleted; many of them are hidden at once and swept later. */
export async function deleteAllRules(transaction: Transaction, policyId: string): Promise<void> {
  const rows = await transaction.all(
    `SELECT id FROM ip_policy_rule_rows WHERE ip_policy_id = $1 LIMIT ${rowsInStep + 1}`,
    [policyId],
  );
  await transaction.run('DELETE FROM ip_policy_rule_sides WHERE ip_policy_id = $1', [policyId]);
  if (rows.length <= rowsInStep) {
    await transaction.run('DELETE FROM ip_policy_rule_rows WHERE ip_policy_id = $1', [policyId]);
    return;
  }
  await transaction.run(
    'INSERT INTO ip_policy_rule_sides (ip_policy_id, hidden_side, lease, lease_ends_at) VALUES ($1, $2, $3, $4)',
    [policyId, everySide, randomUUID(), inMs(0)],
  );
}

export async function deleteRows(writer: Pick<Transaction, 'run'>, ids: readonly string[]): Promise<number> {
  const places = ids.map((_, at) => `$${at + 1}`).join(', ');
  return writer.run(`DELETE FROM ip_policy_rule_rows WHERE id IN (${places})`, ids);
}

/** Puts rules on another side, where they are as much shown as before. */
export async function moveRows(writer: Pick<Transaction, 'run'>, ids: readonly string[], side: number): Promise<void> {
  const places = ids.map((_, at) => `$${at + 2}`).join(', ');
  await writer.run(`UPDATE ip_policy_rule_rows SET side = $1 WHERE id IN (${places})`, [side, ...ids]);
}

/** Throws if the lease is no longer held. */
async function renew(writer: Pick<Transaction, 'run'>, { policyId, id }: Lease, forMs: number): Promise<void> {
  const renewed = await writer.run(
    'UPDATE ip_policy_rule_sides SET lease_ends_at = $3 WHERE ip_policy_id = $1 AND lease = $2',
    [policyId, id, inMs(forMs)],
  );
  if (renewed === 0) throw new LeaseLostError(`the lease of ${policyId} is lost`);
}

/** A lease that ends later than any that is given now comes from a clock that was wrong, and counts for nothing. */
function isHeld(endsAt: string): boolean {
  return endsAt > inMs(0) && endsAt <= inMs(2 * leaseMs);
}

function inMs(fromNowMs: number): string {
  return toTimestamp(Date.now() + fromNowMs);
}
