import { oneLine } from '../../lib/terminal-text.ts';
import type { Queries } from '../../store/database.ts';
import { apiKeyOwners } from '../api-keys/service.ts';
import type { HostCommand, HostOption } from '../host-command.ts';
import { roles } from '../../api/admission/roles.ts';
import type { Role } from '../../api/admission/roles.ts';
import { createAccount, deletePrincipal, findAccountByName, hostActor, insertUser } from './directory.ts';
import { accounts, users } from './table.ts';
import type { Account, User } from './table.ts';

const accountOption: HostOption = {
  flag: '--account <account>',
  description: 'id or name of the account; may be left out while there is only one',
  required: false,
};

const accountsCreate: HostCommand = {
  name: 'accounts create',
  summary: 'make another account',
  options: [{ flag: '--name <name>', description: 'a name for people, unique in this installation', required: true }],
  async run({ store }, { name = '' }) {
    checkName(name);
    const account = await store.write(hostActor(''), async (transaction) => {
      if ((await findAccountByName(transaction, name)) !== undefined) {
        throw new Error(`an account named ${JSON.stringify(name)} exists already`);
      }
      return createAccount(transaction, name);
    });
    return `${account.id}  ${account.name}`;
  },
};

const accountsList: HostCommand = {
  name: 'accounts list',
  summary: 'list the accounts',
  options: [],
  async run({ store }) {
    const all = await listAccounts(store.queries);
    return all.map(({ id, name, created_at }) => `${id}  ${created_at}  ${name}`).join('\n');
  },
};

const usersCreate: HostCommand = {
  name: 'users create',
  summary: 'make a user with a first API key, whose token is printed once',
  options: [
    accountOption,
    { flag: '--name <name>', description: 'a name for people, unique in the account', required: true },
    { flag: '--role <role>', description: 'what the user may do', required: true, choices: roles },
  ],
  async run({ store, services }, { account, name = '', role }) {
    checkName(name);
    const { id: accountId } = await chooseAccount(store.queries, account);
    const { user, token } = await store.write(hostActor(accountId), async (transaction) => {
      // The command line lets nothing else through than `choices`.
      const wanted: User = { ...users.newDocument(accountId), name, role: role as Role, active: true };
      const created = await insertUser(transaction, wanted);
      const key = { accountId, ownerId: created.id, description: `first key of ${name}` };
      return { user: created, token: (await services.get(apiKeyOwners).create(transaction, key)).token };
    });
    return `${user.id}  ${user.role}  ${user.name}\ntoken (shown once): ${token}`;
  },
};

const accountsUsers: HostCommand = {
  name: 'accounts users',
  summary: 'list the users of an account',
  options: [accountOption],
  async run({ store }, { account }) {
    const { id } = await chooseAccount(store.queries, account);
    return (await listUsers(store.queries, id))
      .map(
        ({ id: userId, role, name, active }) => `${userId}  ${role}  ${oneLine(name)}${active ? '' : '  deactivated'}`,
      )
      .join('\n');
  },
};

const usersDelete: HostCommand = {
  name: 'users delete',
  summary: 'delete a user and all its API keys, at once',
  options: [accountOption, { flag: '<id>', description: 'id of the user', required: true }],
  async run({ store, services }, { account, id = '' }) {
    const { id: accountId } = await chooseAccount(store.queries, account);
    const user = await store.write(hostActor(accountId), async (transaction) => {
      const existing = await users.find(transaction, accountId, id);
      if (existing === undefined) throw new Error(`there is no user ${JSON.stringify(id)} in ${accountId}`);
      await services.get(apiKeyOwners).deleteOwnedBy(transaction, accountId, id);
      await users.delete(transaction, existing);
      await deletePrincipal(transaction, id);
      return existing;
    });
    return `deleted ${user.id}  ${user.name}, with its API keys`;
  },
};

const keysCreate: HostCommand = {
  name: 'keys create',
  summary: 'make another API key for a user, whose token is printed once',
  options: [
    accountOption,
    { flag: '--user <user>', description: 'id or name of the user who owns the key', required: true },
    { flag: '--description <text>', description: 'what the key is for', required: false },
  ],
  async run({ store, services }, { account, user: wanted = '', description = 'made on the host' }) {
    const { id: accountId } = await chooseAccount(store.queries, account);
    if (Buffer.byteLength(description) > 255) throw new Error('the description is longer than 255 bytes');
    const { id, token } = await store.write(hostActor(accountId), async (transaction) => {
      const all = await listUsers(transaction, accountId);
      const user = all.find((each) => each.id === wanted || each.name === wanted);
      if (user === undefined) {
        const known = all.map((each) => `${each.id} (${each.name})`).join(', ');
        throw new Error(`there is no user ${JSON.stringify(wanted)} in ${accountId}; there are: ${known}`);
      }
      return services.get(apiKeyOwners).create(transaction, { accountId, ownerId: user.id, description });
    });
    return `${id}\ntoken (shown once): ${token}`;
  },
};

export const hostCommands: readonly HostCommand[] = [
  accountsCreate,
  accountsList,
  accountsUsers,
  usersCreate,
  usersDelete,
  keysCreate,
];

/** Finds an account by id or name; the only one if none is named. */
async function chooseAccount(queries: Queries, wanted: string | undefined): Promise<Account> {
  const all = await listAccounts(queries);
  const [only] = all;
  if (wanted === undefined && all.length === 1 && only !== undefined) return only;
  const chosen = all.find(({ id, name }) => id === wanted || name === wanted);
  if (chosen !== undefined) return chosen;
  const known = all.map(({ id, name }) => `${id} (${name})`).join(', ');
  throw new Error(
    wanted === undefined
      ? `name an account with --account; there are: ${known}`
      : `there is no account ${JSON.stringify(wanted)}; there are: ${known}`,
  );
}

async function listAccounts(queries: Queries): Promise<readonly Account[]> {
  const rows = await queries.all('SELECT document FROM accounts ORDER BY id');
  return rows.map((row) => accounts.parse(row));
}

async function listUsers(queries: Queries, accountId: string): Promise<readonly User[]> {
  const rows = await queries.all('SELECT document FROM users WHERE account_id = $1 ORDER BY id', [accountId]);
  return rows.map((row) => users.parse(row));
}

function checkName(name: string): void {
  if (name.trim() === '') throw new Error('the name must not be empty');
}
