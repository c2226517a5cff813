import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { onDatabasesInTurn } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { createAccount, createUser } from '../../../test/support/people.ts';
import { randomConfiguration, toEntries } from '../../../test/support/random-configuration.ts';

const runs = process.env['TEST_LONG'] === undefined ? 12 : 200;
const seed = process.env['TEST_SEED'];

onDatabasesInTurn('random configurations', (newDatabase) => {
  test('what is read from one server and applied to another is read from it the same', async () => {
    await using first = await Gatehouse.start(await newDatabase(), { role: 'api' });
    await using second = await Gatehouse.start(await newDatabase(), { role: 'api' });
    const property = fc.asyncProperty(randomConfiguration, async (made) => {
      const [from, to] = [
        await createUser(first, 'admin', await createAccount(first)),
        await createUser(second, 'admin', await createAccount(second)),
      ];
      const post = async (gatehouse: Gatehouse, person: typeof from, entries: unknown, query = '') => {
        const answer = await gatehouse.post(`/configuration${query}`, entries, person);
        assert.equal(answer.status, 200, answer.text);
        return answer.body;
      };
      await post(first, from, toEntries(made));
      assert.deepEqual((await post(first, from, toEntries(made), '?dry_run=true')).steps, []);
      const exported = await first.get('/configuration', from);
      await post(second, to, exported.body.entries);
      const copy = await second.get('/configuration', to);
      assert.equal(copy.text, exported.text);
      assert.equal(copy.headers.get('etag'), exported.headers.get('etag'));
      // Makes room for the next one, and shows that everything can go.
      for (const [gatehouse, person] of [
        [first, from],
        [second, to],
      ] as const) {
        await post(gatehouse, person, [], '?prune=true');
        assert.deepEqual((await gatehouse.get('/configuration', person)).body.entries, []);
      }
    });
    await fc.assert(property, { numRuns: runs, ...(seed === undefined ? {} : { seed: Number(seed) }) });
  });
});
