import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onAnyDatabase } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { from } from '../../../test/support/people.ts';
import type { Flags } from '../../config/config.ts';
import { toTimestamp } from '../../lib/ids.ts';

const wrong = `${'0'.repeat(27)}_${'a'.repeat(43)}`;

onAnyDatabase('failed authentications', (newDatabase) => {
  const start = async (settings: Flags) =>
    Gatehouse.start(await newDatabase(), { trustedProxies: '127.0.0.1', ...settings });
  const fail = async (gatehouse: Gatehouse, address: string, authorization = `Bearer ${wrong}`) => {
    const headers = { authorization, 'x-forwarded-for': address };
    return gatehouse.get('/api_keys', { headers });
  };
  const statuses = async (gatehouse: Gatehouse, addresses: readonly string[]) => {
    const all: number[] = [];
    for (const address of addresses) all.push((await fail(gatehouse, address)).status);
    return all;
  };

  test('are answered at once, then late, then with 429, while valid keys of the same address get in', async () => {
    await using gatehouse = await start({ authFailures: '3', authFailuresSlowed: '1' });
    const here = '203.0.113.7';
    const { token } = await gatehouse.create('/api_keys', {}, from(here));
    assert.deepEqual(await statuses(gatehouse, [here, here, here]), [401, 401, 401]);
    const beganMs = performance.now();
    assert.equal((await fail(gatehouse, here)).body.error_code, 'ERR_GATEHOUSE_203');
    assert.ok(performance.now() - beganMs > 900, 'the fourth is answered late');
    const refused = await fail(gatehouse, here);
    assert.deepEqual([refused.status, refused.body.error_code], [429, 'ERR_GATEHOUSE_20072']);
    const seconds = Number(refused.headers.get('retry-after'));
    assert.ok(seconds >= 1 && seconds <= 60, `${seconds}`);
    assert.ok(
      refused.body.msg.includes(here) && refused.body.msg.includes('GATEHOUSE_AUTH_FAILURES'),
      refused.body.msg,
    );
    for (let count = 0; count < 10; count++) {
      assert.equal((await gatehouse.get('/api_keys', from(here, { token }))).status, 200);
      assert.equal((await fail(gatehouse, here)).status, 429);
    }
    assert.deepEqual(await statuses(gatehouse, ['203.0.113.8']), [401]);
  });

  test('beyond the limit say the same of every wrong credential', async () => {
    await using gatehouse = await start({ authFailures: '1', authFailuresSlowed: '0' });
    const { id, token } = await gatehouse.create('/api_keys');
    await fail(gatehouse, '192.0.2.1');
    const answers = new Set<string>();
    for (const credential of [wrong, `${token.slice(0, 28)}${'a'.repeat(43)}`, 'x'.repeat(50), 'short', id]) {
      const { status, body } = await fail(gatehouse, '192.0.2.1', `Bearer ${credential}`);
      answers.add(`${status} ${body.error_code} ${body.msg.replace(/\d+ seconds/, '')}`);
    }
    assert.equal(answers.size, 1, [...answers].join('\n'));
  });

  test('are counted by the /64 of IPv6, and by the address that a trusted proxy names', async () => {
    await using gatehouse = await start({ authFailures: '2', authFailuresSlowed: '0' });
    const network = ['2001:db8:1:1::1', '2001:db8:1:1:ffff::2', '2001:db8:1:1::3'];
    assert.deepEqual(await statuses(gatehouse, network), [401, 401, 429]);
    assert.deepEqual(await statuses(gatehouse, ['2001:db8:1:2::1', '198.51.100.1']), [401, 401]);
    assert.deepEqual(await statuses(gatehouse, ['192.0.2.7', '::ffff:192.0.2.7', '192.0.2.7']), [401, 401, 429]);
  });

  test('from more sources than are counted apart share one count', async () => {
    await using gatehouse = await start({ authFailures: '2', authFailuresSlowed: '0', authFailureSources: '1' });
    assert.deepEqual(await statuses(gatehouse, ['192.0.2.1']), [401]);
    const flood = Array.from({ length: 5 }, (_, at) => `2001:db8:${at}::1`);
    assert.deepEqual(await statuses(gatehouse, flood), [401, 401, 429, 429, 429]);
    assert.deepEqual(await statuses(gatehouse, ['192.0.2.1']), [401]);
  });

  test('are held back in a limited number only', async () => {
    await using gatehouse = await start({ authFailures: '1', authFailuresSlowed: '100', authFailuresHeld: '1' });
    await fail(gatehouse, '192.0.2.1');
    const both = await Promise.all([fail(gatehouse, '192.0.2.1'), fail(gatehouse, '192.0.2.1')]);
    assert.deepEqual(new Set(both.map(({ status }) => status)), new Set([401, 429]));
  });

  test('do not include calls without a credential, expired keys, and refusals of a known caller', async (t) => {
    await using gatehouse = await start({ authFailures: '1', authFailuresSlowed: '0' });
    const here = '192.0.2.1';
    const policy = await gatehouse.create('/ip_policies');
    const bot = await gatehouse.create('/bot_users', { name: 'idle' });
    const idle = await gatehouse.create('/api_keys', { owner_id: bot.id });
    await gatehouse.patch(`/bot_users/${bot.id}`, { active: false });
    const elsewhere = await gatehouse.create('/api_keys', { ip_policy_ids: [policy.id] });
    const expires_at = toTimestamp(Date.now() + 60_000);
    const expired = await gatehouse.create('/api_keys', { expires_at });
    t.mock.timers.enable({ apis: ['Date'], now: Date.parse(expires_at) });
    for (let count = 0; count < 3; count++) {
      assert.equal((await fail(gatehouse, here, '')).status, 401);
      assert.equal((await fail(gatehouse, here, `Bearer ${expired.token}`)).body.error_code, 'ERR_GATEHOUSE_20069');
      assert.equal((await fail(gatehouse, here, `Bearer ${idle.token}`)).status, 403);
      assert.equal((await fail(gatehouse, here, `Bearer ${elsewhere.token}`)).status, 403);
    }
    assert.deepEqual(await statuses(gatehouse, [here, here]), [401, 429]);
  });

  test('are logged once a minute for each source, with their number, and counted', async () => {
    const settings = { authFailures: '2', authFailuresSlowed: '0', metricsListen: '127.0.0.1:0' };
    const gatehouse = await start(settings);
    await statuses(gatehouse, ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2']);
    const metrics = await (await fetch(`http://127.0.0.1:${gatehouse.app.metricsPort}/metrics`)).text();
    await gatehouse[Symbol.asyncDispose]();
    const lines = gatehouse.logLines.map((line) => JSON.parse(line));
    const reports = lines.filter(({ msg }) => msg === 'failed authentications within a minute');
    assert.deepEqual(
      reports.map(({ level, source, failures, refused }) => [level, source, failures, refused]),
      [
        [40, '192.0.2.1', 5, 3],
        [30, '192.0.2.2', 1, 0],
      ],
    );
    assert.deepEqual(
      lines.filter(({ msg }) => msg === 'request').map(({ status }) => status),
      [401, 401, 401],
    );
    assert.match(metrics, /^gatehouse_failed_authentications_total\{answer="prompt"\} 3$/m);
    assert.match(metrics, /^gatehouse_failed_authentications_total\{answer="refused"\} 3$/m);
  });

  test('are not limited where the setting is off', async () => {
    await using gatehouse = await start({ authFailures: 'off', authFailuresSlowed: '0' });
    const all = await statuses(
      gatehouse,
      Array.from({ length: 60 }, () => '192.0.2.1'),
    );
    assert.ok(all.every((status) => status === 401));
  });
});

onAnyDatabase('without a setting', (newDatabase) => {
  test('twenty failures a minute are answered at once', async () => {
    await using gatehouse = await Gatehouse.start(await newDatabase(), {
      authFailures: undefined,
      authFailuresSlowed: '0',
    });
    const wrongOnce = async () => (await gatehouse.get('/api_keys', { token: wrong })).status;
    const all: number[] = [];
    for (let count = 0; count < 21; count++) all.push(await wrongOnce());
    assert.deepEqual(all, [...Array.from({ length: 20 }, () => 401), 429]);
  });
});
