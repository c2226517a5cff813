import assert from 'node:assert/strict';
import { test } from 'node:test';

import { newId, toTimestamp } from '../../src/lib/ids.ts';
import type { CallOptions } from '../support/gatehouse.ts';
import { rightsTable } from './rights-table.ts';
import { inAnyWorld } from './support/in-worlds.ts';
import { exampleIds, exampleOf } from './support/load-examples.ts';
import { forEach, isChosen, onlyReads, openApi, operations, publicOperations } from './support/operations.ts';
import type { ApiOperation } from './support/operations.ts';
import { findHostedPath } from '../../src/api/http/hosted-paths.ts';
import { requestTarget } from './support/raw-http.ts';
import type { World } from './support/world.ts';

test('every operation with a body has an example of it, and no example is left over', () => {
  const taking = operations.filter(({ bodySchema }) => bodySchema !== undefined);
  const missing = taking.filter(({ id, path }) => exampleOf(id, path) === undefined).map(({ id }) => id);
  assert.deepEqual(missing, [], 'add an example of a body to the contract-examples.ts of its folder');
  const known = new Set(taking.map(({ id }) => id));
  assert.deepEqual(
    exampleIds.filter((id) => !known.has(id)),
    [],
  );
});

inAnyWorld('access to every operation', (world) => {
  test('is refused without a key and with anything that is no key, before anything else is checked', async () => {
    const { own } = world();
    const live = await own.make('/api_keys');
    const deleted = await own.make('/api_keys');
    await world().gatehouse.delete(`/api_keys/${deleted.id}`);
    const credentials: readonly (readonly [string | undefined, number])[] = [
      [undefined, 200],
      ['', 200],
      ['Bearer', 201],
      ['Bearer ', 201],
      ['Basic dXNlcjpwYXNz', 201],
      [own.token, 201],
      [`Bearer ${own.token} ${own.token}`, 201],
      ['Bearer short', 202],
      [`Bearer ${'x'.repeat(50)}`, 202],
      [`Bearer ${own.token}x`, 202],
      [`Bearer ${newId('ak').slice(3)}_${'a'.repeat(43)}`, 203],
      // The id of an active key with another secret.
      [`Bearer ${live.token?.slice(0, 28)}${'a'.repeat(43)}`, 203],
      [`Bearer ${deleted.token?.slice(0, 28)}${'a'.repeat(43)}`, 203],
      [`Bearer ${deleted.token}`, 203],
      [`Bearer ${deleted.id}`, 208],
    ];
    await world().unchanged(() =>
      forEach(operations, async (operation) => {
        for (const [authorization, code] of credentials) {
          const { headers, status, body, text } = await callBadly(world(), operation, { authorization });
          assert.deepEqual([status, body.error_code], [401, `ERR_GATEHOUSE_${code}`], authorization ?? 'no header');
          assert.equal(headers.get('www-authenticate'), 'Bearer');
          const secret = authorization?.split(' ').at(-1) ?? '';
          assert.ok(secret.length < 10 || !text.includes(secret), 'the answer repeats the credential');
        }
      }),
    );
  });

  test('ends with the key, with its owner, and while its owner is inactive', async () => {
    const { gatehouse } = world();
    const make = async (active: boolean) => {
      const bot = await gatehouse.create('/bot_users', { name: `${active} bot` });
      const { token } = await gatehouse.create('/api_keys', { owner_id: bot.id });
      assert.equal((await gatehouse.get('/api_keys', { token })).status, 200);
      return { bot, token };
    };
    const inactive = await make(false);
    const gone = await make(true);
    const user = await world().createUser('leaver', 'admin');
    await gatehouse.patch(`/bot_users/${inactive.bot.id}`, { active: false });
    await gatehouse.delete(`/bot_users/${gone.bot.id}`);
    await world().hostCommand('users delete', { account: 'default', id: user.principalId });
    const deactivated = await world().own.make('/users');
    await gatehouse.patch(`/users/${deactivated.id}`, { active: false });
    const refused = [
      [inactive.token, 403, 636],
      [deactivated.token, 403, 636],
      [gone.token, 401, 203],
      [user.token, 401, 203],
    ] as const;
    await forEach(operations, async (operation) => {
      for (const [token, expected, code] of refused) {
        const { status, body } = await callBadly(world(), operation, { authorization: `Bearer ${token}` });
        assert.deepEqual([status, body.error_code], [expected, `ERR_GATEHOUSE_${code}`]);
      }
    });
  });

  test('ends with the key that expires, and is refused from addresses that the key is not for', async (t) => {
    const { gatehouse } = world();
    const expires_at = toTimestamp(Date.now() + 60_000);
    const expired = await gatehouse.create('/api_keys', { expires_at });
    const policy = await gatehouse.create('/ip_policies');
    const elsewhere = await gatehouse.create('/api_keys', { ip_policy_ids: [policy.id] });
    t.mock.timers.enable({ apis: ['Date'], now: Date.parse(expires_at) });
    await world().unchanged(() =>
      forEach(operations, async (operation) => {
        for (const [token, expected, code] of [
          [expired.token, 401, 20069],
          [elsewhere.token, 403, 20071],
        ]) {
          const { status, body } = await callBadly(world(), operation, { authorization: `Bearer ${token}` });
          assert.deepEqual([status, body.error_code], [expected, `ERR_GATEHOUSE_${code}`]);
        }
      }),
    );
  });

  test('is given to a read-only key where it reads, and nowhere else', async () => {
    const { token } = await world().gatehouse.create('/api_keys', { read_only: true });
    const preparedFor = await world().own.prepareUnchanged(operations.filter(isChosen));
    await world().unchanged(() =>
      forEach(operations, async (operation) => {
        const { status, body, text } = await world().own.call(operation, preparedFor(operation), { token });
        if (onlyReads(operation)) assert.equal(status, operation.successStatus, text);
        else assert.deepEqual([status, body.error_code], [403, 'ERR_GATEHOUSE_20070']);
      }),
    );
  });

  test('needs the version, which is checked before rights, query, body and resource', async () => {
    const member = await world().createUser('member of versions', 'member');
    const wrongVersions = [
      [undefined, 218],
      ['', 217],
      ['1', 217],
      ['2.0', 217],
      ['two', 217],
    ] as const;
    await world().unchanged(() =>
      forEach(operations, async (operation) => {
        for (const [version, code] of wrongVersions) {
          const headers = { authorization: `Bearer ${member.token}`, 'service-version': version };
          const { status, body } = await callBadly(world(), operation, headers);
          assert.deepEqual([status, body.error_code], [400, `ERR_GATEHOUSE_${code}`], `version ${version}`);
        }
      }),
    );
  });

  test('checks rights before the body, and the body before the resource', async () => {
    const member = await world().createUser('member of order', 'member');
    const version = { 'service-version': '2' };
    const preparedFor = await world().own.prepareUnchanged(operations.filter(isChosen));
    await forEach(operations, async (operation) => {
      const asMember = await callBadly(world(), operation, { authorization: `Bearer ${member.token}`, ...version });
      const asAdmin = await callBadly(world(), operation, version);
      assert.equal(asMember.status, rightsTable[operation.id] === 'admin' ? 403 : asAdmin.status);
      assert.ok([400, 415].includes(asAdmin.status), `answered ${asAdmin.status}`);
      if (operation.params.length === 0) return;
      const { body } = preparedFor(operation);
      const { status } = await world().own.call(operation, { path: madeUpPath(operation), body });
      assert.equal(status, 404);
    });
  });

  test('is answered with 405 for every other method, and 404 where there is nothing, whatever else is wrong', async () => {
    const { url } = world().gatehouse;
    const knownMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'];
    const send = (method: string, target: string) =>
      requestTarget(url, method, target, { 'content-type': 'text/xml' }, method === 'TRACE' ? undefined : '{"broken');
    for (const [path, methods] of Object.entries(openApi.paths)) {
      if (!Object.values(methods).some(({ operationId }) => isChosen({ id: operationId }))) continue;
      const documented = Object.keys(methods).map((method) => method.toUpperCase());
      const target = path.replaceAll(/\{\w+\}/g, 'nope');
      for (const method of knownMethods) {
        assert.equal((await send(method, `${target}/`)).status, 404, `${method} ${target}/`);
        if (documented.includes(method)) continue;
        const { status, headers, text } = await send(method, target);
        // A module that is not offered can only be deleted; for the rest, its path says what there is instead.
        if (findHostedPath(target) !== undefined) {
          assert.deepEqual([status, JSON.parse(text).error_code], [404, 'ERR_GATEHOUSE_20191'], `${method} ${target}`);
          continue;
        }
        assert.equal(status, 405, `${method} ${target}`);
        const allowed = String(headers['allow']).split(', ');
        assert.deepEqual(allowed.filter((each) => each !== 'HEAD').toSorted(), documented.toSorted());
      }
    }
  });

  test('is open to everyone where the document says so', async () => {
    const { url } = world().gatehouse;
    // The link of an invitation is a credential itself.
    for (const { method, path, described } of publicOperations.filter(({ id }) => !id.startsWith('Invitations'))) {
      const { status, headers } = await requestTarget(url, method, path, {}, undefined);
      assert.ok(described.responses[status], `${path} answered ${status}`);
      assert.ok(status === 200 || status === 503, `${path} answered ${status}`);
      assert.equal(headers['cache-control'], 'no-store');
    }
    // A new public path must be added here, so that nothing becomes public by mistake.
    const open = publicOperations.map(({ path }) => path).toSorted();
    assert.deepEqual(open, [
      '/configuration.schema.json',
      '/healthz',
      '/invitations/accept',
      '/invitations/show',
      '/local_ca.pem',
      '/openapi.json',
      '/readyz',
    ]);
  });
});

/** Makes a call on a missing resource in which everything is wrong except the given headers. */
function callBadly(world: World, operation: ApiOperation, headers: CallOptions['headers']) {
  const canHaveBody = operation.method !== 'GET';
  return world.own.call(
    operation,
    { path: `${madeUpPath(operation)}?unknown=1`, body: undefined },
    {
      headers: { 'service-version': undefined, ...(canHaveBody ? { 'content-type': 'text/xml' } : {}), ...headers },
      ...(canHaveBody ? { raw: '{"broken' } : {}),
    },
  );
}

function madeUpPath({ path }: ApiOperation): string {
  return path.replaceAll(/\{\w+\}/g, 'nope');
}
