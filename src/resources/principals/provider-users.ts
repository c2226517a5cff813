import type { Principal } from '../../api/admission/caller.ts';
import type { AccountChoice } from '../../api/dashboard/provider-sign-in.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import type { ErrorDefinition } from '../../errors/user-error.ts';
import { comparableEmail } from '../../lib/email-address.ts';
import { newId } from '../../lib/ids.ts';
import type { Person } from '../../sign-in/claims.ts';
import type { Queries } from '../../store/database.ts';
import type { Stored } from '../../store/table.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import type { OperatorSignIn, ResourceContext } from '../resource.ts';
import { insertUser } from './directory.ts';
import { accountUnclear, addressOfAnother, addressUnverified, nobodyHere, userDeactivated } from './errors.ts';
import { isOver } from './people.ts';
import { principals } from './service.ts';
import type { ProviderUsers } from './service.ts';
import { matches, roleIn } from './sign-in-rules.ts';
import type { AccountRule, GivenRole } from './sign-in-rules.ts';
import { accounts, invitations, loginOf, users } from './table.ts';
import type { Invitation, User } from './table.ts';

/** Who somebody is here, or becomes: a user, whoever an invitation names, or somebody whom a rule lets in. */
interface Found {
  readonly accountId: string;
  readonly user?: User;
  readonly invitation?: Invitation;
  readonly given: GivenRole | undefined;
}

type Candidates = readonly [Found, ...Found[]];

/** Finds users by who they are at the provider, and makes those whom an invitation or a rule lets in. */
export function createProviderUsers(context: ResourceContext, settings: OperatorSignIn): ProviderUsers {
  const { store, services } = context;
  const { label, warn, provider } = settings;
  const { issuer } = provider;

  return {
    async admit(person, call, chosen) {
      const [found, ...others] = await findAll(store.queries, person, chosen);
      if (others.length > 0) return nameAccounts([found, ...others]);
      call.admit(found.accountId);
      const { accountId, user, given } = found;
      const wanted = user && changed(user, given, person);
      if (user !== undefined && wanted !== undefined && isSame(user, wanted)) return toPrincipal(user);
      const begun = users.newDocument(accountId);
      // Nobody gives a role to themselves: that of a user who was there before is changed by the provider.
      const id = user === undefined ? begun.id : user.role === wanted?.role ? user.id : 'provider';
      const { operationId, source } = call;
      const actor = { id, accountId, operationId, call: { source, scope: 'dashboard' } } as const;
      return toPrincipal(await store.write(actor, (transaction) => write(transaction, person, begun, chosen)));
    },
    async refresh({ id, accountId }, person) {
      const look = async (queries: Queries) => {
        const user = await users.find(queries, accountId, id);
        if (user === undefined) throw refusal(nobodyHere, person);
        return { user, given: roleIn(await readRules(queries), person, accountId) };
      };
      const { user, given } = await look(store.queries);
      if (isSame(user, changed(user, given, person))) return;
      await store.write({ id: 'provider', accountId, operationId: newId('op') }, async (transaction) => {
        const now = await look(transaction);
        await update(transaction, now.user, changed(now.user, now.given, person));
      });
    },
  };

  /**
   * Who somebody may be: one, or those of several accounts that know the address. Anybody can have an address invited, or
   * give it to a user of theirs: an account is chosen by the person, and never by what another account says.
   */
  async function findAll(queries: Queries, person: Person, chosen: string | undefined): Promise<Candidates> {
    const rules = await readRules(queries);
    const login = loginOf({ issuer, subject: person.subject });
    const [row] = await queries.all('SELECT document FROM users WHERE login = $1', [login]);
    if (row !== undefined) {
      const user = users.parse(row);
      checkUser(person, user);
      return [{ accountId: user.account_id, user, given: roleIn(rules, person, user.account_id) }];
    }
    const byRule = rules.find((rule) => matches(rule, person))?.accountId;
    const known = (await findByAddress(queries, person)).filter(
      ({ accountId }) => byRule === undefined || accountId === byRule,
    );
    const usable = known.filter(({ user }) => user === undefined || faultOf(person, user) === undefined);
    const [first, ...others] = usable
      .filter(({ accountId }) => chosen === undefined || accountId === chosen)
      .map((each) => ({ ...each, given: roleIn(rules, person, each.accountId) }));
    if (first !== undefined) return [first, ...others];
    if (usable.length > 0) throw refusal(accountUnclear, person);
    for (const { user } of known) if (user !== undefined) checkUser(person, user);
    if (byRule !== undefined) return [{ accountId: byRule, given: roleIn(rules, person, byRule) }];
    throw refusal(person.email !== undefined && !person.emailVerified ? addressUnverified : nobodyHere, person);
  }

  /** Users and open invitations with the address, one for each account. */
  async function findByAddress(
    queries: Queries,
    { email, emailVerified }: Person,
  ): Promise<readonly Omit<Found, 'given'>[]> {
    if (!emailVerified || email === undefined) return [];
    const address = [comparableEmail(email)];
    const members = (await queries.all('SELECT document FROM users WHERE email = $1', address)).map((row) => {
      const user = users.parse(row);
      return { accountId: user.account_id, user };
    });
    const invited = (await queries.all('SELECT document FROM invitations WHERE email = $1', address))
      .map((row) => invitations.parse(row))
      .filter((each) => !isOver(each) && !members.some(({ accountId }) => accountId === each.account_id));
    const good: Omit<Found, 'given'>[] = [...members];
    for (const invitation of invited) {
      const { account_id: accountId, invited_by: by } = invitation;
      const inviter = await users.find(queries, accountId, by);
      if (inviter?.active === true && inviter.role === 'admin') good.push({ accountId, invitation });
    }
    return good;
  }

  async function nameAccounts(candidates: Candidates): Promise<AccountChoice> {
    const named = candidates.map(async ({ accountId: id }) => ({
      id,
      name: await services.get(principals).accountName(id),
    }));
    return { accounts: await Promise.all(named) };
  }

  function checkUser(person: Person, user: User): void {
    const fault = faultOf(person, user);
    if (fault !== undefined) throw refusal(fault, person);
  }

  function faultOf({ subject }: Person, user: User): typeof userDeactivated | undefined {
    if (!user.active) return userDeactivated;
    // Addresses are given to others in time. Somebody else at the same provider is not this user.
    const isOther = user.sign_in?.issuer === issuer && user.sign_in.subject !== subject;
    return isOther ? addressOfAnother : undefined;
  }

  /** A write has an order among all others: what was found before it may have changed. */
  async function write(
    transaction: Transaction,
    person: Person,
    begun: Stored,
    chosen: string | undefined,
  ): Promise<User> {
    const [{ accountId, user, invitation, given }, ...others] = await findAll(transaction, person, chosen);
    // The restrictions of the one account were asked, and not those of the other.
    if (others.length > 0 || accountId !== begun.account_id) throw refusal(accountUnclear, person);
    if (user !== undefined) return update(transaction, user, changed(user, given, person));
    if (invitation !== undefined) await invitations.delete(transaction, invitation);
    const role = (given?.byGroup ? given.role : (invitation?.role ?? given?.role)) ?? 'viewer';
    const email = invitation?.email ?? (person.emailVerified ? person.email : undefined);
    return insertUser(transaction, {
      ...begun,
      name: invitation?.name ?? (await freeName(transaction, accountId, person)),
      role,
      active: true,
      ...(email === undefined ? {} : { email }),
      sign_in: { issuer, subject: person.subject, role_by_group: given?.byGroup ?? false },
    });
  }

  /** The user as the provider has them now. Throws where the groups that gave the role do so no more. */
  function changed(user: User, given: GivenRole | undefined, person: Person): User {
    const hadByGroup = user.sign_in?.role_by_group ?? false;
    if (hadByGroup && given === undefined) throw refusal(nobodyHere, person);
    const byGroup = hadByGroup || given?.byGroup === true;
    const sign_in = { issuer, subject: person.subject, role_by_group: byGroup };
    return { ...user, role: byGroup && given !== undefined ? given.role : user.role, sign_in };
  }

  /** Takes the role of the last admin from nobody: then it stays, and the log says so. */
  async function update(transaction: Transaction, before: User, wanted: User): Promise<User> {
    const isLast = before.role === 'admin' && wanted.role !== 'admin' && !(await hasOtherAdmin(transaction, before));
    if (isLast)
      warn(
        { user: before.id, account: before.account_id, role: wanted.role },
        'groups at the identity provider no longer make this user an admin, but it is the last one of the account: the role stays. Make somebody else an admin',
      );
    const after = isLast ? { ...wanted, role: before.role } : wanted;
    return isSame(before, after) ? before : users.update(transaction, before, after);
  }

  async function hasOtherAdmin(queries: Queries, { id, account_id }: User): Promise<boolean> {
    const rows = await queries.all('SELECT document FROM users WHERE account_id = $1 AND id <> $2', [account_id, id]);
    return rows.map((row) => users.parse(row)).some(({ role, active }) => role === 'admin' && active);
  }

  /** Rules whose account exists. A rule without one is about the only account. */
  async function readRules(queries: Queries): Promise<readonly AccountRule[]> {
    return (await resolveRules(queries, settings)).flatMap(({ rule, accountId }) =>
      accountId === undefined ? [] : [{ ...rule, accountId }],
    );
  }

  function refusal(definition: ErrorDefinition<'person' | 'provider'>, person: Person): UserError {
    const who = quote(person.email ?? person.name ?? person.subject);
    const fault = new UserError(definition, { person: who, provider: label });
    const { subject, email, emailVerified, groups } = person;
    fault.cause = new Error(
      `refused: ${JSON.stringify({ subject, email, emailVerified, groups: groups.slice(0, 50) })}`,
    );
    return fault;
  }
}

/** The account of each rule; undefined where there is none of that name, or where it is not clear which. */
export async function resolveRules(queries: Queries, { rules }: Pick<OperatorSignIn, 'rules'>) {
  if (rules.length === 0) return [];
  const all = (await queries.all('SELECT document FROM accounts ORDER BY id')).map((row) => accounts.parse(row));
  return rules.map((rule) => {
    const { account } = rule;
    const named = all.find(({ id, name }) => id === account || name === account);
    return { rule, accountId: account === undefined && all.length === 1 ? all[0]?.id : named?.id };
  });
}

/** The name of somebody, with more behind it where another has the same. */
async function freeName(queries: Queries, accountId: string, { name, email, subject }: Person): Promise<string> {
  const first = name?.replaceAll(/\p{Cc}+/gu, ' ').trim() || (email ?? subject);
  const others = [first, ...(email === undefined ? [] : [`${first} (${email})`]), `${first} (${subject})`];
  const sql = (table: string) => `SELECT 1 FROM ${table} WHERE account_id = $1 AND name = $2`;
  for (const each of others) {
    const taken = [
      ...(await queries.all(sql('users'), [accountId, each])),
      ...(await queries.all(sql('invitations'), [accountId, each])),
    ];
    if (taken.length === 0) return each;
  }
  return `${first} (${newId('op').slice(-8)})`;
}

function isSame(one: User, other: User): boolean {
  return one.role === other.role && JSON.stringify(one.sign_in) === JSON.stringify(other.sign_in);
}

function toPrincipal({ id, account_id, role, active }: User): Principal {
  return { id, accountId: account_id, role, active };
}
