import type { Principal } from '../../api/admission/caller.ts';
import type { Invitations } from '../../api/dashboard/invitation-route.ts';
import type { Awaitable } from '../../lib/awaitable.ts';
import type { Person } from '../../sign-in/claims.ts';
import type { AccountChoice, SignInCall } from '../../api/dashboard/provider-sign-in.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import { serviceKey, serviceListKey } from '../services.ts';

export interface Principals {
  /** From memory where it can be. */
  find(accountId: string, id: string): Awaitable<Principal | undefined>;
  /** As the database has it, inside a write. */
  load(transaction: Transaction, accountId: string, id: string): Promise<Principal | undefined>;
  accountName(accountId: string): Promise<string>;
  accountIds(): Promise<readonly string[]>;
  countAccounts(): Promise<number>;
  /** The name is empty for one that is gone. */
  describe(accountId: string, id: string): Promise<PrincipalDescription>;
  /** Names of the users of an account, the newest first, at most so many. */
  userNames(accountId: string, limit: number): Promise<readonly { readonly id: string; readonly name: string }[]>;
}

export interface PrincipalDescription {
  readonly id: string;
  readonly kind: 'user' | 'bot';
  readonly name: string;
}

/** Users, by who they are at the identity provider. */
export interface ProviderUsers {
  /**
   * The user who somebody is, made where an invitation or a rule says so. Throws the `UserError` for anybody else.
   * `accountId` is the one that the person has chosen.
   */
  admit(person: Person, call: SignInCall, accountId?: string): Promise<Principal | AccountChoice>;
  /** Gives a user the role that the groups give now. Throws where they let in no more. */
  refresh(user: Pick<Principal, 'id' | 'accountId'>, person: Person): Promise<void>;
}

export interface Bootstrap {
  /** Gives an empty database one account, one admin and one API key. Answers its token then, and undefined ever after. */
  run(token: string | undefined): Promise<string | undefined>;
}

/** A resource whose documents belong to a bot and go with it. */
export interface OwnedByBots {
  deleteOwnedBy(transaction: Transaction, accountId: string, ownerId: string): Promise<void>;
}

/** Something that a user or bot who was deactivated does not have back when they are active again. */
export interface EndedByDeactivation {
  deleteOf(transaction: Transaction, principalId: string): Promise<void>;
}

export const principals = serviceKey<Principals>('principals');
export const invitationAcceptance = serviceKey<Invitations>('acceptance of invitations');
/** Provided where there is an identity provider. */
export const providerUsers = serviceKey<ProviderUsers>('users of an identity provider');
export const bootstrap = serviceKey<Bootstrap>('bootstrap');
export const ownedByBots = serviceListKey<OwnedByBots>('resources owned by bots');
export const endedByDeactivation = serviceListKey<EndedByDeactivation>('ended by deactivation');
