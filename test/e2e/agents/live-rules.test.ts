import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { test } from 'node:test';

import { rounds } from '../../support/long-form.ts';
import { Load } from '../gateway/support/load.ts';
import { Random } from '../gateway/support/random.ts';
import { until } from '../gateway/support/until.ts';
import { RulesModel, sources } from './support/rules-model.ts';
import { onServed } from './support/served.ts';

/** Rules on the endpoints of agents: changed at random under load, and obeyed by the next visitor. */

const changeCount = rounds(12, 1000);
const seed = Number(process.env['TEST_SEED'] ?? Date.now() % 1_000_000);

async function openConnection(port: number, from: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  socket.on('error', () => {});
  await once(socket, 'connect');
  // The upstream's answer shows that the connection reaches it, and it is kept open for more.
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await Promise.race([once(socket, 'data'), once(socket, 'close')]);
  return socket;
}

onServed('rules on the endpoints of agents', (served) => {
  test(`random changes under load: the next visitor sees each, and nobody else notices`, async (t) => {
    t.diagnostic(`TEST_SEED=${seed}`);
    const { program } = served();
    const calmToken = await served().newToken(await served().newAccount('calm'));
    const calm = await served().agent(calmToken, [{ proto: 'tcp' }, { domain: 'calm.localhost' }]);
    const load = new Load({ httpsPort: program.httpsPort, hosts: ['calm.localhost'], tcpPort: calm.portOf(0) });
    const model = await RulesModel.start(served(), new Random(seed));
    const port = model.doors.find(({ name }) => name === 'a port');
    assert.ok(port);
    const seen = new Map<string, number>();
    let kept: Socket | undefined;
    const isEnough = () => ['200', '403', 'refused'].every((outcome) => (seen.get(outcome) ?? 0) >= 5);
    for (let done = 1; done <= changeCount || !isEnough(); done++) {
      const kind = await model.change();
      const what = `change ${done} (${kind}) of seed ${seed}`;
      for (const door of model.doors) {
        for (const from of sources) {
          const outcome = await door.ask(from);
          assert.equal(outcome, model.expected(door, from), `${what}: ${door.name} from ${from}`);
          seen.set(String(outcome), (seen.get(String(outcome)) ?? 0) + 1);
        }
      }
      const mayStay = model.expected(port, sources[0]) === 200;
      if (!mayStay && kept !== undefined) await until(() => kept?.closed === true, `${what} ends an open connection`);
      else if (mayStay && kept?.closed === false)
        assert.equal(kept.destroyed, false, `${what} keeps an open connection`);
      if (mayStay && kept?.closed !== false) kept = await openConnection(model.port, sources[0]);
      if (kept?.closed === true) kept = undefined;
    }
    kept?.destroy();
    await until(() => load.requests > changeCount / 4, 'requests of the load');
    await load.stop();
    t.diagnostic(`${[...seen].map(([outcome, count]) => `${count} × ${outcome}`).join(', ')}; load ${load.requests}`);
    assert.deepEqual(load.failures.slice(0, 5), []);
    assert.doesNotMatch(program.output, /"level":50/, 'the program logged an error');
    for (const { id } of model.restrictions) await program.must('DELETE', `/ip_restrictions/${id}`);
  });
});
