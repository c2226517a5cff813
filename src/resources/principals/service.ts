import type { Principal } from '../../api/caller.ts';
import type { Awaitable } from '../../store/database.ts';
import type { Transaction } from '../../store/group-commit.ts';
import { serviceKey } from '../services.ts';

export interface Principals {
  /** From memory where it can be. */
  find(accountId: string, id: string): Awaitable<Principal | undefined>;
  /** As the database has it, inside a write. */
  load(transaction: Transaction, accountId: string, id: string): Promise<Principal | undefined>;
}

export interface Bootstrap {
  /** Gives an empty database one account, one admin and one API key. Answers its token then, and undefined ever after. */
  run(token: string | undefined): Promise<string | undefined>;
}

export const principals = serviceKey<Principals>('principals');
export const bootstrap = serviceKey<Bootstrap>('bootstrap');
