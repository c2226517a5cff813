import type { Principal } from '../../api/admission/caller.ts';
import { newId } from '../../lib/ids.ts';
import type { Actor } from '../../store/write/change-log.ts';
import { whenReady } from '../../lib/awaitable.ts';
import type { Queries } from '../../store/database.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import type { Store } from '../../store/store.ts';
import { checkPerson } from './people.ts';
import type { Principals } from './service.ts';
import { accounts, botUsers, users } from './table.ts';
import type { Account, BotUser, User } from './table.ts';

/** Finds users and bots, from memory where it can. */
export function createDirectory(store: Store): Principals {
  return {
    find(accountId, id) {
      if (isBot(id)) {
        const bot = store.find(botUsers, accountId, id);
        return whenReady(bot, (found) => toPrincipal(found, botPrincipal));
      }
      const user = store.find(users, accountId, id);
      return whenReady(user, (found) => toPrincipal(found, userPrincipal));
    },
    async load(transaction, accountId, id) {
      return isBot(id)
        ? toPrincipal(await botUsers.find(transaction, accountId, id), botPrincipal)
        : toPrincipal(await users.find(transaction, accountId, id), userPrincipal);
    },
    async describe(accountId, id) {
      const found = await (isBot(id) ? store.find(botUsers, accountId, id) : store.find(users, accountId, id));
      return { id, kind: isBot(id) ? 'bot' : 'user', name: found?.name ?? '' };
    },
    async userNames(accountId, limit) {
      const sql = `SELECT id, name FROM users WHERE account_id = $1 ORDER BY id DESC LIMIT ${limit}`;
      return (await store.queries.all(sql, [accountId])).map(([id, name]) => ({ id: String(id), name: String(name) }));
    },
    async accountName(accountId) {
      return (await store.find(accounts, accountId, accountId))?.name ?? '';
    },
    async accountIds() {
      return (await store.queries.all('SELECT id FROM accounts ORDER BY id')).map(([id]) => String(id));
    },
    async countAccounts() {
      const [row] = await store.queries.all('SELECT count(*) FROM accounts');
      return Number(row?.[0]);
    },
  };
}

const botStart = `${botUsers.prefix}_`;

function isBot(id: string): boolean {
  return id.startsWith(botStart);
}

function botPrincipal({ id, account_id, active }: BotUser): Principal {
  return { id, accountId: account_id, role: 'member', active };
}

function userPrincipal({ id, account_id, role, active }: User): Principal {
  return { id, accountId: account_id, role, active };
}

/** Documents in memory are never changed, only replaced: a document has one principal for as long as it is kept. */
const known = new WeakMap<object, Principal>();

function toPrincipal<Document extends object>(
  document: Document | undefined,
  make: (document: Document) => Principal,
): Principal | undefined {
  if (document === undefined) return undefined;
  let principal = known.get(document);
  if (principal === undefined) {
    principal = make(document);
    known.set(document, principal);
  }
  return principal;
}

/** The command line of the machine itself, which may do everything. */
export function hostActor(accountId: string): Actor {
  return { id: 'host', accountId, operationId: newId('op') };
}

export async function createAccount(transaction: Transaction, name: string): Promise<Account> {
  const begun = accounts.newDocument('');
  return accounts.insert(transaction, { ...begun, account_id: begun.id, name });
}

export async function insertUser(transaction: Transaction, user: User): Promise<User> {
  await checkPerson(transaction, user);
  await insertPrincipal(transaction, user);
  return users.insert(transaction, user);
}

export async function insertPrincipal(transaction: Transaction, { id, account_id }: User | BotUser): Promise<void> {
  await transaction.run('INSERT INTO principals (id, account_id) VALUES ($1, $2)', [id, account_id]);
}

export async function deletePrincipal(transaction: Transaction, id: string): Promise<void> {
  await transaction.run('DELETE FROM principals WHERE id = $1', [id]);
}

export async function findAccountByName(queries: Queries, name: string): Promise<Account | undefined> {
  const [row] = await queries.all('SELECT document FROM accounts WHERE name = $1', [name]);
  return row && accounts.parse(row);
}

export async function hasAccounts(queries: Queries): Promise<boolean> {
  const rows = await queries.all('SELECT 1 FROM accounts LIMIT 1');
  return rows.length > 0;
}
