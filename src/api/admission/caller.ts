import type { IpAddress } from '../../lib/ip/address.ts';
import type { Awaitable } from '../../lib/awaitable.ts';
import type { Role } from './roles.ts';

/** A user or a bot. */
export interface Principal {
  readonly id: string;
  readonly accountId: string;
  /** Role of the user; every bot has that of a member. */
  readonly role: Role;
  readonly active: boolean;
}

export interface Identity {
  readonly principal: Principal;
  /** Undefined for a session that was begun at an identity provider. */
  readonly keyId: string | undefined;
  /** The key may only read. */
  readonly readOnly: boolean;
  /** The token is refused from then on, because the key ends or an overlap does; `Infinity` where it does not end. */
  readonly endsAtMs: number;
  /** Rotations of the key up to the one that made the token. */
  readonly rotation: number;
  /** IP policies of the key that must allow the source of a call; none where the key is good from anywhere. */
  readonly policyIds: readonly string[];
  /**
   * Looks from the caches whether the credential still lets in, and throws as for the credential itself if not. It is not
   * hashed again. It does not count as a use where nobody has done anything.
   */
  readonly again: (isUse: boolean) => Awaitable<Identity>;
}

/** The door by which a caller comes; restrictions of this type admit it. */
export type Scope = 'api' | 'dashboard';

/** The principal behind a call, and the address it comes from. */
export interface Caller extends Omit<Identity, 'policyIds' | 'again'> {
  readonly accountId: string;
  readonly scope: Scope;
  readonly source: IpAddress;
}

/** Finds the principal of a token, or throws the `UserError` for one that lets nobody in. */
export interface Authenticator {
  authenticate(token: string): Awaitable<Identity>;
}

/**
 * Sessions of the dashboard. Each lives as long as the token, or the login at an identity provider, that it was begun with,
 * and no longer than its time.
 */
/** The call by which somebody signs in, and whence it came. */
export interface SignInPlace {
  readonly operationId: string;
  readonly source: IpAddress;
}

export interface Sessions {
  /** Seconds without a call after which a session is over. */
  readonly idleSeconds: number;
  /** Begins a session for the holder of a valid token. */
  begin(identity: Identity, token: string, call: SignInPlace): Promise<NewSession>;
  /** Throws the `UserError` for a session that is over. */
  resume(credential: SessionCredential): Awaitable<SessionIdentity>;
  /** Undefined where there was no such session. */
  end(credential: SessionCredential): Promise<EndedSession | undefined>;
  /** Ends every session of the principal. */
  endAll(principal: Principal): Promise<void>;
  describe(identity: Identity, restrictionIds: readonly string[]): Promise<SessionDescription>;
}

/** The two secrets of a session. Cookies go to every port of the host, so that neither is enough alone. */
export interface SessionCredential {
  /** The secret that the page keeps. */
  readonly secret: string;
  /** Values of its cookie, one of which must be that of the session. */
  readonly cookies: readonly string[];
}

export interface NewSession {
  /** The secret that the page keeps, which nobody can find out again. */
  readonly secret: string;
  /** The value of its cookie, likewise. */
  readonly cookie: string;
  readonly expiresAtMs: number;
  /** Older sessions of the principal that have ended to make room. */
  readonly replaced: number;
}

export interface EndedSession {
  /** True if the session was begun at an identity provider. */
  readonly isOfProvider: boolean;
}

export interface SessionIdentity extends Identity {
  readonly expiresAtMs: number;
}

/** Names of what a session is about, as the dashboard shows them. */
export interface SessionDescription {
  readonly principal: { readonly id: string; readonly kind: 'user' | 'bot'; readonly name: string };
  /** Users of the account, by which owners of keys are named. */
  readonly users: readonly { readonly id: string; readonly name: string }[];
  /** Undefined for a session that was begun at an identity provider. */
  readonly apiKey: Described | undefined;
  readonly restrictions: readonly Described[];
}

interface Described {
  readonly id: string;
  readonly description?: string | undefined;
}
