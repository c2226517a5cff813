import type { BalanceEntry, SnapshotFollower, SnapshotUpdate } from '../../snapshot/contract.ts';
import { defaultDownMs } from './backend-addresses.ts';
import { formatAddress } from './target.ts';

/** Something that was seen of an address. Successes of traffic are told only after failures. */
export type HealthNote =
  | {
      readonly from: 'traffic';
      readonly backendId: string;
      readonly address: string;
      readonly ok: boolean;
      readonly cause?: string;
    }
  | {
      readonly from: 'check';
      readonly backendId: string;
      readonly address: string;
      readonly ok: boolean;
      /** How many checks in a row have ended the same way, this one among them. */
      readonly streak: number;
      readonly tookMs: number;
      readonly cause?: string;
    };

/** State of an address, as far as traffic depends on it. */
export interface AddressState {
  readonly backendId: string;
  readonly address: string;
  readonly isDown: boolean;
  /** Successes are to be reported. */
  readonly isFailing: boolean;
  /** Time after which a request may try it; undefined: only checks bring it back. */
  readonly trialMs?: number | undefined;
}

/** State of an address, as operators are told it. */
export interface AddressHealth {
  readonly backendId: string;
  readonly address: string;
  /** `unchecked`: nothing has been seen of it. */
  readonly state: 'up' | 'down' | 'unchecked';
  /** When it came into that state; undefined: with the process, or the address. */
  readonly sinceMs?: number | undefined;
  /** Whose doing the state is. */
  readonly by?: 'check' | 'traffic' | undefined;
  /** Failures in a row until now, of the checks or of traffic. */
  readonly failures: number;
  /** The last failure, in words. */
  readonly cause?: string | undefined;
  readonly check?: { readonly atMs: number; readonly ok: boolean; readonly tookMs: number } | undefined;
}

/** Takes what the board decides. */
export interface HealthObserver {
  /** `isFlip`: it went down, or came back. */
  addressHealth(health: AddressHealth, isFlip: boolean): void;
  /** The address, or the backend, is no longer watched. */
  addressGone(backendId: string, address: string): void;
}

interface Known {
  readonly backendId: string;
  readonly address: string;
  checksDown: boolean;
  trafficDown: boolean;
  trafficFailures: number;
  sinceMs: number | undefined;
  by: 'check' | 'traffic' | undefined;
  cause: string | undefined;
  check: { readonly atMs: number; readonly ok: boolean; readonly tookMs: number; readonly streak: number } | undefined;
}

/** How an address of several is watched where the backend does not say. */
const defaultPassive = { failures: 1, statuses: [], downMs: defaultDownMs };

/** Decides which addresses are down, by what all processes of one gateway have seen. */
export class HealthBoard implements SnapshotFollower {
  readonly #tell: (states: readonly AddressState[]) => void;
  readonly #observer: HealthObserver | undefined;
  readonly #now: () => number;
  readonly #backends = new Map<string, { readonly balance: BalanceEntry; readonly addresses: Map<string, Known> }>();

  constructor(
    tell: (states: readonly AddressState[]) => void,
    observer?: HealthObserver,
    now: () => number = Date.now,
  ) {
    this.#tell = tell;
    this.#observer = observer;
    this.#now = now;
  }

  /** States that differ from the initial one. */
  states(): readonly AddressState[] {
    const states: AddressState[] = [];
    for (const { balance, addresses } of this.#backends.values())
      for (const known of addresses.values())
        if (isDown(known) || known.trafficFailures > 0) states.push(toState(known, balance));
    return states;
  }

  note(notes: readonly HealthNote[]): void {
    const changed: AddressState[] = [];
    for (const note of notes) {
      const backend = this.#backends.get(note.backendId);
      const known = backend?.addresses.get(note.address);
      if (backend === undefined || known === undefined) continue;
      const before = toState(known, backend.balance);
      if (note.from === 'check') this.#check(known, note, backend.balance);
      else this.#traffic(known, note, backend.balance);
      const after = toState(known, backend.balance);
      const isFlip = before.isDown !== after.isDown;
      if (isFlip) {
        known.sinceMs = this.#now();
        known.by = note.from;
      }
      if (isFlip || before.isFailing !== after.isFailing) changed.push(after);
      this.#observer?.addressHealth(toHealth(known), isFlip);
    }
    if (changed.length > 0) this.#tell(changed);
  }

  prepare(update: SnapshotUpdate): () => void {
    return () => {
      const coming = new Map(update.set.flatMap((entry) => (entry.kind === 'backend' ? [[entry.id, entry]] : [])));
      const leaving = update.removed.flatMap(({ kind, id }) => (kind === 'backend' ? [id] : []));
      if (update.full) for (const id of this.#backends.keys()) if (!coming.has(id)) leaving.push(id);
      for (const id of leaving) this.#remove(id);
      for (const [id, { balance, fault }] of coming) {
        if (balance === undefined || fault !== undefined) this.#remove(id);
        else this.#set(id, balance);
      }
    };
  }

  #check(known: Known, note: HealthNote & { from: 'check' }, { active }: BalanceEntry): void {
    const { ok, streak, tookMs, cause } = note;
    known.check = { atMs: this.#now(), ok, tookMs, streak };
    if (!ok) known.cause = cause;
    if (active === undefined) return;
    if (!ok && streak >= active.failures) known.checksDown = true;
    else if (ok && streak >= active.passes && known.checksDown) {
      known.checksDown = false;
      known.trafficDown = false;
      known.trafficFailures = 0;
    }
  }

  #traffic(known: Known, { ok, cause }: HealthNote, { passive = defaultPassive, addresses }: BalanceEntry): void {
    if (ok) {
      known.trafficFailures = 0;
      known.trafficDown = false;
      return;
    }
    known.trafficFailures++;
    known.cause = cause;
    // The only address of a backend that asks for nothing else is never left out.
    const isWatched = addresses.length > 1 || passive !== defaultPassive;
    if (isWatched && known.trafficFailures >= passive.failures) known.trafficDown = true;
  }

  #set(id: string, balance: BalanceEntry): void {
    const before = this.#backends.get(id);
    const addresses = new Map<string, Known>();
    const changed: AddressState[] = [];
    for (const entry of balance.addresses) {
      const address = formatAddress(entry);
      const same = before?.addresses.get(address);
      const known = same ?? newKnown(id, address);
      const wasDown = isDown(known);
      if (balance.active === undefined) {
        known.checksDown = false;
        known.check = undefined;
      }
      if (balance.passive === undefined && balance.addresses.length < 2) known.trafficDown = false;
      addresses.set(address, known);
      if (wasDown && !isDown(known)) known.sinceMs = this.#now();
      if (same !== undefined) changed.push(toState(known, balance));
      this.#observer?.addressHealth(toHealth(known), wasDown && !isDown(known));
    }
    for (const address of before?.addresses.keys() ?? [])
      if (!addresses.has(address)) this.#observer?.addressGone(id, address);
    this.#backends.set(id, { balance, addresses });
    if (changed.length > 0) this.#tell(changed);
  }

  #remove(id: string): void {
    const backend = this.#backends.get(id);
    if (backend === undefined) return;
    this.#backends.delete(id);
    for (const address of backend.addresses.keys()) this.#observer?.addressGone(id, address);
  }
}

function newKnown(backendId: string, address: string): Known {
  return {
    backendId,
    address,
    checksDown: false,
    trafficDown: false,
    trafficFailures: 0,
    sinceMs: undefined,
    by: undefined,
    cause: undefined,
    check: undefined,
  };
}

function isDown({ checksDown, trafficDown }: Known): boolean {
  return checksDown || trafficDown;
}

function toState(known: Known, { passive }: BalanceEntry): AddressState {
  const { backendId, address, checksDown, trafficFailures } = known;
  const trialMs = checksDown ? undefined : (passive?.downMs ?? defaultDownMs);
  return { backendId, address, isDown: isDown(known), isFailing: trafficFailures > 0, trialMs };
}

function toHealth(known: Known): AddressHealth {
  const { backendId, address, sinceMs, by, trafficFailures, check, cause } = known;
  const failures = Math.max(trafficFailures, check?.ok === false ? check.streak : 0);
  const isUnchecked = check === undefined && trafficFailures === 0 && sinceMs === undefined;
  return {
    backendId,
    address,
    state: isDown(known) ? 'down' : isUnchecked ? 'unchecked' : 'up',
    sinceMs,
    by,
    failures,
    cause: failures > 0 || isDown(known) ? cause : undefined,
    check: check && { atMs: check.atMs, ok: check.ok, tookMs: check.tookMs },
  };
}
