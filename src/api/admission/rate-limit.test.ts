import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createAccount, createUser } from '../../../test/support/people.ts';
import { onEachGatehouse } from '../../../test/support/shared-gatehouse.ts';
import { RateLimit } from './rate-limit.ts';

onEachGatehouse(
  'the API with a rate limit',
  (g) => {
    test('too many calls of an account are 429 with what clients need to wait; others are not touched', async () => {
      const [first, second] = [await createAccount(g()), await createAccount(g())];
      const { token } = await createUser(g(), 'admin', first);
      const other = await createUser(g(), 'admin', second);
      const answers = [];
      for (let call = 0; call < 6; call++) answers.push(await g().get('/api_keys', { token }));
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 200, 200, 200, 429],
      );
      assert.deepEqual(
        answers.map(({ headers }) => headers.get('x-ratelimit-remaining')),
        ['4', '3', '2', '1', '0', '0'],
      );
      const refused = await g().post('/api_keys', { description: 'x' }, { token });
      assert.equal(refused.body.error_code, 'ERR_GATEHOUSE_226');
      assert.match(refused.body.msg, /5 calls.*GATEHOUSE_RATE_LIMIT/);
      assert.equal(refused.headers.get('x-ratelimit-limit'), '5');
      // One call of five a minute comes back after twelve seconds, all of them after a minute.
      const seconds = (name: string) => Number(refused.headers.get(name));
      assert.ok(seconds('retry-after') >= 1 && seconds('retry-after') <= 12, String(seconds('retry-after')));
      assert.ok(seconds('x-ratelimit-reset') > 12 && seconds('x-ratelimit-reset') <= 60);
      assert.equal((await g().get('/api_keys', { token: other.token })).status, 200);
      assert.equal((await g().get('/healthz')).status, 200);
    });

    test('another key of the same account gives no more calls, and neither do calls that are refused', async () => {
      const account = await createAccount(g());
      const [one, two] = [await createUser(g(), 'admin', account), await createUser(g(), 'member', account)];
      const statusOf = async (token: string, headers = {}) => (await g().get('/api_keys', { token, headers })).status;
      assert.equal(await statusOf(one.token), 200);
      assert.equal(await statusOf(two.token), 200);
      assert.equal(await statusOf(two.token, { 'service-version': '9' }), 400);
      assert.equal((await g().get('/bot_users/none', { token: one.token })).status, 404);
      assert.equal((await g().post('/bot_users', {}, { token: two.token })).status, 403);
      assert.equal(await statusOf(one.token), 429);
      assert.equal(await statusOf(two.token), 429);
    });

    test('a large body costs more than one call', async () => {
      const { token } = await createUser(g(), 'admin', await createAccount(g()));
      const raw = JSON.stringify({ metadata: 'x'.repeat(3 * 16_384) });
      assert.equal((await g().call('POST', '/ip_policies', undefined, { token, raw })).status, 400);
      const { status, headers } = await g().get('/api_keys', { token });
      assert.deepEqual([status, headers.get('x-ratelimit-remaining')], [200, '0']);
    });
  },
  { rateLimit: '5' },
);

onEachGatehouse('the API with default settings', (g) => {
  test('has a limit that is far from what a client does', async () => {
    const { headers } = await g().get('/api_keys');
    assert.equal(headers.get('x-ratelimit-limit'), '60000');
  });
});

test('calls come back evenly, and a body costs a minute at most', () => {
  let nowMs = 0;
  const rates = new RateLimit(
    60,
    () => {},
    () => nowMs,
  );
  const takeAll = () => {
    for (let taken = 0; ; taken++) {
      try {
        rates.take('ac_1');
      } catch {
        return taken;
      }
    }
  };
  assert.equal(takeAll(), 60);
  nowMs += 10_000;
  assert.equal(takeAll(), 10);
  nowMs += 600_000;
  assert.equal(takeAll(), 60);
  rates.charge('ac_1', 1e9);
  nowMs += 59_000;
  assert.equal(takeAll(), 0);
  nowMs += 4_000;
  assert.equal(takeAll(), 3);
});
