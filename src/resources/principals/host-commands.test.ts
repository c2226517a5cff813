import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { onAnyDatabase } from '../../../test/support/each-database.ts';
import { GatehouseProcess } from '../../../test/support/gatehouse-process.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { runOnHost } from '../../../test/support/people.ts';

onAnyDatabase('commands of the host', (newDatabase) => {
  describe('beside a running service', () => {
    let url = '';
    let gatehouse: Gatehouse;
    before(async () => {
      url = await newDatabase();
      gatehouse = await Gatehouse.start(url);
    });
    after(() => gatehouse[Symbol.asyncDispose]());

    const run = (...args: readonly string[]) => GatehouseProcess.run([...args, '--database-url', url]);
    const succeed = async (...args: readonly string[]): Promise<string> => {
      const { code, out, errors } = await run(...args);
      assert.equal(code, 0, errors);
      return out;
    };
    /** What another process has written is seen soon, but not at once. */
    const untilStatus = async (wanted: number, token: string) => {
      for (let attempt = 0; attempt < 500; attempt++) {
        if ((await gatehouse.get('/api_keys', { token })).status === wanted) return;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      assert.fail(`never answered ${wanted}`);
    };

    test('accounts and users are made, listed and deleted, and the service obeys', async () => {
      const made = await succeed('accounts', 'create', '--name', 'second');
      const [account = ''] = made.split(' ');
      assert.match(made, /^ac_[0-9A-Za-z]{27} {2}second\n$/);
      assert.match(await runOnHost(gatehouse, 'accounts list', {}), /default\n.*second$/s);

      const printed = await succeed('users', 'create', '--account', 'second', '--name', 'ann', '--role', 'member');
      const [, id = '', token = ''] =
        /^(usr_\w{27}) {2}member {2}ann\ntoken \(shown once\): (\S+)\n$/.exec(printed) ?? [];
      await untilStatus(200, token);
      const { keys } = (await gatehouse.get('/api_keys', { token })).body;
      assert.deepEqual(
        keys.map((key: { owner_id: string }) => key.owner_id),
        [id],
      );
      assert.equal((await gatehouse.post('/bot_users', { name: 'x' }, { token })).status, 403);
      const listed = await runOnHost(gatehouse, 'accounts users', { account });
      assert.equal(listed, `${id}  member  ann`);
      assert.ok(!listed.includes(token));

      assert.match(await succeed('users', 'delete', id, '--account', account), new RegExp(`deleted ${id}`));
      await untilStatus(401, token);
    });

    test('a user who has lost every token gets a key from the host', async () => {
      const printed = await succeed(
        'keys',
        'create',
        '--user',
        'admin',
        '--account',
        'default',
        '--description',
        'new',
      );
      const [, id = '', token = ''] = /^(ak_\w{27})\ntoken \(shown once\): (\S+)\n$/.exec(printed) ?? [];
      await untilStatus(200, token);
      const { body } = await gatehouse.get(`/api_keys/${id}`, { token });
      const [owner] = (await runOnHost(gatehouse, 'accounts users', { account: 'default' })).split(' ', 1);
      assert.deepEqual([body.description, body.owner_id], ['new', owner]);
    });

    test('what cannot be done ends with 1 and says why, without a stack', async () => {
      const cases: [readonly string[], RegExp][] = [
        [['users', 'create', '--name', 'a', '--role', 'king', '--account', 'default'], /admin, member, viewer/],
        [['users', 'delete', 'usr_none', '--account', 'default'], /there is no user "usr_none"/],
      ];
      for (const [args, reason] of cases) {
        const { code, out, errors } = await run(...args);
        assert.equal(code, 1, args.join(' '));
        assert.equal(out, '');
        assert.match(errors, reason);
        assert.ok(!errors.includes('    at '), errors);
      }
    });

    test('names are unique, accounts are named where there are several, and a refusal changes nothing', async () => {
      await runOnHost(gatehouse, 'accounts create', { name: 'third' });
      const { version } = gatehouse.app.context.store;
      const cases: [string, Record<string, string>, RegExp][] = [
        ['accounts create', { name: 'third' }, /exists already/],
        ['accounts create', { name: ' ' }, /must not be empty/],
        ['users create', { name: 'a', role: 'admin' }, /name an account with --account/],
        [
          'users create',
          { name: 'admin', role: 'admin', account: 'default' },
          /usr_\w+ in this account already has the name "admin"/,
        ],
        ['users create', { name: 'a', role: 'admin', account: 'nowhere' }, /there is no account "nowhere"/],
        ['users delete', { id: 'usr_\0', account: 'default' }, /there is no user/],
        [
          'keys create',
          { user: 'nobody', account: 'default' },
          /there is no user "nobody" .*there are: usr_\w+ \(admin\)/,
        ],
        ['keys create', { user: 'admin', account: 'default', description: 'ä'.repeat(128) }, /longer than 255 bytes/],
        ['restrictions disable', { id: 'ipx_none' }, /there is no IP restriction "ipx_none"/],
      ];
      for (const [name, values, reason] of cases) await assert.rejects(runOnHost(gatehouse, name, values), reason);
      assert.equal(gatehouse.app.context.store.version, version);
    });

    test('a restriction that locks everybody out is lifted for the running service', async () => {
      const policy = await gatehouse.create('/ip_policies');
      const body = { type: 'api', enforced: true, ip_policy_ids: [policy.id], description: 'too tight' };
      const { id } = await gatehouse.create('/ip_restrictions', body, {
        headers: { 'gatehouse-allow-lockout': 'true' },
      });
      assert.equal((await gatehouse.get('/api_keys')).status, 403);
      assert.match(
        await runOnHost(gatehouse, 'restrictions list', {}),
        new RegExp(`^${id} .* api {2}enforced {2}too tight$`, 'm'),
      );
      assert.match(await succeed('restrictions', 'disable', id), /now only warns/);
      await untilStatus(200, gatehouse.token);
      const { headers } = await gatehouse.get('/api_keys');
      assert.equal(headers.get('gatehouse-warning'), id);
      assert.equal((await gatehouse.get(`/ip_restrictions/${id}`)).body.enforced, false);
      assert.match(await runOnHost(gatehouse, 'restrictions disable', { id: 'all' }), /nothing to do/);
    });
  });
});
