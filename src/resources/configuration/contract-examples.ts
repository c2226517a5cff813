import { unique } from '../../../test/contract/support/examples.ts';
import type { ResourceExamples } from '../../../test/contract/support/examples.ts';

export const examples: ResourceExamples = {
  ConfigurationApply: () => [
    { kind: 'ip_policies', name: `office-${unique()}`, rules: [{ cidr: '192.0.2.0/24', action: 'allow' }] },
    { kind: 'static_backends', name: `app-${unique()}`, address: 'app.internal:8080' },
  ],
  // Before the change, whose version its id has.
  ConfigurationReturn: async (account) => {
    const { id } = await account.make('/changes');
    return { at: String(Number(id.slice('chg_'.length, -6)) - 1) };
  },
};
