import { newDescription, unique } from '../../../test/contract/support/examples.ts';
import type { ResourceExamples } from '../../../test/contract/support/examples.ts';

export const examples: ResourceExamples = {
  VaultsCreate: () => ({ name: `vault-${unique()}` }),
  VaultsUpdate: newDescription,
  VaultSecretsCreate: async (account) => ({
    name: `secret-${unique()}`,
    value: 'whsec_5WbX5kEWLlfzsGNj',
    vault_id: (await account.make('/vaults')).id,
  }),
  VaultSecretsUpdate: newDescription,
};
