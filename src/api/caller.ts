import type { IpAddress } from '../lib/ip/address.ts';
import type { Awaitable } from '../store/database.ts';

/** A user or a bot. */
export interface Principal {
  readonly id: string;
  readonly accountId: string;
  /** A bot never is. */
  readonly admin: boolean;
  readonly active: boolean;
}

export interface Identity {
  readonly principal: Principal;
  readonly keyId: string;
}

/** Who makes a call, and from where. */
export interface Caller extends Identity {
  readonly accountId: string;
  readonly source: IpAddress;
}

/** Answers whose token it is, or throws the `UserError` that says why it is nobody's. */
export interface Authenticator {
  authenticate(token: string): Awaitable<Identity>;
}
