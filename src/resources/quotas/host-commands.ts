import { nearestName } from '../../lib/nearest-name.ts';
import { formatTable } from '../../lib/text-table.ts';
import type { Queries, Value } from '../../store/database.ts';
import type { ObservationWriter } from '../../store/write/transaction.ts';
import type { HostCommand, HostOption } from '../host-command.ts';
import { quotas } from './table.ts';

const largest = 1_000_000_000;
const example = 'edges=50000,api_keys=default';

const accountOption: HostOption = {
  flag: '--account <account>',
  description: 'id or name of the account; without it, the defaults of all accounts that have no quota of their own',
  required: false,
};

const accountsQuotas: HostCommand = {
  name: 'accounts quotas',
  summary: 'show the quotas of an account with what is used, or the defaults, and change them at once',
  options: [accountOption, { flag: '--set <quotas>', description: `such as ${example}`, required: false }],
  async run({ store }, { account, set }) {
    const accountId = account === undefined ? undefined : await findAccount(store.queries, account);
    if (set !== undefined) {
      const wanted = readQuotas(set);
      await store.writeUnlogged(async (writer) => {
        for (const [name, most] of wanted) await setQuota(writer, name, most, accountId);
      });
    }
    return list(store.queries, accountId);
  },
};

export const hostCommands: readonly HostCommand[] = [accountsQuotas];

async function setQuota(
  writer: ObservationWriter,
  name: string,
  most: number | null,
  accountId: string | undefined,
): Promise<void> {
  if (accountId === undefined) {
    const shipped = most ?? quotas[name]?.most ?? 0;
    await writer.run('UPDATE default_quotas SET most = $2 WHERE quota = $1', [name, shipped]);
    await writer.run('UPDATE account_usage SET most = $2 WHERE quota = $1 AND is_own = 0', [name, shipped]);
  } else if (most === null) {
    await writer.run(
      `UPDATE account_usage SET is_own = 0, most = (SELECT most FROM default_quotas WHERE quota = $1)
       WHERE quota = $1 AND account_id = $2`,
      [name, accountId],
    );
  } else {
    const sql = 'UPDATE account_usage SET is_own = 1, most = $3 WHERE quota = $1 AND account_id = $2';
    await writer.run(sql, [name, accountId, most]);
  }
}

type Pairs = readonly (readonly [string, Value])[];

async function list(queries: Queries, accountId: string | undefined): Promise<string> {
  const names = Object.keys(quotas);
  if (accountId === undefined) {
    const limits = new Map((await queries.all('SELECT quota, most FROM default_quotas')) as Pairs);
    const used = new Map((await queries.all('SELECT quota, MAX(used) FROM account_usage GROUP BY quota')) as Pairs);
    const rows = names.map((name) => [name, Number(limits.get(name)), Number(used.get(name))]);
    return formatTable(['quota', 'default', 'most used'], rows);
  }
  const sql = 'SELECT quota, used, most, is_own FROM account_usage WHERE account_id = $1';
  const byName = new Map((await queries.all(sql, [accountId])).map((row) => [String(row[0]), row]));
  const rows = names.map((name) => {
    const [, used, limit, isOwn] = byName.get(name) ?? [];
    return [name, Number(used), Number(limit), isOwn === 1 ? 'its own' : ''];
  });
  return formatTable(['quota', 'used', 'limit', ''], rows);
}

/** Null stands for the default: that of all accounts, or where those are set, the one that was shipped. */
function readQuotas(text: string): readonly (readonly [name: string, most: number | null])[] {
  return text.split(',').map((part) => {
    const [name = '', value = ''] = part.split('=').map((side) => side.trim());
    if (!Object.hasOwn(quotas, name)) {
      const known = Object.keys(quotas);
      const nearest = nearestName(name, known);
      const hint = nearest === undefined ? `there are: ${known.join(', ')}` : `do you mean ${nearest}?`;
      throw new Error(`there is no quota ${JSON.stringify(name)}; ${hint}`);
    }
    if (value === 'default') return [name, null];
    const most = /^\d+$/.test(value) ? Number(value) : Number.NaN;
    if (!(most <= largest))
      throw new Error(`${name}: write a whole number from 0 to ${largest}, or the word default, such as ${example}`);
    return [name, most];
  });
}

async function findAccount(queries: Queries, wanted: string): Promise<string> {
  const [row] = await queries.all('SELECT id FROM accounts WHERE id = $1 OR name = $1', [wanted]);
  if (row === undefined) throw new Error(`there is no account ${JSON.stringify(wanted)}; see "accounts list"`);
  return String(row[0]);
}
