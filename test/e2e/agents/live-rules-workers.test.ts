import assert from 'node:assert/strict';
import { test } from 'node:test';

import { rounds } from '../../support/long-form.ts';
import { childrenOf } from '../gateway/support/child-processes.ts';
import { Load } from '../gateway/support/load.ts';
import { Random } from '../gateway/support/random.ts';
import { RulesModel, sources } from './support/rules-model.ts';
import { onServed } from './support/served.ts';

/** Rules on the endpoints of agents are in force at every worker when the change is answered. */

const changeCount = rounds(8, 1000);
const seed = Number(process.env['TEST_SEED'] ?? Date.now() % 1_000_000);
/** Connections at once from one address: the system spreads them over the workers, and all of 8 go to one in 1 of 128 cases. */
const visits = 8;

onServed(
  'rules on the endpoints of agents, with two workers',
  (served) => {
    test(`random changes under load are obeyed by every worker`, async (t) => {
      t.diagnostic(`TEST_SEED=${seed}`);
      const { program } = served();
      assert.equal((await childrenOf(program.pid)).length, 2);
      const calmToken = await served().newToken(await served().newAccount('calm'));
      const calm = await served().agent(calmToken, [{ proto: 'tcp' }, { domain: 'calm.localhost' }]);
      const load = new Load({ httpsPort: program.httpsPort, hosts: ['calm.localhost'], tcpPort: calm.portOf(0) });
      const model = await RulesModel.start(served(), new Random(seed));
      const tried = { allowed: 0, refused: 0 };
      const isEnough = () => Object.values(tried).every((count) => count >= visits);
      for (let done = 1; done <= changeCount || !isEnough(); done++) {
        const kind = await model.change();
        for (const door of model.doors) {
          for (const verdict of ['allowed', 'refused'] as const) {
            const from = sources.find((each) => (model.expected(door, each) === 200) === (verdict === 'allowed'));
            if (from === undefined) continue;
            const outcomes = await Promise.all(Array.from({ length: visits }, () => door.ask(from)));
            const what = `change ${done} (${kind}) of seed ${seed}: ${door.name} from ${from}`;
            assert.deepEqual(new Set(outcomes), new Set([model.expected(door, from)]), what);
            tried[verdict] += visits;
          }
        }
      }
      await load.stop();
      t.diagnostic(`${tried.allowed} allowed, ${tried.refused} refused; load ${load.requests}`);
      assert.deepEqual(load.failures.slice(0, 5), []);
      assert.doesNotMatch(program.output, /"level":50/, 'the program logged an error');
      for (const { id } of model.restrictions) await program.must('DELETE', `/ip_restrictions/${id}`);
    });
  },
  { workers: '2' },
);
