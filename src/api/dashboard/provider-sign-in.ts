import type { IpAddress } from '../../lib/ip/address.ts';
import type { NewSession, SessionIdentity } from '../admission/caller.ts';

/** Signs people in to the dashboard with an identity provider. */
export interface ProviderSignIn {
  /** The name by which people know the provider. */
  readonly label: string;
  /** Seconds in which a sign-in must be finished. */
  readonly lastsSeconds: number;
  /** Accounts that somebody could enter. */
  accountIds(): Promise<readonly string[]>;
  /** `isAgain`: the person wants to be asked, also if the provider knows who it is. */
  begin(isAgain: boolean, accountId?: string): Promise<BegunSignIn>;
  /** Throws a `UserError` for whoever is not let in; its `cause` is for the log. */
  finish(answer: ProviderAnswer, call: SignInCall): Promise<FinishedSignIn | AccountChoice>;
  /** Where a person can sign out at the provider too. */
  signOutUrl(): Promise<string | undefined>;
}

/** Two secrets bind a sign-in to the browser: cookies go to every port of the host, so that neither is enough alone. */
export interface BegunSignIn {
  /** The page of the provider that asks who it is. */
  readonly url: string;
  /** The sealed value of its cookie. */
  readonly cookie: string;
  /** The secret that the page keeps. */
  readonly secret: string;
}

/** Several accounts know the address of a person, who must say which one is meant. */
export interface AccountChoice {
  readonly accounts: readonly { readonly id: string; readonly name: string }[];
}

export interface ProviderAnswer {
  /** The query of the address that the provider has led back to. */
  readonly query: string;
  readonly secret: string;
  /** Values of the cookie, one of which must be that of the sign-in. */
  readonly cookies: readonly string[];
}

export interface SignInCall {
  readonly operationId: string;
  readonly source: IpAddress;
  /** Throws where the account lets nobody in from the source. Nothing is changed before it. */
  readonly admit: (accountId: string) => void;
}

export interface FinishedSignIn {
  readonly identity: SessionIdentity;
  readonly session: NewSession;
}
