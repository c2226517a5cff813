import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { onDatabasesInTurn } from '../../support/each-database.ts';
import { freePort } from '../../support/free-port.ts';
import { isLong, rounds } from '../../support/long-form.ts';
import { someOf } from '../../support/sample.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { Changing, keptDecisions, randomChange, randomRequest, visit } from './support/random-visits.ts';
import { Site } from './support/site.ts';

/** Requests in all, and changes of the configuration between them. */
const [requests, changes] = [rounds(150, 10_000), rounds(25, 600)];
const seedOfRun = process.env['TEST_SEED'];

onDatabasesInTurn('explained decisions', (newDatabase) => {
  for (const workers of isLong ? ['off', '2'] : someOf(['off', '2'], 1, 'workers of explained decisions')) {
    test(`past requests have the verdict of the configuration of their moment, with workers: ${workers}`, async () => {
      const settings = { workers, httpsListen: `[::]:${await freePort()}`, decisions: scratchFolder() };
      await using site = await Site.start(settings, await newDatabase());
      const { gatehouse } = site;
      const changing = new Changing(site);
      for (const cidr of ['127.0.0.0/8', '127.0.0.0/29', '127.0.0.4/30', '!127.0.0.5/32'])
        changing.policies.push(await site.policy(cidr));
      const seed = seedOfRun === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(seedOfRun);
      const wanted = fc.sample(randomChange, { numRuns: changes, seed });
      const asked = fc.sample(randomRequest, { numRuns: requests, seed });
      const perChange = Math.ceil(requests / changes);
      const why = (text: string) => `${text} (TEST_SEED=${seed})`;
      for (const [place, each] of wanted.entries()) {
        const write = await changing.writeOf(each);
        if (write !== undefined) await changing.make(write);
        for (const one of asked.slice(place * perChange, (place + 1) * perChange)) await visit(site, one);
      }
      const rows = await keptDecisions(site, requests);
      assert.equal(rows.length, requests);
      const seen = new Map<string, number>();
      for (const { id } of rows) {
        const { status, body, text } = await gatehouse.get(`/decisions/${id}/explanation`);
        assert.equal(status, 200, why(text));
        const { decision, at_the_time: then } = body;
        assert.equal(then.is_known, true, why(text));
        const isMissing = decision.verdict === 'allowed' && (decision.status === 404 || decision.status === 400);
        const expected = decision.verdict === 'refused' ? 'refused' : isMissing ? 'not_served' : 'allowed';
        seen.set(then.verdict, (seen.get(then.verdict) ?? 0) + 1);
        if (then.verdict === 'depends') {
          const by = then.checks.find(({ effect }: { effect: string }) => effect === 'depends');
          assert.ok(['basic_auth', 'user_agent_filter', 'rate_limit'].includes(by.module), why(text));
          continue;
        }
        assert.equal(then.verdict, expected, why(text));
        if (decision.verdict !== 'warned') continue;
        const warns = then.checks.filter(({ effect }: { effect: string }) => effect === 'warns');
        const restrictions = warns.filter(({ kind }: { kind: string }) => kind === 'ip_restriction');
        assert.deepEqual(
          (decision.restrictions ?? []).toSorted(),
          restrictions.map((each: { id: string }) => each.id).toSorted(),
          why(text),
        );
        assert.ok(warns.length > 0, why(text));
      }
      for (const verdict of ['allowed', 'refused'])
        assert.ok((seen.get(verdict) ?? 0) > requests / 50, why(JSON.stringify([...seen])));
    });
  }
});
