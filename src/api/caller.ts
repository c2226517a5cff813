import type { IpAddress } from '../lib/ip/address.ts';
import type { Awaitable } from '../store/database.ts';

/** A user or a bot. */
export interface Principal {
  readonly id: string;
  readonly accountId: string;
  /** False for every bot. */
  readonly admin: boolean;
  readonly active: boolean;
}

export interface Identity {
  readonly principal: Principal;
  readonly keyId: string;
  /** The key may only read. */
  readonly readOnly: boolean;
  /** IP policies of the key that must allow the source of a call; none where the key is good from anywhere. */
  readonly policyIds: readonly string[];
}

/** The principal behind a call, and the address it comes from. */
export interface Caller extends Omit<Identity, 'policyIds'> {
  readonly accountId: string;
  readonly source: IpAddress;
}

/** Finds the principal of a token, or throws the `UserError` for one that lets nobody in. */
export interface Authenticator {
  authenticate(token: string): Awaitable<Identity>;
}
