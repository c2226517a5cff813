import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createAccount, createUser } from '../../../test/support/people.ts';
import type { Person } from '../../../test/support/people.ts';
import { onGatehousesInTurn } from '../../../test/support/shared-gatehouse.ts';
import { admissionTurns } from './tell-admissions.ts';

onGatehousesInTurn('whom a plan lets in newly', (g) => {
  const send = async (entries: readonly object[], person: Person, query = '') => {
    const { status, body, text } = await g().post(`/configuration${query}`, entries, person);
    assert.equal(status, 200, text);
    return body;
  };
  const plan = async (entries: readonly object[], person: Person, query = '') => {
    const { admits_new: told } = await send(entries, person, `?dry_run=true${query}`);
    return [
      told.answer,
      ...told.admissions.map((each: { to: string; example: string | null }) => [each.to, each.example]),
    ];
  };
  const policy = (...rules: readonly string[]) => ({ kind: 'ip_policies', name: 'office', rules });
  const edge = (route: object) => ({
    kind: 'https_edges',
    name: 'shop',
    hostports: ['shop.admissions.test:443'],
    routes: { '/': route },
  });
  const guarded = edge({
    ip_restriction: { ip_policies: ['office'] },
    basic_auth: { credentials: [{ username: 'ada', password: 'correct horse' }] },
  });
  const route = 'https_edges shop, route /';

  test('a wider rule lets somebody in, a narrower one and an equal list nobody', async () => {
    const person = await createUser(g(), 'admin', await createAccount(g()));
    assert.deepEqual(await plan([policy('10.0.0.0/8'), guarded], person), ['yes', [route, '10.0.0.1']]);
    const applied = await send([policy('10.0.0.0/8'), guarded], person);
    assert.equal(applied.admits_new, undefined);
    assert.deepEqual(await plan([policy('10.0.0.0/8', '11.0.0.0/8'), guarded], person), ['yes', [route, '11.0.0.1']]);
    assert.deepEqual(await plan([policy('10.0.0.0/9')], person), ['no']);
    assert.deepEqual(await plan([policy('10.0.0.0/8', '!10.1.0.0/16', '10.2.0.0/16')], person), ['no']);
    assert.deepEqual(await plan([policy('10.0.0.0/8'), guarded], person), ['no']);
    assert.deepEqual(await plan([edge({ ip_restriction: { ip_policies: ['office'] } })], person), [
      'yes',
      [route, '10.0.0.1'],
    ]);
    assert.deepEqual(await plan([edge({})], person), ['yes', [route, '203.0.113.7']]);
    assert.deepEqual(await plan([], person, '&prune=true'), ['no']);
  });

  test('restrictions of the API and the addresses of API keys count', async () => {
    const person = await createUser(g(), 'admin', await createAccount(g()));
    const restriction = (enforced: boolean) => ({
      kind: 'ip_restrictions',
      name: 'api',
      type: 'api',
      enforced,
      ip_policies: ['office'],
    });
    await send([policy('127.0.0.0/8'), restriction(true)], person);
    assert.deepEqual(await plan([restriction(false)], person), ['yes', ['the API', '203.0.113.7']]);
    await send([restriction(false)], person);
    assert.deepEqual(await plan([policy('127.0.0.0/8', '192.0.2.0/24')], person), ['no'], 'it only warns');
    const [{ id }] = (await g().get('/ip_policies', person)).body.ip_policies;
    const { body: key } = await g().post('/api_keys', { ip_policy_ids: [id] }, person);
    assert.deepEqual(await plan([policy('127.0.0.0/8', '192.0.2.0/24')], person), ['yes', [key.id, '192.0.2.1']]);
  });

  test('an account that asks for more than its turns is told that it cannot be told', async () => {
    const accountId = await createAccount(g());
    const person = await createUser(g(), 'admin', accountId);
    const { promise, resolve } = Promise.withResolvers<void>();
    const held = Array.from({ length: 11 }, () => admissionTurns.run(accountId, () => promise));
    try {
      assert.deepEqual(await plan([policy('10.0.0.0/8')], person), ['unknown', ['the account', null]]);
    } finally {
      resolve();
      await Promise.all(held);
    }
    assert.deepEqual(await plan([policy('10.0.0.0/8')], person), ['no']);
  });
});
