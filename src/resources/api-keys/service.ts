import type { Authenticator, Identity } from '../../api/admission/caller.ts';
import type { Awaitable } from '../../lib/awaitable.ts';
import type { Queries } from '../../store/database.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import type { OwnedByBots } from '../principals/service.ts';
import { serviceKey } from '../services.ts';
import type { KeyUses } from './key-uses.ts';

export interface ApiKeys extends OwnedByBots {
  /** The token is in the answer only; nothing can show it again. */
  create(transaction: Transaction, request: NewApiKey): Promise<{ readonly id: string; readonly token: string }>;
  /** The IP policies that must allow the source of calls with this key; none where it is good from anywhere. */
  policiesOf(queries: Queries, keyId: string): Promise<readonly string[]>;
  /** How many keys these owners have, and when one of them was last used. */
  usesBy(queries: Queries, ownerIds: readonly string[]): Promise<ReadonlyMap<string, OwnedKeys>>;
  descriptionOf(accountId: string, keyId: string): Promise<string | undefined>;
}

export interface OwnedKeys {
  readonly keys: number;
  readonly lastUsedAt: string | undefined;
}

export interface NewApiKey {
  readonly accountId: string;
  readonly ownerId: string;
  readonly description: string;
  /** Chosen by the operator of the machine; generated when undefined. */
  readonly token?: string | undefined;
}

/** Authenticates tokens, and later what was made with one of them, for as long as that token is valid. */
export interface TokenAuthenticator extends Authenticator {
  /** The hash by which the token is known later. */
  hashOf(token: string): string;
  /** Throws, as for the token itself, once it is revoked, replaced or expired, or its owner is gone or inactive. */
  authenticateAgain(keyId: string, tokenHash: string, isUse: boolean): Awaitable<Identity>;
}

export const apiKeyOwners = serviceKey<ApiKeys>('API keys');
export const keyUses = serviceKey<KeyUses>('uses of API keys');
export const authenticator = serviceKey<TokenAuthenticator>('authenticator');
