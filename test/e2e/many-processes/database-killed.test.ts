import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { rounds } from '../../support/long-form.ts';
import type { Answer } from './support/call.ts';
import { checkSoundness } from './support/soundness.ts';
import { Stage } from './support/stage.ts';
import { askName, Traffic } from './support/traffic.ts';
import { until } from './support/waiting.ts';
import { Writer } from './support/writers.ts';

const crashes = rounds(2, 20);

const outages = {
  'PostgreSQL is down': {
    begin: ({ postgres }: Stage) => postgres.crash('SIGKILL'),
    end: ({ postgres }: Stage) => postgres.restart(),
  },
  'PostgreSQL does not answer': {
    begin: async ({ proxy }: Stage) => proxy.freeze(),
    end: async ({ proxy }: Stage) => proxy.thaw(),
  },
  'PostgreSQL does not answer, twice': {
    begin: async ({ proxy }: Stage) => proxy.freeze(),
    end: async ({ proxy }: Stage) => {
      // The proxy freezes again as soon as the gateway reads its first row.
      const again = proxy.freezeAt('FROM local_ca');
      proxy.thaw();
      await (
        await again
      ).abandoned;
      proxy.thaw();
    },
  },
};

describe('outages of PostgreSQL', () => {
  let stage: Stage;
  before(async () => {
    stage = await Stage.set();
  });
  after(() => stage[Symbol.asyncDispose]());

  test(`PostgreSQL is killed ${crashes} times under load: calls answer 503, traffic flows on, nothing acknowledged is lost`, async () => {
    const { postgres, api } = stage;
    const call: typeof api.call = (...request) => api.call(...request);
    const writers = Array.from({ length: 6 }, (_, at) => new Writer(20_000 + at * 1_000));
    for (let crash = 0; crash < crashes; crash++) {
      await using traffic = new Traffic(stage.port);
      const load = Promise.all(writers.map((writer) => writer.writeUntilFailure(call)));
      const goal = 5 * (crash + 1);
      await until('all write', () => writers.every(({ acknowledged }) => acknowledged >= goal));
      await postgres.crash(crash % 2 === 0 ? 'SIGKILL' : 'SIGQUIT');
      await load;

      // Each of these calls needs the database.
      for (let asked = 0; asked < 5; asked++) {
        checkUnavailable(await call('GET', '/ip_policies'));
        checkUnavailable(await call('POST', '/ip_policies'));
      }
      await traffic.stop();
      assert.ok(traffic.served > 0);
      assert.equal(traffic.failed, 0, 'traffic was refused');

      await postgres.restart();
      await until('the API is back', async () => (await call('POST', '/ip_policies')).status === 201);
      await Promise.all(writers.map((writer) => writer.verify(call)));
      await checkSoundness(stage.database);
      await stage.switchBackend();
    }
  });

  for (const [outage, { begin, end }] of Object.entries(outages)) {
    test(`a gateway that is killed and started while ${outage} serves its last configuration, and follows again later`, async () => {
      await stage.switchBackend();
      await until('the file holds the last change', () => stage.isSaved());
      await begin(stage);
      await stage.restartGateway();
      await stage.gateway.prints(/the gateway serves the last configuration it knew/);

      await using traffic = new Traffic(stage.port);
      await until('traffic flows', () => traffic.served > 20);
      assert.equal(await askName(stage.port), stage.expectedName);
      await end(stage);
      await stage.gateway.prints(/^Gatehouse gateway runs/m);
      await stage.switchBackend();
      await traffic.stop();
      assert.equal(traffic.failed, 0, 'traffic was refused');
    });
  }
});

function checkUnavailable({ status, headers, text }: Answer): void {
  assert.equal(status, 503, text);
  assert.match(headers.get('retry-after') ?? '', /^\d+$/);
}
