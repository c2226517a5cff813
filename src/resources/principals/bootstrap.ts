import type { Store } from '../../store/store.ts';
import { apiKeyOwners } from '../api-keys/service.ts';
import type { Services } from '../services.ts';
import { createAccount, insertUser, hasAccounts, hostActor } from './directory.ts';
import type { Bootstrap } from './service.ts';
import { users } from './table.ts';

export function createBootstrap(store: Store, services: Services): Bootstrap {
  return {
    async run(token) {
      if (await hasAccounts(store.queries)) return undefined;
      return store.write(hostActor(''), async (transaction) => {
        // Another process may have come first.
        if (await hasAccounts(transaction)) return undefined;
        const account = await createAccount(transaction, 'default');
        const admin = await insertUser(transaction, {
          ...users.newDocument(account.id),
          name: 'admin',
          role: 'admin',
          active: true,
        });
        const key = { accountId: account.id, ownerId: admin.id, description: 'first key of this installation', token };
        return (await services.get(apiKeyOwners).create(transaction, key)).token;
      });
    },
  };
}
