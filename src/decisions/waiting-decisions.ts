import { KeyCounts } from '../lib/key-counts.ts';
import type { Decision } from './decision-line.ts';
import { DecisionPacker, packedRowBytes } from './packed-decisions.ts';
import type { PackedDecisions } from './packed-decisions.ts';

/**
 * Bytes of all accounts together that may wait, roughly; an account may have half of them, and less the more others wait. As
 * many again are for accounts that have few.
 */
const waitingBytes = 16 * 1024 * 1024;
/** Bytes that an account may have waiting when the others have all the rest. */
const leastBytes = 256 * 1024;
/** Decisions that are sent at once, so that no turn of the event loop sends more. */
const batchRows = 512;

/** Decisions of any accounts that are sent together. */
export interface Batch {
  readonly packed: PackedDecisions;
  readonly shares: ReadonlyMap<string, Share>;
}

/** The part of a batch that is of one account. */
interface Share {
  rows: number;
  bytes: number;
}

/** Decisions that wait to be written, in a bounded place of which each account has a share. What does not fit is dropped and counted. */
export class WaitingDecisions {
  readonly #limit: number;
  readonly #packer = new DecisionPacker(batchRows);
  #shares = new Map<string, Share>();
  /** Full ones, oldest first. */
  readonly #batches: Batch[] = [];
  readonly #bytesOf = new KeyCounts<string>();
  #bytes = 0;
  readonly #dropped = new Map<string, number>();

  constructor(limit: number = waitingBytes) {
    this.#limit = limit;
  }

  /** Returns whether there was room for it. */
  add(accountId: string, decision: Decision): boolean {
    if (!this.#hasRoom(accountId)) {
      this.drop(accountId, 1);
      return false;
    }
    let share = this.#shares.get(accountId);
    if (share === undefined) this.#shares.set(accountId, (share = { rows: 0, bytes: 0 }));
    // The whole text is held, whatever of it is sent.
    const { host, method, path, reason, person } = decision;
    const bytes = packedRowBytes + host.length + method.length + path.length + reason.length + person.length;
    share.rows += 1;
    share.bytes += bytes;
    this.#bytes += bytes;
    this.#bytesOf.add(accountId, bytes);
    this.#packer.add(accountId, decision);
    if (this.#packer.isFull) this.#close();
    return true;
  }

  drop(accountId: string, rows: number): void {
    this.#dropped.set(accountId, this.dropped(accountId) + rows);
  }

  /** Decisions of the account that were dropped since this process began. */
  dropped(accountId: string): number {
    return this.#dropped.get(accountId) ?? 0;
  }

  /** Takes those that have waited longest; undefined where there are none. */
  take(): Batch | undefined {
    if (this.#batches.length === 0 && this.#shares.size > 0) this.#close();
    const batch = this.#batches.shift();
    for (const [accountId, { bytes }] of batch?.shares ?? []) {
      this.#bytesOf.add(accountId, -bytes);
      this.#bytes -= bytes;
    }
    return batch;
  }

  #hasRoom(accountId: string): boolean {
    if (this.#bytes < leastBytes) return true;
    const waiting = this.#bytesOf.of(accountId);
    const hasShare = this.#bytes < this.#limit && waiting < this.#limit / (this.#bytesOf.size + 1);
    return hasShare || (waiting < leastBytes && this.#bytes < 2 * this.#limit);
  }

  #close(): void {
    this.#batches.push({ packed: this.#packer.take(), shares: this.#shares });
    this.#shares = new Map();
  }
}
