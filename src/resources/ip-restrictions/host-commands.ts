import { newId } from '../../lib/ids.ts';
import { oneLine } from '../../lib/terminal-text.ts';
import type { HostCommand } from '../host-command.ts';
import { ipRestrictions, withEnforced } from './table.ts';
import type { IpRestriction } from './table.ts';

const restrictionsList: HostCommand = {
  name: 'restrictions list',
  summary: 'list the IP restrictions of all accounts',
  options: [],
  async run({ store }) {
    const all = await ipRestrictions.loadMany(store.queries, undefined);
    return all.map(describe).join('\n');
  },
};

/** The way back in for those who locked themselves out. */
const restrictionsDisable: HostCommand = {
  name: 'restrictions disable',
  summary: 'stop enforcing an IP restriction: it only warns from now on',
  options: [{ flag: '<id>', description: 'id of the restriction, or "all"', required: true }],
  async run({ store }, { id = '' }) {
    const found = await ipRestrictions.loadMany(store.queries, id === 'all' ? undefined : [id]);
    const enforced = found.filter((restriction) => restriction.enforced);
    if (found.length === 0 && id !== 'all')
      throw new Error(`there is no IP restriction ${JSON.stringify(id)}; see "restrictions list"`);
    for (const restriction of enforced) {
      const actor = { id: 'host', accountId: restriction.account_id, operationId: newId('op') };
      await store.write(actor, async (transaction) => {
        const current = await ipRestrictions.load(transaction, restriction.id);
        if (current !== undefined) await ipRestrictions.update(transaction, current, withEnforced(current, false));
      });
    }
    return enforced.length === 0
      ? 'nothing to do: not enforced'
      : enforced.map((restriction) => `${restriction.id}  now only warns`).join('\n');
  },
};

export const hostCommands: readonly HostCommand[] = [restrictionsList, restrictionsDisable];

function describe({ id, account_id, type, enforced, description = '' }: IpRestriction): string {
  return `${id}  ${account_id}  ${type}  ${enforced ? 'enforced' : 'warns only'}  ${oneLine(description)}`.trimEnd();
}
