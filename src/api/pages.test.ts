import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { operations, resolveSchema } from '../../test/contract/support/operations.ts';
import type { Answer, Gatehouse } from '../../test/support/gatehouse.ts';
import { createAccount, createUser } from '../../test/support/people.ts';
import { onGatehousesInTurn } from '../../test/support/shared-gatehouse.ts';

interface Listed {
  readonly id: string;
}

/** Lists that hold something in a new account, and one that says what it cannot show, which its own test looks at. */
const others = new Set(['/api_keys', '/changes', '/decisions', '/users']);

/** Every other list but those within a resource, by the key of its entries. */
const lists = operations
  .filter(({ path, params, isList }) => isList && params.length === 0 && !others.has(path))
  .map(({ path, described }) => {
    const { properties = {} } = resolveSchema(described.responses['200']?.content?.['application/json']?.schema ?? {});
    return { path, key: Object.keys(properties).find((name) => !['uri', 'next_page_uri'].includes(name)) ?? '' };
  });

/** A caller alone in a new account with so many policies; answers their ids, newest first. */
async function newAccount(gatehouse: Gatehouse, count: number): Promise<{ token: string; ids: string[] }> {
  const { token } = await createUser(gatehouse, 'admin', await createAccount(gatehouse));
  const ids: string[] = [];
  for (let at = 0; at < count; at++) ids.unshift((await gatehouse.create('/ip_policies', {}, { token })).id);
  return { token, ids };
}

onGatehousesInTurn('lists', (g) => {
  const page = async (token: string, query = '') => {
    const { status, body } = await g().get(`/ip_policies${query}`, { token });
    assert.equal(status, 200);
    return { ids: body.ip_policies.map(({ id }: Listed) => id), next: body.next_page_uri, uri: body.uri };
  };

  test('every list has its envelope, also when it is empty', async () => {
    const { token } = await newAccount(g(), 0);
    assert.ok(lists.length >= 8, `found only ${lists.length} lists`);
    for (const { path, key } of lists) {
      const { body } = await g().get(path, { token });
      assert.deepEqual(body, { [key]: [], uri: `${g().url}${path}`, next_page_uri: null });
    }
    const { body } = await g().get('/api_keys', { token });
    assert.deepEqual(Object.keys(body).toSorted(), ['keys', 'next_page_uri', 'uri']);
    assert.equal(body.keys.length, 1);
  });

  test('a list is newest first, and following next_page_uri gives all of it once', async () => {
    const { token, ids } = await newAccount(g(), 7);
    assert.deepEqual((await page(token)).ids, ids);
    for (const limit of [1, 2, 3, 6, 7, 8, 100]) {
      const seen: string[] = [];
      let uri: string | null = `${g().url}/ip_policies?limit=${limit}`;
      for (let turn = 0; uri !== null; turn++) {
        assert.ok(turn < 10, 'the pages do not end');
        const { body }: { body: { ip_policies: Listed[]; uri: string; next_page_uri: string | null } } = await g().get(
          uri,
          { token },
        );
        assert.ok(body.ip_policies.length <= limit && body.ip_policies.length > 0);
        assert.equal(body.uri, `${g().url}/ip_policies`);
        seen.push(...body.ip_policies.map(({ id }) => id));
        if (body.next_page_uri !== null) {
          assert.equal(body.next_page_uri, `${g().url}/ip_policies?before_id=${seen.at(-1)}&limit=${limit}`);
        }
        uri = body.next_page_uri;
      }
      assert.deepEqual(seen, ids);
    }
  });

  test('a page holds 100 entries unless fewer are asked for', async () => {
    const { token } = await newAccount(g(), 0);
    await Promise.all(Array.from({ length: 101 }, () => g().create('/ip_policies', {}, { token })));
    const first = await page(token);
    assert.equal(first.ids.length, 100);
    assert.equal(first.next, `${g().url}/ip_policies?before_id=${first.ids[99]}&limit=100`);
    const second = await page(token, `?before_id=${first.ids[99]}`);
    assert.equal(second.ids.length, 1);
    assert.equal(second.next, null);
    assert.deepEqual((await page(token, '?limit=100')).ids, first.ids);
  });

  test('the way of paging of every official client works', async () => {
    const { token, ids } = await newAccount(g(), 3);
    assert.deepEqual((await page(token, `?beforeId=${ids[0]}&limit=100`)).ids, ids.slice(1));
    assert.deepEqual((await page(token, `?before_id=${ids[0]}&limit=100`)).ids, ids.slice(1));
    assert.deepEqual((await page(token, `?before_id=${ids[2]}&limit=100`)).ids, []);
    assert.equal((await page(token, `?before_id=${ids[2]}`)).next, null);
  });

  test('the place of an entry that was deleted meanwhile still counts', async () => {
    const { token, ids } = await newAccount(g(), 5);
    await g().delete(`/ip_policies/${ids[1]}`, { token });
    await g().delete(`/ip_policies/${ids[2]}`, { token });
    assert.deepEqual((await page(token, `?before_id=${ids[1]}`)).ids, ids.slice(3));
    assert.deepEqual((await page(token, '?before_id=ipp_zzzzzzzzzzzzzzzzzzzzzzzzzzz')).ids, [ids[0], ids[3], ids[4]]);
    assert.deepEqual((await page(token, '?before_id=ipp_0')).ids, []);
  });

  test('entries made at the same time are in the order in which they were made', async () => {
    const { token } = await newAccount(g(), 0);
    const made = await Promise.all(Array.from({ length: 30 }, () => g().create('/ip_policies', {}, { token })));
    const ids: string[] = made.map(({ id }: Listed) => id);
    assert.deepEqual((await page(token)).ids, ids.toSorted().toReversed());
    const later = (await g().create('/ip_policies', {}, { token })).id;
    assert.equal((await page(token)).ids[0], later);
  });

  test('inserts and deletes while one pages make no entry that stays be lost or come twice', async () => {
    const { token, ids } = await newAccount(g(), 12);
    const staying = new Set(ids);
    const change = fc.constantFrom('insert', 'insert', 'delete', 'nothing');
    const property = fc.asyncProperty(
      fc.integer({ min: 1, max: 5 }),
      fc.array(change, { maxLength: 25 }),
      async (limit, changes) => {
        const passing: string[] = [];
        for (let at = 0; at < 4; at++) passing.push((await g().create('/ip_policies', {}, { token })).id);
        const seen: string[] = [];
        let uri: string | null = `/ip_policies?limit=${limit}`;
        while (uri !== null) {
          const now = changes.splice(0, 3);
          const [{ body }]: [Answer, ...unknown[]] = await Promise.all([
            g().get(uri, { token }),
            ...now.map(async (kind) => {
              if (kind === 'insert') passing.push((await g().create('/ip_policies', {}, { token })).id);
              const gone = kind === 'delete' ? passing.shift() : undefined;
              if (gone !== undefined) await g().delete(`/ip_policies/${gone}`, { token });
            }),
          ]);
          seen.push(...body.ip_policies.map(({ id }: Listed) => id));
          uri = body.next_page_uri;
        }
        assert.deepEqual(seen, seen.toSorted().toReversed());
        assert.equal(new Set(seen).size, seen.length);
        assert.deepEqual(new Set(seen.filter((id) => staying.has(id))), staying);
        await Promise.all(passing.map((id) => g().delete(`/ip_policies/${id}`, { token })));
      },
    );
    await fc.assert(property, { numRuns: 12 });
  });
});
