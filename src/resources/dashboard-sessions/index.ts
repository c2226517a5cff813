import type { ProviderSignIn } from '../../api/dashboard/provider-sign-in.ts';
import { endedByDeactivation, principals, providerUsers } from '../principals/service.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import { sealPlainRows, storedSecrets } from '../stored-secrets.ts';
import { contextOf } from './login-checks.ts';
import { loginSeconds, ProviderLogin } from './provider-login.ts';
import { dashboardSessions, providerSignIn } from './service.ts';
import { StoredSessions } from './sessions.ts';
import { deleteSessionsOf, migrations } from './table.ts';

/** Sessions of the dashboard: begun with a token or at a provider, kept as hashes. They have routes of their own in the API. */
export const dashboardSessionsResource: Resource = {
  migrations,
  schemas: [],
  operations: () => [],
  provide(context) {
    const { services, settings } = context;
    const login = settings.signIn && new ProviderLogin(context, settings.signIn);
    const sessions = new StoredSessions(context, login);
    services.provide(dashboardSessions, sessions);
    services.add(endedByDeactivation, { deleteOf: deleteSessionsOf });
    if (login !== undefined) services.provide(providerSignIn, createSignIn(context, login, sessions));
    services.add(storedSecrets, {
      // A session whose token does not open ends, and is no reason not to start.
      oldest: async () => undefined,
      sealPlain: () =>
        sealPlainRows(context, { table: 'dashboard_sessions', id: 'hash', column: 'refresh_token', contextOf }),
    });
  },
};

function createSignIn({ services }: ResourceContext, login: ProviderLogin, sessions: StoredSessions): ProviderSignIn {
  const { label, provider } = login.settings;
  return {
    label,
    lastsSeconds: loginSeconds,
    accountIds: () => services.get(principals).accountIds(),
    begin: (isAgain, accountId) => login.begin(isAgain, accountId),
    async finish(answer, call) {
      const confirmed = await login.confirm(answer);
      const user = await services.get(providerUsers).admit(confirmed.person, call, confirmed.accountId);
      if ('accounts' in user) return user;
      return sessions.beginAtProvider(user, confirmed, provider.issuer, call);
    },
    signOutUrl: () => login.signOutUrl(),
  };
}
