import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';

import { onEachDatabase } from '../test/support/each-database.ts';
import { GatehouseProcess } from '../test/support/gatehouse-process.ts';
import type { Ended } from '../test/support/gatehouse-process.ts';

const chosenToken = 'chosen-by-the-operator-0123456789-abcdef';

onEachDatabase('the program', (newDatabase) => {
  test('the first start prints a token and a curl that works when pasted; later ones print neither', async () => {
    const url = await newDatabase();
    let token = '';
    {
      await using first = await GatehouseProcess.serve(url);
      token = await first.printed(/^ {2}(\w{27}_\w{43})$/m);
      const command = await first.printed(/^ {2}(curl .*)$/m);
      const { keys } = JSON.parse((await promisify(execFile)('sh', ['-c', command])).stdout);
      assert.deepEqual(
        keys.map(({ id }: { id: string }) => id),
        [`ak_${token.slice(0, 27)}`],
      );
      assertOnlyGreetingHas((await stopInOrder(first)).out, token);
    }
    await using second = await GatehouseProcess.serve(url);
    const { keys } = JSON.parse(await (await second.call('GET', '/api_keys', token)).text());
    assert.equal(keys.length, 1);
    assert.doesNotMatch(second.out, /token|curl/);
  });

  test('what was answered 2xx survives kill -9, under a first token that is chosen once and printed nowhere', async () => {
    const url = await newDatabase();
    const answered: string[] = [];
    {
      await using service = await GatehouseProcess.serve(url, ['--bootstrap-token', chosenToken]);
      assert.equal((await service.call('GET', '/api_keys', `${chosenToken}x`)).status, 401);
      const writeOn = async (lane: number) => {
        for (let at = 0; ; at++) {
          const response = await service.call('POST', '/ip_policies', chosenToken, { description: `${lane} ${at}` });
          assert.equal(response.status, 201);
          answered.push(JSON.parse(await response.text()).id);
          // In the middle of the writes of the other lanes.
          if (answered.length === 60) service.child.kill('SIGKILL');
        }
      };
      await Promise.allSettled([writeOn(1), writeOn(2), writeOn(3), writeOn(4)]);
      const { code, out, errors } = await service.ended();
      assert.equal(code, null);
      assert.ok(!`${out}${errors}`.includes(chosenToken));
    }
    assert.ok(answered.length >= 60);
    await using service = await GatehouseProcess.serve(url, ['--bootstrap-token', `another-${chosenToken}`]);
    assert.equal((await service.call('GET', '/api_keys', `another-${chosenToken}`)).status, 401);
    for (const id of answered) {
      assert.equal((await service.call('GET', `/ip_policies/${id}`, chosenToken)).status, 200, id);
    }
    assert.equal((await service.call('POST', '/ip_policies', chosenToken)).status, 201);
  });
});

describe('the program', () => {
  test('bad settings end it with 1 and all their faults on standard error', async () => {
    const { code, out, errors } = await GatehouseProcess.run(['serve', '--tcp-ports', 'x', '--nothing', 'y'], {
      GATEHOUSE_LOG_LEVEL: 'loud',
      GATEHOUSE_UNHEARD_OF: '1',
      GATEHOUSE_BOOTSTRAP_TOKEN: 'hunter2',
    });
    assert.equal(code, 1);
    assert.equal(out, '');
    for (const name of [
      '--tcp-ports "x"',
      '--nothing',
      'GATEHOUSE_LOG_LEVEL "loud"',
      'GATEHOUSE_UNHEARD_OF',
      'GATEHOUSE_BOOTSTRAP_TOKEN',
    ]) {
      assert.ok(errors.includes(name), `${name} in ${errors}`);
    }
    assert.ok(!errors.includes('hunter2') && !errors.includes('    at '));
  });

  test('the help lists every setting, with and without the word serve', async () => {
    for (const args of [['--help'], ['serve', '--help']]) {
      const { code, out } = await GatehouseProcess.run(args);
      assert.equal(code, 0);
      assert.ok(out.includes('--api-listen, GATEHOUSE_API_LISTEN'));
      assert.ok(out.includes('(default: 127.0.0.1:4040)') && out.includes('(default: sqlite:./data/gatehouse.db)'));
    }
  });

  test('a database that cannot be reached ends it with 1 and a reason without the password', async () => {
    const { code, errors } = await GatehouseProcess.run([
      '--role',
      'api',
      '--database-url',
      'postgres://u:hunter2@127.0.0.1:1/x',
    ]);
    assert.equal(code, 1);
    assert.match(errors, /the database cannot be reached/);
    assert.ok(!errors.includes('hunter2') && !errors.includes('    at '));
  });
});

/** SIGTERM ends it with 0, also while a client holds a connection on which it never sent anything. */
async function stopInOrder(service: GatehouseProcess): Promise<Ended> {
  const { hostname, port } = new URL(service.url);
  const idle = connect(Number(port), hostname);
  idle.on('error', () => {});
  await once(idle, 'connect');
  const ended = await service.stop('SIGTERM');
  assert.equal(ended.code, 0, ended.errors);
  return ended;
}

/** The greeting shows it twice: by itself, and in the command. No line of the log does. */
function assertOnlyGreetingHas(out: string, token: string): void {
  const secret = token.split('_')[1] ?? assert.fail();
  const lines = out.split('\n').filter((line) => line.includes(secret));
  assert.equal(lines.length, 2);
  assert.ok(lines.every((line) => !line.startsWith('{')));
  assert.ok(
    out.split('\n').some((line) => line.startsWith('{')),
    'there is a log',
  );
}
