import type { EventTarget, OutgoingEvent, Place } from './event.ts';

/** Progress of the events of a subscription at one of its destinations. Times are RFC 3339. */
export interface DeliveryState {
  /** Events up to this place have been sent, or have been given up. */
  readonly place: Place;
  /** Attempts with the next event that have failed. */
  readonly failures: number;
  readonly failingSince?: string | undefined;
  /** Not tried before. */
  readonly retriesAt?: string | undefined;
  /** The reason why the last attempt failed. */
  readonly error?: string | undefined;
  readonly sentAt?: string | undefined;
  /** Events of which nothing is kept, since the last write: too many were given up, or the log was shortened before they were sent. */
  readonly lost: number;
}

/** The events of one subscription on their way to one of its destinations. */
export interface Delivery {
  readonly subscriptionId: string;
  readonly destinationId: string;
  readonly accountId: string;
  /** Names the gateway whose decisions the events are made of; empty for the log of changes. */
  readonly source: string;
  /** Each with the version behind which it counts. */
  readonly types: ReadonlyMap<string, number>;
  readonly state: DeliveryState;
}

export interface Destination {
  readonly accountId: string;
  readonly target: EventTarget;
  readonly deliveries: readonly Delivery[];
}

/** Events behind a place. */
export interface NextEvents {
  /** In order. */
  readonly found: readonly Place[];
  /** There is none before this place but those that were found. */
  readonly seen: Place;
  readonly isEnd: boolean;
  /** True: the log was shortened since, and events may be missing; what a gateway has removed is missing. */
  readonly isCut: boolean;
}

/** What a write notes of a delivery. */
export interface Progress {
  readonly state: DeliveryState;
  /** Events that were given up, with the reason. */
  readonly givenUp?: { readonly place: Place; readonly reason: string } | undefined;
  /** Those that were given up before, and were sent now. */
  readonly sentAgain?: readonly Place[] | undefined;
}

/** The lease went to another process: nothing was written. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}

/** The gateway that has the event does not answer. */
export class SourceUnavailable extends Error {
  override readonly name = 'SourceUnavailable';
}

/** Everything that deliveries need to outlive the process. */
export interface EventStorage {
  /** Takes or renews the lease. Undefined while another process has it; `taken` if it was not ours before. */
  takeLease(holder: string, leaseMs: number): Promise<'taken' | 'renewed' | undefined>;
  releaseLease(holder: string): Promise<void>;
  /** False: nothing is to be sent anywhere. */
  hasDeliveries(): Promise<boolean>;
  /** Destinations that a subscription names, by id, behind one of them; of all accounts, or of one. */
  destinations(afterId: string, accountId?: string): Promise<readonly { id: string; accountId: string }[]>;
  load(destinationId: string): Promise<Destination | undefined>;
  next(delivery: Delivery, from: Place, most: number): Promise<NextEvents>;
  /** Events that were given up, and are to be sent again; in order. */
  againOf(delivery: Delivery, most: number): Promise<readonly Place[]>;
  /** Undefined where it is not there any more. Throws `SourceUnavailable`. */
  read(delivery: Delivery, place: Place): Promise<OutgoingEvent | undefined>;
  /** False where the delivery is gone. Throws `LeaseLostError` without the lease. */
  save(holder: string, delivery: Delivery, progress: Progress): Promise<boolean>;
}
