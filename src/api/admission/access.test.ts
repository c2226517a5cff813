import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';

import { createAccount, createBot, createUser, from, runOnHost } from '../../../test/support/people.ts';
import { refuses } from '../../../test/support/refusals.ts';
import { onEachGatehouse } from '../../../test/support/shared-gatehouse.ts';

const unknownKey = `${'0'.repeat(27)}_${'0'.repeat(43)}`;

onEachGatehouse(
  'access to the API',
  (g) => {
    const statusFrom = async (address: string) => (await g().get('/api_keys', from(address))).status;
    const newRestriction = async (cidrs: readonly string[], type = 'api') => {
      const { id } = await g().create('/ip_policies');
      await g().put(`/ip_policies/${id}/rules`, cidrs);
      return g().create('/ip_restrictions', { type, enforced: true, ip_policy_ids: [id] });
    };

    afterEach(async () => {
      await runOnHost(g(), 'restrictions disable', { id: 'all' });
      for (const { id } of (await g().get('/ip_restrictions')).body.ip_restrictions) {
        await g().delete(`/ip_restrictions/${id}`);
      }
    });

    test('a missing, malformed or unknown credential is 401, asks for a bearer, and is not repeated', async () => {
      const { id, token } = await g().create('/api_keys');
      const cases: [string | undefined, number][] = [
        [undefined, 200],
        ['', 200],
        ['Bearer', 201],
        [token, 201],
        [`Basic ${btoa(`:${token}`)}`, 201],
        [`Bearer ${token} ${token}`, 201],
        [`Token ${token}`, 201],
        ['Bearer short', 202],
        [`Bearer "${token}"`, 202],
        [`Bearer ${token}x`, 202],
        [`Bearer ${token.slice(0, -1)}`, 202],
        [`Bearer ${unknownKey}`, 203],
        [`Bearer ${token.slice(0, -1)}${token.endsWith('a') ? 'b' : 'a'}`, 203],
        [`Bearer ${id}`, 208],
      ];
      for (const [authorization, code] of cases) {
        const answer = await g().get('/api_keys', { headers: { authorization } });
        assert.equal(answer.body.error_code, `ERR_GATEHOUSE_${code}`, authorization);
        assert.equal(answer.status, 401);
        assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
        const credential = authorization?.split(' ').at(-1) ?? '';
        if (credential.length > 6) assert.ok(!answer.text.includes(credential));
      }
    });

    test('the scheme may be written in any case, with more than one space', async () => {
      const { token } = await g().create('/api_keys');
      for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR', 'Bearer  ']) {
        assert.equal((await g().get('/api_keys', { headers: { authorization: `${scheme} ${token}` } })).status, 200);
      }
    });

    test('an unknown key answers the same as a wrong secret', async () => {
      const { token } = await g().create('/api_keys');
      const wrong = await g().get('/api_keys', { token: `${token.slice(0, 28)}${'0'.repeat(43)}` });
      const unknown = await g().get('/api_keys', { token: unknownKey });
      assert.deepEqual({ ...wrong.body, details: {} }, { ...unknown.body, details: {} });
    });

    test('a key is not remembered as unknown by who tried it before it existed', async () => {
      const { token } = await g().create('/api_keys');
      await g().get('/api_keys', { token: `${token.slice(0, 28)}${'0'.repeat(43)}` });
      assert.equal((await g().get('/api_keys', { token })).status, 200);
    });

    test('keys of a deleted user are refused from the moment the command ends', async () => {
      const user = await createUser(g(), 'admin');
      const second = await g().create('/api_keys', {}, { token: user.token });
      for (const { token } of [user, second]) assert.equal((await g().get('/api_keys', { token })).status, 200);
      await runOnHost(g(), 'users delete', { account: 'default', id: user.id });
      for (const { token } of [user, second]) assert.equal((await g().get('/api_keys', { token })).status, 401);
    });

    test('checks come in order: route, credential, source, version, rights, body, resource', async () => {
      const { token } = await createUser(g(), 'member');
      const path = '/ip_restrictions/ipx_000000000000000000000000000';
      const wrong = { 'service-version': '1', 'content-type': 'text/plain', 'x-forwarded-for': '198.51.100.1' };
      const steps = [
        { path: `${path}/nothing`, method: 'PATCH', headers: { ...wrong, authorization: 'x' }, status: 404 },
        { path, method: 'PUT', headers: { ...wrong, authorization: 'x' }, status: 405 },
        { path, headers: { ...wrong, authorization: 'x' }, status: 401 },
        { path, headers: wrong, token, status: 403, code: 220 },
        { path, headers: { ...wrong, 'x-forwarded-for': '127.0.0.1' }, token, status: 400, code: 217 },
        { path, headers: { 'content-type': 'text/plain' }, token, status: 403, code: 20007 },
        { path, headers: { 'content-type': 'text/plain' }, status: 415 },
        { path, headers: {}, status: 400 },
        { path, headers: {}, raw: '{}', status: 404 },
      ];
      await newRestriction(['127.0.0.0/8']);
      for (const { method = 'PATCH', status, code, raw = 'no json', ...rest } of steps) {
        const answer = await g().call(method, rest.path, undefined, { raw, token: rest.token, headers: rest.headers });
        assert.equal(answer.status, status, `${JSON.stringify(rest)} ${answer.text}`);
        if (code !== undefined) assert.equal(answer.body.error_code, `ERR_GATEHOUSE_${code}`);
      }
    });

    test('an inactive bot is told so whatever else is wrong with its call', async () => {
      const bot = await createBot(g());
      await g().patch(`/bot_users/${bot.id}`, { active: false });
      const headers = { 'service-version': '9' };
      await refuses(g(), ['POST', '/bot_users', { x: 1 }, { token: bot.token, headers }], 403, 636);
    });

    test('the version header must be there and be 2', async () => {
      const missing = await refuses(
        g(),
        ['GET', '/api_keys', undefined, { headers: { 'service-version': undefined } }],
        400,
        218,
      );
      assert.ok(missing.includes('Service-Version: 2'));
      for (const value of ['1', '3', '', '2.0', '02', 'two', '2, 2']) {
        const message = await refuses(
          g(),
          ['GET', '/api_keys', undefined, { headers: { 'service-version': value } }],
          400,
          217,
        );
        assert.ok(message.includes('Service-Version: 2'));
      }
      const other = { headers: { 'service-version': undefined, 'ngrok-version': '2' } };
      await refuses(g(), ['GET', '/api_keys', undefined, other], 400, 218);
    });

    test('an enforced restriction of the API refuses every call from elsewhere, and names itself', async () => {
      const { id } = await newRestriction(['127.0.0.0/8', '10.0.0.0/8', '!10.1.0.0/16', '2001:db8::/32']);
      assert.equal(await statusFrom('10.0.0.1'), 200);
      assert.equal(await statusFrom('2001:db8::7'), 200);
      assert.equal(await statusFrom('::ffff:10.0.0.1'), 200);
      for (const address of ['10.1.0.1', '192.0.2.1', '2001:db9::1', '::ffff:192.0.2.1']) {
        assert.equal(await statusFrom(address), 403, address);
      }
      const calls = [
        ['POST', '/api_keys'],
        ['GET', '/ip_restrictions'],
        ['DELETE', `/ip_restrictions/${id}`],
      ] as const;
      for (const [method, path] of calls) {
        const message = await refuses(g(), [method, path, undefined, from('192.0.2.1')], 403, 220);
        assert.ok(message.includes(id) && message.includes('192.0.2.1'));
      }
    });

    test('restrictions of other traffic and of other accounts do not touch the API', async () => {
      for (const type of ['dashboard', 'agent', 'endpoints']) await newRestriction(['192.0.2.0/24'], type);
      const { token } = await createUser(g(), 'admin', await createAccount(g()));
      const { id } = await g().create('/ip_policies', {}, { token });
      const body = { type: 'api', enforced: true, ip_policy_ids: [id] };
      await g().create('/ip_restrictions', body, { token, headers: { 'gatehouse-allow-lockout': 'true' } });
      assert.equal((await g().get('/api_keys', { token })).status, 403);
      assert.equal((await g().get('/api_keys')).status, 200);
    });

    test('a change of rules is in force when it is answered', async () => {
      const { ip_policies } = await newRestriction(['127.0.0.0/8', '192.0.2.1/32']);
      const path = `/ip_policies/${ip_policies[0].id}/rules`;
      for (let round = 0; round < 5; round++) {
        await g().put(path, ['127.0.0.0/8']);
        assert.equal((await g().get('/api_keys', from('192.0.2.1'))).status, 403);
        await g().put(path, ['127.0.0.0/8', '192.0.2.0/24']);
        assert.equal((await g().get('/api_keys', from('192.0.2.1'))).status, 200);
      }
    });

    test('the client is the last address that no trusted proxy has named', async () => {
      await newRestriction(['127.0.0.0/8', '192.0.2.1/32']);
      assert.equal(await statusFrom('192.0.2.1'), 200);
      assert.equal(await statusFrom('198.51.100.9, 192.0.2.1'), 200);
      assert.equal(await statusFrom('192.0.2.1, 198.51.100.9'), 403);
      assert.equal(await statusFrom('192.0.2.1, 127.0.0.1'), 200);
      assert.equal(await statusFrom('192.0.2.1:4711'), 200);
      assert.equal(await statusFrom('198.51.100.9, nonsense'), 200, 'an entry that is no address ends the walk');
    });

    test('health, readiness and the description of the API are public', async () => {
      await newRestriction(['127.0.0.0/8']);
      const headers = { authorization: undefined, 'service-version': undefined, 'x-forwarded-for': '192.0.2.1' };
      for (const path of ['/healthz', '/readyz', '/openapi.json']) {
        assert.equal((await g().get(path, { headers })).status, 200);
      }
    });
  },
  { trustedProxies: '127.0.0.1' },
);
