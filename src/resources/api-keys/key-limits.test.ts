import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onEachDatabase } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { createAccount, createBot, createUser, from } from '../../../test/support/people.ts';
import { refuses } from '../../../test/support/refusals.ts';
import { onEachGatehouse } from '../../../test/support/shared-gatehouse.ts';
import { toTimestamp } from '../../lib/ids.ts';
import { endsAfterCaller } from './errors.ts';

const later = '2099-11-14T10:11:14Z';
const here = '203.0.113.7';
const allowLockout = { headers: { 'gatehouse-allow-lockout': 'true' } };

onEachGatehouse(
  'limits of API keys',
  (g) => {
    const newPolicy = async (rules: readonly string[] = []): Promise<string> => {
      const { id } = await g().create('/ip_policies');
      await g().put(`/ip_policies/${id}/rules`, rules);
      return id;
    };
    const statusFrom = async (address: string, token: string) => {
      const { status, body } = await g().get('/api_keys?limit=1', from(address, { token }));
      return status === 200 ? 200 : [status, body.error_code];
    };
    const notFromThere = [403, 'ERR_GATEHOUSE_20071'];

    test('limits are shown as they were set, and left out while unset', async () => {
      const policy = await newPolicy(['0.0.0.0/0']);
      const limits = { expires_at: later, ip_policy_ids: [policy], read_only: true };
      const { id, token: _shownOnce, ...made } = await g().create('/api_keys', limits);
      const { uri, created_at, owner_id, ...shown } = made;
      assert.deepEqual(shown, limits);
      assert.deepEqual((await g().get(`/api_keys/${id}`)).body, {
        id,
        uri,
        created_at,
        owner_id,
        token: null,
        ...limits,
      });
      const listed = (await g().get('/api_keys?limit=1')).body.keys[0];
      assert.deepEqual([listed.id, listed.expires_at, listed.read_only], [id, later, true]);
      for (const body of [
        {},
        { expires_at: '', ip_policy_ids: [], read_only: false },
        { expires_at: null, ip_policy_ids: null, read_only: null },
      ]) {
        const key = await g().create('/api_keys', body);
        assert.deepEqual(Object.keys(key).toSorted(), ['created_at', 'id', 'owner_id', 'token', 'uri']);
      }
    });

    test('an update sets, keeps and removes each limit, and one that changes nothing writes nothing', async () => {
      const [policy, other] = [await newPolicy(), await newPolicy()];
      const { id } = await g().create('/api_keys', { description: 'd' });
      const patch = async (body: object) => {
        const { status, body: key, text } = await g().patch(`/api_keys/${id}`, body);
        assert.equal(status, 200, text);
        assert.deepEqual((await g().get(`/api_keys/${id}`)).body, key);
        return [key.expires_at, key.ip_policy_ids, key.read_only, key.description];
      };
      assert.deepEqual(await patch({ expires_at: later }), [later, undefined, undefined, 'd']);
      assert.deepEqual(await patch({ ip_policy_ids: [policy, other] }), [later, [policy, other], undefined, 'd']);
      assert.deepEqual(await patch({ read_only: true }), [later, [policy, other], true, 'd']);
      const all = [later, [policy, other], true, 'd'];
      const { version } = g().app.context.store;
      for (const same of [
        {},
        { expires_at: null, ip_policy_ids: null, read_only: null },
        { expires_at: later, read_only: true },
        { ip_policy_ids: [policy, other] },
        { expires_at: '2099-11-14T10:11:14.987Z' },
      ]) {
        assert.deepEqual(await patch(same), all, JSON.stringify(same));
      }
      assert.equal(g().app.context.store.version, version);
      assert.deepEqual(await patch({ ip_policy_ids: [other] }), [later, [other], true, 'd']);
      assert.deepEqual(await patch({ read_only: false }), [later, [other], undefined, 'd']);
      assert.deepEqual(await patch({ ip_policy_ids: [] }), [later, undefined, undefined, 'd']);
      assert.deepEqual(await patch({ expires_at: '' }), [undefined, undefined, undefined, 'd']);
    });

    test('a limit that does not fit is refused by name, on creation and update, and nothing is stored', async () => {
      const policy = await newPolicy();
      const { id } = await g().create('/api_keys');
      const stranger = await createUser(g(), 'admin', await createAccount(g()));
      const foreign = await g().create('/ip_policies', {}, { token: stranger.token });
      const faults: readonly (readonly [object, number])[] = [
        [{ expires_at: 'tomorrow' }, 20068],
        [{ expires_at: '2099-02-30T00:00:00Z' }, 20068],
        [{ expires_at: '2099-01-01T00:00:00+02:00' }, 20068],
        [{ expires_at: '2020-01-01T00:00:00Z' }, 20068],
        [{ expires_at: toTimestamp(Date.now()) }, 20068],
        [{ expires_at: 4_000_000_000 }, 215],
        [{ ip_policy_ids: ['ak_000000000000000000000000000'] }, 229],
        [{ ip_policy_ids: ['ipp_\0'] }, 229],
        [{ ip_policy_ids: [policy, policy] }, 20009],
        [{ ip_policy_ids: ['ipp_000000000000000000000000000'] }, 1801],
        [{ ip_policy_ids: [foreign.id] }, 1801],
        [{ ip_policy_ids: policy }, 215],
        [{ ip_policy_ids: Array.from({ length: 101 }, () => policy) }, 215],
        [{ read_only: 'yes' }, 215],
      ];
      for (const [body, code] of faults) {
        await refuses(g(), ['POST', '/api_keys', body], 400, code);
        await refuses(g(), ['PATCH', `/api_keys/${id}`, body], 400, code);
      }
      for (const body of [{ last_used_at: later }, { rotated_at: later }]) {
        await refuses(g(), ['POST', '/api_keys', body], 400, 214);
        await refuses(g(), ['PATCH', `/api_keys/${id}`, body], 400, 20190);
      }
    });

    test('only the owner and admins set limits', async () => {
      const [member, bot] = [await createUser(g(), 'member'), await createBot(g())];
      const admins = await g().create('/api_keys');
      const members = await g().create('/api_keys', {}, { token: member.token });
      for (const body of [{ expires_at: later }, { read_only: true }, { ip_policy_ids: [] }]) {
        await refuses(g(), ['PATCH', `/api_keys/${admins.id}`, body, { token: member.token }], 403, 20006);
        await refuses(g(), ['PATCH', `/api_keys/${members.id}`, body, { token: bot.token }], 403, 20006);
        assert.equal((await g().patch(`/api_keys/${members.id}`, body, { token: member.token })).status, 200);
        assert.equal((await g().patch(`/api_keys/${members.id}`, body)).status, 200);
      }
    });

    test('a read-only key reads and does nothing else, not even to itself', async () => {
      const { id, token } = await g().create('/api_keys', { read_only: true });
      for (const path of ['/api_keys', `/api_keys/${id}`, '/ip_policies', '/changes']) {
        assert.equal((await g().get(path, { token })).status, 200, path);
      }
      assert.equal(
        (
          await fetch(`${g().url}/api_keys`, {
            method: 'HEAD',
            headers: { authorization: `Bearer ${token}`, 'service-version': '2' },
          })
        ).status,
        200,
      );
      const message = await refuses(g(), ['PATCH', `/api_keys/${id}`, { read_only: false }, { token }], 403, 20070);
      assert.ok(message.includes(id) && message.includes('PATCH'), message);
      await refuses(g(), ['POST', '/api_keys', {}, { token }], 403, 20070);
      await refuses(g(), ['POST', `/api_keys/${id}/rotate`, {}, { token }], 403, 20070);
      await refuses(g(), ['DELETE', `/api_keys/${id}`, undefined, { token }], 403, 20070);
      await g().patch(`/api_keys/${id}`, { read_only: false });
      assert.equal((await g().post('/api_keys', {}, { token })).status, 201);
      await g().patch(`/api_keys/${id}`, { read_only: true });
      await refuses(g(), ['POST', '/api_keys', {}, { token }], 403, 20070);
    });

    test('a key with an end gives nobody a token that is good for longer, itself included', async () => {
      const [end, sooner, past] = ['2098-01-01T00:00:00Z', '2097-01-01T00:00:00Z', '2098-01-01T00:00:01Z'];
      const { id, token } = await g().create('/api_keys', { expires_at: end });
      const [endless, short] = [await g().create('/api_keys'), await g().create('/api_keys', { expires_at: sooner })];
      const calls: readonly (readonly [string, string, object])[] = [
        ['PATCH', `/api_keys/${id}`, { expires_at: '' }],
        ['PATCH', `/api_keys/${id}`, { expires_at: past }],
        ['PATCH', `/api_keys/${short.id}`, { expires_at: past }],
        ['PATCH', `/api_keys/${short.id}`, { expires_at: '' }],
        ['POST', '/api_keys', {}],
        ['POST', '/api_keys', { expires_at: past }],
        ['POST', `/api_keys/${endless.id}/rotate`, {}],
      ];
      for (const call of calls) {
        const message = await refuses(g(), [...call, { token }], 403, endsAfterCaller.code);
        assert.ok(message.includes(end) && message.includes('use a key without an end'), message);
      }
      const own = { token };
      assert.equal((await g().patch(`/api_keys/${endless.id}`, { description: 'seen' }, own)).status, 200);
      assert.equal((await g().patch(`/api_keys/${short.id}`, { expires_at: end }, own)).status, 200);
      assert.equal((await g().post('/api_keys', { expires_at: end }, own)).status, 201);
      assert.equal((await g().patch(`/api_keys/${id}`, { expires_at: end, description: 'same' }, own)).status, 200);
      assert.equal((await g().post(`/api_keys/${short.id}/rotate`, {}, own)).status, 200);
      const rotated = await g().post(`/api_keys/${id}/rotate`, {}, own);
      assert.equal(rotated.body.expires_at, end);
      assert.equal((await g().patch(`/api_keys/${id}`, { expires_at: sooner }, rotated.body)).status, 200);
      await refuses(
        g(),
        ['PATCH', `/api_keys/${id}`, { expires_at: end }, { token: rotated.body.token }],
        403,
        endsAfterCaller.code,
      );
      assert.equal((await g().patch(`/api_keys/${id}`, { expires_at: '' })).body.expires_at, undefined);
    });

    test('a key with policies is accepted where all their rules together allow the address, at once', async () => {
      const [offices, banned] = [await newPolicy(['203.0.113.0/24']), await newPolicy(['!203.0.113.66/32'])];
      const { id, token } = await g().create('/api_keys', { ip_policy_ids: [offices, banned] });
      assert.equal(await statusFrom(here, token), 200);
      for (const address of ['203.0.113.66', '198.51.100.1', '2001:db8::1', '127.0.0.1']) {
        assert.deepEqual(await statusFrom(address, token), notFromThere, address);
      }
      assert.equal(await statusFrom('::ffff:203.0.113.7', token), 200);
      const message = (await g().get('/api_keys', from('198.51.100.1', { token }))).body.msg;
      assert.ok(message.includes(id) && message.includes('198.51.100.1'), message);
      await g().put(`/ip_policies/${offices}/rules`, ['198.51.100.0/24']);
      assert.deepEqual(await statusFrom(here, token), notFromThere);
      assert.equal(await statusFrom('198.51.100.1', token), 200);
      await g().patch(`/api_keys/${id}`, { ip_policy_ids: [] });
      assert.equal(await statusFrom(here, token), 200);
      await g().patch(`/api_keys/${id}`, { ip_policy_ids: [banned] });
      assert.deepEqual(await statusFrom(here, token), notFromThere);
    });

    test('a policy is not deleted while a key names it', async () => {
      const bot = await createBot(g());
      const policy = await newPolicy();
      const keys = [
        await g().create('/api_keys', { ip_policy_ids: [policy] }),
        await g().create('/api_keys', { owner_id: bot.id, ip_policy_ids: [policy] }),
      ];
      const kept = await g().create('/api_keys', { ip_policy_ids: [policy] });
      const message = await refuses(g(), ['DELETE', `/ip_policies/${policy}`], 409, 1420);
      for (const { id } of [...keys, kept]) assert.ok(message.includes(id), message);
      await g().delete(`/api_keys/${keys[0]?.id}`);
      await g().delete(`/bot_users/${bot.id}`);
      await g().patch(`/api_keys/${kept.id}`, { description: 'still' });
      await refuses(g(), ['DELETE', `/ip_policies/${policy}`], 409, 1420);
      await g().patch(`/api_keys/${kept.id}`, { ip_policy_ids: [] });
      assert.equal((await g().delete(`/ip_policies/${policy}`)).status, 204);
    });

    test('a caller does not lock out its own key, by the key or by its policies, unless it means to', async () => {
      const [offices, elsewhere] = [await newPolicy(['203.0.113.0/24']), await newPolicy(['198.51.100.0/24'])];
      const { id, token } = await g().create('/api_keys', { ip_policy_ids: [offices] });
      const guarded = async (method: string, path: string, body?: unknown) => {
        const message = await refuses(g(), [method, path, body, from(here, { token })], 409, 20005);
        assert.ok(
          message.includes(id) && message.includes(here) && message.includes('Gatehouse-Allow-Lockout'),
          message,
        );
        assert.equal(await statusFrom(here, token), 200);
      };
      await guarded('PATCH', `/api_keys/${id}`, { ip_policy_ids: [elsewhere] });
      await guarded('PUT', `/ip_policies/${offices}/rules`, ['198.51.100.0/24']);
      await guarded('PUT', `/ip_policies/${offices}/rules`, ['203.0.113.0/24', '!203.0.113.7/32']);
      await guarded('POST', '/ip_policy_rules', { ip_policy_id: offices, cidr: '203.0.113.7/32', action: 'deny' });
      const both = { ip_policy_ids: [elsewhere, offices] };
      assert.equal((await g().patch(`/api_keys/${id}`, both, from(here, { token }))).status, 200);
      // Another key of the same caller is none of its next call.
      const other = await g().create('/api_keys');
      const away = { ip_policy_ids: [elsewhere] };
      assert.equal((await g().patch(`/api_keys/${other.id}`, away, from(here, { token }))).status, 200);
      assert.equal((await g().patch(`/api_keys/${id}`, away, from(here, { token, ...allowLockout }))).status, 200);
      assert.deepEqual(await statusFrom(here, token), notFromThere);
    });

    test('members and bots write no policy of another’s key; the owner and admins do', async () => {
      const [member, bot] = [await createUser(g(), 'member'), await createBot(g())];
      const policy = await newPolicy(['0.0.0.0/0']);
      const write = (token: string) => g().put(`/ip_policies/${policy}/rules`, ['0.0.0.0/0'], { token });
      assert.equal((await write(bot.token)).status, 200);
      const admins = await g().create('/api_keys', { ip_policy_ids: [policy] });
      const members = await g().create('/api_keys', { ip_policy_ids: [policy] }, { token: member.token });
      const call = ['PUT', `/ip_policies/${policy}/rules`, ['::/0']] as const;
      const message = await refuses(g(), [...call, { token: member.token }], 403, 20067);
      assert.ok(message.includes(admins.id) && message.includes(admins.owner_id), message);
      await refuses(g(), ['DELETE', `/ip_policies/${policy}`, undefined, { token: member.token }], 403, 20067);
      await g().delete(`/api_keys/${admins.id}`);
      assert.equal((await write(member.token)).status, 200);
      assert.ok((await refuses(g(), [...call, { token: bot.token }], 403, 20067)).includes(members.id));
      assert.equal((await write(g().token)).status, 200);
      await g().patch(`/api_keys/${members.id}`, { ip_policy_ids: [] }, { token: member.token });
      assert.equal((await write(bot.token)).status, 200);
    });

    test('another account learns nothing of a policy that keys name', async () => {
      const policy = await newPolicy();
      await g().create('/api_keys', { ip_policy_ids: [policy] });
      const { token: admin } = await createUser(g(), 'admin', await createAccount(g()));
      const { id: bot } = await g().create('/bot_users', { name: 'theirs' }, { token: admin });
      const { token } = await g().create('/api_keys', { owner_id: bot }, { token: admin });
      const rule = { ip_policy_id: policy, cidr: '10.0.0.0/8', action: 'allow' };
      await refuses(g(), ['POST', '/ip_policy_rules', rule, { token }], 400, 1402);
      await refuses(g(), ['PATCH', `/ip_policies/${policy}`, {}, { token }], 404, 222);
    });
  },
  { trustedProxies: '127.0.0.1' },
);

onEachDatabase('an API key that expires', (newDatabase) => {
  test('is refused from that second on, in every process and without a write, and tells it to its holder alone', async (t) => {
    const database = await newDatabase();
    await using first = await Gatehouse.start(database);
    await using second = await Gatehouse.start(database);
    const expires_at = toTimestamp(Date.now() + 60_000);
    const { id, token } = await first.create('/api_keys', { expires_at });
    const call = (g: Gatehouse, used = token) => g.get('/ip_policies', { token: used });
    for (const g of [first, second]) {
      const { status } = await call(g);
      assert.ok(status === 200 || Date.now() >= Date.parse(expires_at), `answered ${status}`);
    }
    const { version } = first.app.context.store;
    t.mock.timers.enable({ apis: ['Date'], now: Date.parse(expires_at) });
    for (const g of [first, second]) {
      const { status, body, headers } = await call(g);
      assert.deepEqual([status, body.error_code], [401, 'ERR_GATEHOUSE_20069']);
      assert.equal(headers.get('www-authenticate'), 'Bearer');
      assert.ok(body.msg.includes(expires_at), body.msg);
      const guess = await call(g, `${token.slice(0, 28)}${'a'.repeat(43)}`);
      assert.deepEqual([guess.status, guess.body.error_code], [401, 'ERR_GATEHOUSE_203']);
      assert.ok(!guess.text.includes('expire'));
    }
    assert.equal(first.app.context.store.version, version);
    // Its own time may be sent back with another change; a later one brings it back.
    assert.equal((await first.patch(`/api_keys/${id}`, { expires_at, description: 'old' })).status, 200);
    assert.equal((await call(first)).status, 401);
    assert.equal((await first.patch(`/api_keys/${id}`, { expires_at: later })).status, 200);
    assert.equal((await call(first)).status, 200);
  });
});
