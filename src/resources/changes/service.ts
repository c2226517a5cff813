import type { Reverter } from '../../api/reverter.ts';
import type { Queries } from '../../store/database.ts';
import { serviceKey, serviceListKey } from '../services.ts';

/** What undoes the changes of each kind. */
export const reverters = serviceListKey<Reverter>('reverters of changes');

/** Kind of an entry that says that somebody has signed in to the dashboard: for events, and listed by no call. */
export const operatorSignIn = 'operator_sign_in';

/** A place in the log, which sorts by version and then by position. */
export interface LogPlace {
  readonly version: number;
  readonly position: number;
}

export interface LoggedHead {
  readonly place: LogPlace;
  readonly kind: string;
  /** `created`, `updated` or `deleted`. */
  readonly action: string;
}

/** A change without secrets. */
export interface LoggedChange {
  readonly kind: string;
  readonly action: string;
  /** RFC 3339. */
  readonly at: string;
  /** Tells one history of the database from another. */
  readonly mark: string;
  /** The resource from then on, or as it was last; its id alone where it is too long. */
  readonly document: object;
  /** Null where it did not exist, or is too long. */
  readonly before: object | null;
  readonly isWhole: boolean;
  readonly change: object;
}

/** The log of changes for those who follow that of one account. */
export interface LoggedChanges {
  /** The changes of an account behind a place, in order. */
  after(queries: Queries, accountId: string, place: LogPlace, most: number): Promise<readonly LoggedHead[]>;
  /** Undefined where the log has been shortened meanwhile. */
  read(queries: Queries, accountId: string, place: LogPlace): Promise<LoggedChange | undefined>;
  /** The oldest version of which the log still has changes. */
  oldest(queries: Queries): Promise<number | undefined>;
  /** The end of the log. */
  now(queries: Queries): Promise<LogPlace>;
}

export const loggedChanges = serviceKey<LoggedChanges>('logged changes');
