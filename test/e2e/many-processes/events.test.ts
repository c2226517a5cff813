import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onEachDatabase } from '../../support/each-database.ts';
import { EventReceiver, receiverCa } from '../../support/event-receiver.ts';
import { rounds } from '../../support/long-form.ts';
import { Running } from './support/running.ts';
import { randomBetween, until } from './support/waiting.ts';

const kills = rounds(2, 30);
const eventsOfRound = 60;

onEachDatabase(`the process that sends events is killed ${kills} times`, (newDatabase) => {
  test('every event arrives once or more, none is missing, and each comes first behind the one before it', async () => {
    const database = await newDatabase();
    await using receiver = await EventReceiver.start();
    await using started = new AsyncDisposableStack();
    const start = async () => started.use(await Running.start(database, { 'upstream-ca': receiverCa }));
    let sender = await start();
    let other = await start();
    const { id } = await sender.create('/event_destinations', receiver.destination);
    const sources = [{ type: 'ip_policy_created.v0' }];
    await sender.create('/event_subscriptions', { sources, destination_ids: [id] });
    const names: string[] = [];
    for (let kill = 1; kill <= kills; kill++) {
      const before = names.length;
      const writing = (async () => {
        for (let count = 0; count < eventsOfRound; count++) {
          const description = `event ${names.length}`;
          await other.create('/ip_policies', { description });
          names.push(description);
        }
      })();
      const goal = before + randomBetween(1, eventsOfRound);
      await until('some have arrived', () => new Set(receiver.descriptions).size >= goal);
      await sender.kill();
      await writing;
      await until('all have arrived', () => new Set(receiver.descriptions).size >= names.length);
      // The one that is left has the lease, and is killed next.
      if (kill < kills) [sender, other] = [other, await start()];
    }
    const firsts = [...new Set(receiver.descriptions)];
    assert.deepEqual(firsts, names);
    assert.ok(receiver.received.every(({ isSigned }) => isSigned));
    const ids = new Map(receiver.received.map(({ id: eventId, body }) => [eventId, body.object.id]));
    assert.equal(ids.size, names.length, 'an event that comes again has the id that it had');
  });
});
