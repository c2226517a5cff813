import type { LeftSession, VisitorIdentity, VisitorSession } from '../modules/sign-in.ts';
import type { ProviderToken } from './provider.ts';

/** A login behind a session: the token that the provider is asked with, and what it has last said of the visitor. */
export interface KeptLogin {
  readonly token: ProviderToken;
  readonly visitor: VisitorIdentity;
}

/** A wish to ask the provider about a session. Times are in seconds since 1970. */
export interface LoginClaim {
  readonly sessionId: string;
  readonly accountId: string;
  readonly now: number;
  readonly checkSeconds: number;
  /** The login of a session from before tokens were kept; it becomes the kept one where there is none. */
  readonly former: KeptLogin | undefined;
}

/**
 * `claimed`: the caller asks, nobody else does, and `release` has the outcome. `asked`: somebody has, at that time.
 * `asking`: somebody does just now. `gone`: nothing is kept of the login.
 */
export type ClaimedLogin =
  | { readonly state: 'claimed'; readonly login: KeptLogin }
  | { readonly state: 'asked'; readonly login: KeptLogin; readonly checkedAt: number }
  | { readonly state: 'asking' | 'gone' };

/**
 * Logins of visitors, which all processes share. One of them at a time asks about a login: a provider may take a refresh token
 * that comes twice for a stolen one. Each method rejects where there is no database.
 */
export interface KeptLogins {
  /** Keeps the login of a new session. */
  keep(session: VisitorSession, login: KeptLogin): Promise<void>;
  claim(claim: LoginClaim): Promise<ClaimedLogin>;
  /** Ends a claim. Without a login the provider has said nothing, and the one that is kept stays. */
  release(
    session: Pick<VisitorSession, 'id' | 'accountId'>,
    checkedAt: number,
    login: KeptLogin | undefined,
  ): Promise<void>;
  /** Writes that a session has ended before its time. Where the database is away, it is written later. */
  leave(session: LeftSession): Promise<void>;
}

/** For a gateway without a database: no login is checked. */
export const noKeptLogins: KeptLogins = {
  keep: refuse,
  claim: refuse,
  release: refuse,
  leave: refuse,
};

function refuse(): Promise<never> {
  return Promise.reject(new Error('there is no database to keep logins in'));
}
