import type { OperatorSignIn, Resource } from '../resource.ts';
import type { Store } from '../../store/store.ts';
import { startNotices } from '../start-notices.ts';
import { createAcceptance } from './accept-invitation.ts';
import { createBootstrap } from './bootstrap.ts';
import { BotUserCreate, botUserOperations, BotUserUpdate, BotUserView } from './bot-users.ts';
import { createDirectory } from './directory.ts';
import * as errors from './errors.ts';
import { hostCommands } from './host-commands.ts';
import { createProviderUsers, resolveRules } from './provider-users.ts';
import { InvitationCreate, invitationOperations, InvitationUpdate, InvitationView } from './invitations.ts';
import { bootstrap, invitationAcceptance, principals, providerUsers } from './service.ts';
import { migrations } from './table.ts';
import { userOperations, UserUpdate, UserView } from './users.ts';

/** Accounts, users, invitations and bots. Accounts are made on the host only. */
export const principalsResource: Resource = {
  errors: Object.values(errors),
  migrations,
  schemas: [
    BotUserView,
    BotUserCreate,
    BotUserUpdate,
    UserView,
    UserUpdate,
    InvitationView,
    InvitationCreate,
    InvitationUpdate,
  ],
  operations: (context) => [
    ...userOperations(context),
    ...invitationOperations(context),
    ...botUserOperations(context),
  ],
  provide(context) {
    const { store, services } = context;
    services.provide(principals, createDirectory(store));
    services.provide(invitationAcceptance, createAcceptance(context));
    services.provide(bootstrap, createBootstrap(store, services));
    const { signIn } = context.settings;
    if (signIn === undefined) return;
    services.provide(providerUsers, createProviderUsers(context, signIn));
    services.add(startNotices, () => noticeOfRules(store, signIn));
  },
  hostCommands,
};

/** Accounts are made while the service runs: a rule about one that is not there yet lets nobody in, and stops nothing. */
async function noticeOfRules(store: Store, signIn: OperatorSignIn): Promise<string | undefined> {
  const lost = (await resolveRules(store.queries, signIn)).filter(({ accountId }) => accountId === undefined);
  const accounts = await store.queries.all('SELECT 1 FROM accounts LIMIT 1');
  if (lost.length === 0 || accounts.length === 0) return undefined;
  const words = lost.map(({ rule: { kind, name, account } }) =>
    account === undefined
      ? `${kind}:${name} names no account, and there are several`
      : `${kind}:${name} names the account ${JSON.stringify(account)}, which there is not`,
  );
  return `rules of GATEHOUSE_OIDC_RULES let nobody in: ${words.join('; ')}. Write =ROLE@ACCOUNT with the id or the name of an account ("gatehouse accounts list")`;
}
