import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';

import { until } from '../../test/e2e/gateway/support/until.ts';
import { onAnyDatabase } from '../../test/support/each-database.ts';
import { EventReceiver, receiverCa } from '../../test/support/event-receiver.ts';
import { Gatehouse } from '../../test/support/gatehouse.ts';
import { eventStorage } from '../resources/events/service.ts';
import type { DeliveryState } from './storage.ts';
import { DestinationWorker } from './worker.ts';

const sourcesOf = (...actions: readonly string[]) => actions.map((action) => ({ type: `ip_policy_${action}.v0` }));
const sources = sourcesOf('created');

onAnyDatabase('shares of those who send events', (newDatabase) => {
  const open = async () => Gatehouse.start(await newDatabase(), { upstreamCa: receiverCa });
  const storageOf = (gatehouse: Gatehouse) => gatehouse.app.context.services.get(eventStorage);
  const subscribe = async (gatehouse: Gatehouse, receiver: EventReceiver) => {
    const { id } = await gatehouse.create('/event_destinations', receiver.destination);
    const made = await gatehouse.create('/event_subscriptions', { sources, destination_ids: [id] });
    return { destination: `/event_destinations/${id}`, subscription: `/event_subscriptions/${made.id}` };
  };

  test('an account has few events in memory and reads one thing at a time, however many destinations it has', async () => {
    await using receiver = await EventReceiver.start(() => {});
    await using gatehouse = await open();
    const storage = storageOf(gatehouse);
    const original = { ...storage };
    let [events, over, reading, mostReading] = [0, 0, 0, 0];
    const counted = async <Result>(work: () => Promise<Result>): Promise<Result> => {
      reading += 1;
      mostReading = Math.max(mostReading, reading);
      return work().finally(() => (reading -= 1));
    };
    storage.load = (...given) => counted(() => original.load(...given));
    storage.next = (...given) => counted(() => original.next(...given));
    storage.read = (...given) => {
      events += 1;
      return counted(() => original.read(...given));
    };
    storage.save = (...given) => {
      over += 1;
      return original.save(...given);
    };
    const ids: string[] = [];
    for (let count = 0; count < 30; count++)
      ids.push((await gatehouse.create('/event_destinations', receiver.destination)).id);
    for (const at of [0, 10, 20])
      await gatehouse.create('/event_subscriptions', { sources, destination_ids: ids.slice(at, at + 10) });
    await gatehouse.create('/ip_policies', { description: 'one' });
    await until(() => receiver.received.length >= 20, 'the share is used');
    assert.ok(events - over <= 20, `${events} events were read, and ${over} attempts are over`);
    assert.equal(mostReading, 1);
  });

  test('a change that is none for an attempt under way does not repeat it', async () => {
    const held: ServerResponse[] = [];
    await using receiver = await EventReceiver.start((_event, response) => void held.push(response));
    await using gatehouse = await open();
    const { destination, subscription } = await subscribe(gatehouse, receiver);
    await gatehouse.create('/ip_policies', { description: 'one' });
    await until(() => held.length === 1, 'the attempt is under way');
    await gatehouse.patch(destination, { description: 'changed' });
    await gatehouse.patch(subscription, { description: 'changed', sources: sourcesOf('created', 'deleted') });
    await gatehouse.post(`${destination}/resend`);
    await gatehouse.create('/event_destinations', receiver.destination);
    receiver.answer = (_event, response) => void response.writeHead(204).end();
    for (const response of held) response.writeHead(204).end();
    await gatehouse.create('/ip_policies', { description: 'two' });
    await until(() => receiver.descriptions.includes('two'), 'the next one arrives');
    assert.deepEqual(receiver.descriptions, ['one', 'two']);
  });

  test('whoever asks for an attempt while one is under way need not wait once it fails', async () => {
    const held: ServerResponse[] = [];
    await using receiver = await EventReceiver.start((_event, response) => void held.push(response));
    await using gatehouse = await open();
    const storage = storageOf(gatehouse);
    const original = { ...storage };
    const failed: DeliveryState[] = [];
    storage.save = (holder, delivery, progress) => {
      if (progress.state.failures > 0) failed.push(progress.state);
      return original.save(holder, delivery, progress);
    };
    const { destination } = await subscribe(gatehouse, receiver);
    for (const isAsked of [false, true]) {
      const count = held.length;
      if (count === 0) await gatehouse.create('/ip_policies', { description: 'one' });
      else await gatehouse.post(`${destination}/resend`);
      await until(() => held.length > count, 'the attempt is under way');
      if (isAsked) await gatehouse.post(`${destination}/resend`);
      held.at(-1)?.writeHead(500).end();
      await until(() => failed.length > count, 'it has failed');
      assert.equal(failed.at(-1)?.retriesAt === undefined, isAsked);
    }
  });

  test('an attempt under way ends when its type or its subscription goes, and the secret is another', async () => {
    const held: ServerResponse[] = [];
    await using receiver = await EventReceiver.start((_event, response) => void held.push(response));
    await using gatehouse = await open();
    const { destination, subscription } = await subscribe(gatehouse, receiver);
    // The destination stays in use.
    await gatehouse.create('/event_subscriptions', {
      sources: sourcesOf('deleted'),
      destination_ids: [destination.slice(20)],
    });
    const endsBy = async (change: () => Promise<unknown>) => {
      const count = held.length;
      await gatehouse.create('/ip_policies', {});
      await until(() => held.length > count, 'an attempt is under way');
      const closed = once(held.at(-1)!, 'close');
      await change();
      await closed;
      // It has not run out of time.
      const { last_error } = (await gatehouse.get(destination)).body.delivery;
      assert.equal(last_error, null);
    };
    await endsBy(() => gatehouse.patch(subscription, { sources: sourcesOf('updated') }));
    await gatehouse.patch(subscription, { sources });
    const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
    const { webhook } = receiver.destination.target;
    await endsBy(() => gatehouse.patch(destination, { target: { webhook: { ...webhook, secret } } }));
    await until(() => receiver.received.at(-1)?.isSigned === false, 'it is signed by the new secret');
    const last = held.at(-1)!;
    const closed = once(last, 'close');
    await gatehouse.delete(subscription);
    await closed;
    assert.equal((await gatehouse.get(destination)).body.delivery.last_error, null);
  });

  test('a worker that was stopped sends nothing any more, whatever it was told before', async () => {
    await using receiver = await EventReceiver.start();
    await using gatehouse = await open();
    const { destination } = await subscribe(gatehouse, receiver);
    let loads = 0;
    const gate = Promise.withResolvers<void>();
    const storage = storageOf(gatehouse);
    const load: typeof storage.load = async (id) => {
      loads += 1;
      await gate.promise;
      return storage.load(id);
    };
    const worker = new DestinationWorker(destination.slice(20), {
      storage: { ...storage, load },
      holder: 'nobody',
      send: () => assert.fail('nothing is sent'),
      signal: new AbortController().signal,
      warn: (_fields, message) => assert.fail(message),
      onFault: (error) => assert.fail(String(error)),
    });
    worker.look();
    worker.restart(true);
    worker.stop();
    gate.resolve();
    await worker.done;
    worker.look();
    await worker.done;
    assert.equal(loads, 1);
  });

  for (const [name, subscriptions] of [
    ['when the lease is taken', 0],
    ['when somebody subscribes', 1],
  ] as const)
    test(`a database that fails ${name} delays events, and loses none`, async () => {
      await using receiver = await EventReceiver.start();
      await using gatehouse = await open();
      for (let count = 0; count < subscriptions; count++) {
        await subscribe(gatehouse, receiver);
        await gatehouse.create('/ip_policies', { description: 'before' });
        await until(() => receiver.received.length === 1, 'the lease is held');
      }
      const storage = storageOf(gatehouse);
      const original = { ...storage };
      let faults = 0;
      storage.destinations = async () => {
        faults += 1;
        throw new Error('it is away');
      };
      await subscribe(gatehouse, receiver);
      // A new destination is looked for too where the lease is held.
      await until(() => faults > subscriptions, 'it has failed');
      storage.destinations = (...given) => original.destinations(...given);
      await gatehouse.create('/ip_policies', { description: 'after' });
      const isAfter = (each: string) => each === 'after';
      await until(() => receiver.descriptions.filter(isAfter).length === subscriptions + 1, 'it is sent to each');
    });
});
