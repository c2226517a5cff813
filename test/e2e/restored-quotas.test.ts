import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { backUp } from '../../src/host-commands/backup.ts';
import { restore } from '../../src/host-commands/restore.ts';
import { overQuota } from '../../src/errors/shared.ts';
import { sqlitePath } from '../../src/lib/database-url.ts';
import { migrations } from '../../src/start/open-context.ts';
import { Gatehouse } from '../support/gatehouse.ts';
import { isLong } from '../support/long-form.ts';
import { createAccount, createUser, runOnHost } from '../support/people.ts';
import { createDatabase, run, startPostgres } from '../support/postgres.ts';
import { countAgain } from '../support/quota-counts.ts';
import { newSqlite } from '../support/scratch.ts';

const tcpPorts = { tcpPorts: '20600-20699' };

/** Copies a database that is in use, and gives back the URL under which the copy is found once it is restored. */
interface Copier {
  readonly url: string;
  readonly copy: () => Promise<() => Promise<string>>;
}

async function comesBackTheSame({ url, copy }: Copier): Promise<void> {
  const before = await Gatehouse.start(url, tcpPorts);
  const account = await createAccount(before);
  const { token } = await createUser(before, 'admin', account);
  const options = { token };
  const create = (path: string, body: unknown = {}) => before.create(path, body, options);
  const set = (wanted: string) => runOnHost(before, 'accounts quotas', { set: wanted, account });
  await set('edges=4, tcp_ports=2, ip_policy_rules=3, ip_policies=1');
  await runOnHost(before, 'accounts quotas', { set: 'credentials=1' });
  const { id: edgeId } = await create('/edges/https', { hostports: ['one.restored.test:443'] });
  await create('/edges/tcp', { hostports: ['any:20601', 'any:20602'] });
  const { id: policyId } = await create('/ip_policies');
  const rules = `/ip_policies/${policyId}/rules`;
  // More than there may be now: it came with a larger quota.
  await set('ip_policies=3');
  await create('/ip_policies');
  await set('ip_policies=1');
  assert.equal((await before.put(rules, ['192.0.2.0/24', '!192.0.2.66/32'], options)).status, 200);
  const quotas = (await before.get('/quotas', options)).body;
  const ofHost = await runOnHost(before, 'accounts quotas', { account });
  const bring = await copy();

  // None of this is in the copy.
  await create('/edges/https');
  await before.delete(`/edges/https/${edgeId}`, options);
  await set('edges=100, ip_policies=default, tcp_ports=default');
  await runOnHost(before, 'accounts quotas', { set: 'credentials=200' });
  await before[Symbol.asyncDispose]();

  await using after = await Gatehouse.start(await bring(), tcpPorts);
  assert.deepEqual(linksAway((await after.get('/quotas', options)).body), linksAway(quotas));
  assert.equal(await runOnHost(after, 'accounts quotas', { account }), ofHost);
  await countAgain(after);
  const refuses = async (method: string, path: string, body: unknown) => {
    const answer = await after.call(method, path, body, options);
    assert.deepEqual([answer.status, answer.body.error_code], [403, `ERR_GATEHOUSE_${overQuota.code}`], answer.text);
  };
  // The counts go on from where they were, in both directions.
  for (let made = 0; made < 2; made++) await after.create('/edges/https', {}, options);
  await refuses('POST', '/edges/https', {});
  await after.delete(`/edges/https/${edgeId}`, options);
  await after.create('/edges/https', {}, options);
  await refuses('POST', '/edges/https', {});
  await refuses('POST', '/ip_policies', {});
  assert.equal((await after.put(rules, ['192.0.2.0/24', '198.51.100.0/24', '10.0.0.0/8'], options)).status, 200);
  await refuses('PUT', rules, ['192.0.2.0/24', '198.51.100.0/24', '10.0.0.0/8', '172.16.0.0/12']);
  // The default of accounts that come later is that of the copy too.
  const later = { token: (await createUser(after, 'admin', await createAccount(after))).token };
  await after.create('/credentials', {}, later);
  assert.equal((await after.post('/credentials', {}, later)).status, 403);
  await countAgain(after);
}

/** Links name the port of the server. */
function linksAway(body: object): unknown {
  return JSON.parse(JSON.stringify(body, (name, value: unknown) => (name === 'uri' ? undefined : value)));
}

describe('quotas, and what is counted of them', () => {
  test('are in a backup of SQLite, and hold after its restore', async () => {
    const url = newSqlite();
    const path = sqlitePath(url) ?? '';
    const file = `${path}.backup`;
    await comesBackTheSame({
      url,
      async copy() {
        await backUp({ path, file, force: false });
        return async () => {
          await restore({ path, file, force: false, migrations });
          return url;
        };
      },
    });
  });

  // The programs of Debian's PostgreSQL: the package of the other tests has no pg_dump.
  if (isLong) {
    test('are in a dump of PostgreSQL, and hold after its restore', async () => {
      const [server = ''] = globSync('/usr/lib/postgresql/*/bin/postgres').toSorted().toReversed();
      const programs = join(server, '..');
      await using postgres = await startPostgres({ programs });
      const [url, restored] = [await createDatabase(postgres.url), await createDatabase(postgres.url)];
      const file = join(postgres.directory, 'gatehouse.dump');
      await comesBackTheSame({
        url,
        async copy() {
          await run(join(programs, 'pg_dump'), ['--format=custom', '--no-owner', `--file=${file}`, url]);
          return async () => {
            const how = ['--exit-on-error', '--single-transaction', '--no-owner'];
            await run(join(programs, 'pg_restore'), [...how, `--dbname=${restored}`, file]);
            return restored;
          };
        },
      });
    });
  }
});
