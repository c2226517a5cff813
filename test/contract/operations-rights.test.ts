import assert from 'node:assert/strict';
import { test } from 'node:test';

import { viewersRead } from '../../src/api/errors.ts';
import { newId } from '../../src/lib/ids.ts';
import { isTried } from '../support/sample.ts';
import { rightsTable } from './rights-table.ts';
import type { Prepared } from './support/account.ts';
import { inAnyWorld } from './support/in-worlds.ts';
import { forEach, isChosen, onlyReads, operations } from './support/operations.ts';
import type { ApiOperation } from './support/operations.ts';
import type { World } from './support/world.ts';

test('the table of rights names every operation and nothing else, and agrees with the operations', () => {
  const stated = Object.fromEntries(operations.map(({ id, described }) => [id, described['x-rights']]));
  const missing = Object.keys(stated).filter((id) => !(id in rightsTable));
  const rows = missing.map((id) => `  ${id}: '${stated[id]}',`);
  assert.deepEqual(rows, [], `if this is meant, enter in test/contract/rights-table.ts:\n${rows.join('\n')}\n`);
  assert.deepEqual(rightsTable, stated);
});

inAnyWorld('rights', (world) => {
  for (const role of ['member', 'bot'] as const) {
    test(`of a ${role} are those of the table`, async () => {
      const caller = await principal(world(), role);
      // An admin prepares the calls: the example key belongs to a bot, and the example of a new one names its owner.
      const isGiven = ({ id }: ApiOperation) => ['everyone', 'unprotected'].includes(rightsTable[id] ?? '');
      await forEach(operations.filter(isGiven), async (operation) => {
        const { status, text } = await world().own.call(operation, await world().own.prepare(operation), caller);
        assert.equal(status, operation.successStatus, text);
      });
      const others = operations.filter((operation) => !isGiven(operation));
      const preparedFor = await world().own.prepareUnchanged(others.filter(isChosen));
      await world().unchanged(() =>
        forEach(others, async (operation) => {
          assert.equal((await world().own.call(operation, preparedFor(operation), caller)).status, 403);
        }),
      );
    });

    test(`of a ${role} end at policies that decide who may call`, async () => {
      const caller = await principal(world(), role);
      const protectable = operations.filter(({ id }) => rightsTable[id] === 'unprotected');
      const preparedFor = await world().own.prepareAll(protectable);
      const restrictions = new Map<ApiOperation, string>();
      for (const operation of protectable) {
        const ip_policy_ids = [await policyOf(world(), preparedFor(operation))];
        const enforced = { type: 'dashboard', enforced: true, ip_policy_ids };
        restrictions.set(operation, (await world().gatehouse.create('/ip_restrictions', enforced)).id);
      }
      await world().unchanged(() =>
        forEach(protectable, async (operation) => {
          const { status, body } = await world().own.call(operation, preparedFor(operation), caller);
          assert.deepEqual([status, body.error_code], [403, 'ERR_GATEHOUSE_20067']);
          const id = restrictions.get(operation) ?? '';
          assert.ok(body.msg.includes(id) && body.msg.includes('only an admin'), body.msg);
        }),
      );
    });

    test(`of a ${role} are those to make, change and delete keys of its own`, async () => {
      const { gatehouse } = world();
      const caller = await principal(world(), role);
      const key = await gatehouse.create('/api_keys', {}, caller);
      const named = await gatehouse.create('/api_keys', { owner_id: key.owner_id }, caller);
      assert.equal(named.owner_id, key.owner_id);
      assert.equal((await gatehouse.patch(`/api_keys/${key.id}`, { description: 'mine' }, caller)).status, 200);
      assert.equal((await gatehouse.delete(`/api_keys/${key.id}`, caller)).status, 204);
    });
  }

  test('of a viewer are those of everyone that read, and no other', async () => {
    const { id, token = '' } = await world().own.make('/users');
    assert.equal((await world().gatehouse.patch(`/users/${id}`, { role: 'viewer' })).status, 200);
    const preparedFor = await world().own.prepareUnchanged(operations.filter(isChosen));
    await world().unchanged(() =>
      forEach(operations, async (operation) => {
        const { status, body, text } = await world().own.call(operation, preparedFor(operation), { token });
        const isRead = onlyReads(operation);
        if (isRead && rightsTable[operation.id] !== 'admin') assert.equal(status, operation.successStatus, text);
        else assert.equal(status, 403);
        if (!isRead) assert.equal(body.error_code, `ERR_GATEHOUSE_${viewersRead.code}`);
      }),
    );
  });

  test('of an admin are all', async () => {
    // The tests of every write and every read make each call as one.
    const some = operations.filter(({ id }) => isTried(4, 'calls of an admin', id));
    await forEach(some, async (operation) => {
      const { status, text } = await world().own.call(operation, await world().own.prepare(operation));
      assert.equal(status, operation.successStatus, text);
    });
  });
});

/** The policy that a call would write, itself or by its rules. */
async function policyOf({ gatehouse }: World, { path, body }: Prepared): Promise<string> {
  if (path === '/configuration') return policyOfEntry(gatehouse, body);
  const [named] = /ipp_\w+/.exec(`${path} ${JSON.stringify(body)}`) ?? [];
  return named ?? (await gatehouse.get(path)).body.ip_policy.id;
}

/** Makes the policy that the first entry would change. */
async function policyOfEntry(gatehouse: World['gatehouse'], entries: unknown): Promise<string> {
  assert.ok(Array.isArray(entries));
  const { status, body } = await gatehouse.call('POST', '/configuration', [
    { ...entries[0], description: 'as it was' },
  ]);
  assert.equal(status, 200);
  return body.steps[0].id;
}

async function principal(world: World, role: 'member' | 'bot'): Promise<{ readonly token: string }> {
  if (role === 'member') return { token: (await world.createUser(`member ${newId('x')}`, role)).token };
  const bot = await world.own.make('/bot_users');
  const { token } = await world.gatehouse.create('/api_keys', { owner_id: bot.id });
  return { token: String(token) };
}
