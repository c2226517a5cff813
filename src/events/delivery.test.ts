import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { until } from '../../test/e2e/gateway/support/until.ts';
import { onEachDatabase } from '../../test/support/each-database.ts';
import { EventReceiver, receiverCa } from '../../test/support/event-receiver.ts';
import { Gatehouse } from '../../test/support/gatehouse.ts';
import { createAccount, createUser } from '../../test/support/people.ts';
import type { CallOptions } from '../../test/support/gatehouse.ts';

const sources = ['created', 'updated', 'deleted'].map((action) => ({ type: `ip_policy_${action}.v0` }));

onEachDatabase('delivery of events', (newDatabase) => {
  const open = (database: string) => Gatehouse.start(database, { upstreamCa: receiverCa });
  const subscribe = async (gatehouse: Gatehouse, receiver: EventReceiver, options?: CallOptions): Promise<string> => {
    const { id } = await gatehouse.create('/event_destinations', receiver.destination, options);
    await gatehouse.create('/event_subscriptions', { sources, destination_ids: [id] }, options);
    return id;
  };
  const make = async (gatehouse: Gatehouse, names: readonly string[], options?: CallOptions) => {
    for (const description of names) await gatehouse.create('/ip_policies', { description }, options);
  };
  const stateOf = async (gatehouse: Gatehouse, id: string, options?: CallOptions) =>
    (await gatehouse.get(`/event_destinations/${id}`, options)).body.delivery;
  const newAccount = async (gatehouse: Gatehouse): Promise<CallOptions> => ({
    token: (await createUser(gatehouse, 'admin', await createAccount(gatehouse))).token,
  });
  const arrived = (receiver: EventReceiver, count: number) =>
    until(
      () => receiver.received.length >= count,
      () => `${receiver.received.length} of ${count} have arrived`,
    );

  describe('with one Gatehouse', () => {
    let running: Gatehouse | undefined;
    before(async () => {
      running = await open(await newDatabase());
    });
    after(() => running?.[Symbol.asyncDispose]());
    const shared = () => running ?? assert.fail('the Gatehouse runs only while tests do');

    test('changes of the account arrive signed, in order, and nothing else does', async () => {
      await using receiver = await EventReceiver.start();
      const gatehouse = shared();
      const own = await newAccount(gatehouse);
      const other = await newAccount(gatehouse);
      await using others = await EventReceiver.start();
      await make(gatehouse, ['too early'], own);
      await subscribe(gatehouse, receiver, own);
      await subscribe(gatehouse, others, other);
      const policy = await gatehouse.create('/ip_policies', { description: 'mine' }, own);
      await make(gatehouse, ['not mine'], other);
      await gatehouse.create('/vaults', { name: 'no-source' }, own);
      await gatehouse.patch(`/ip_policies/${policy.id}`, { description: 'still mine' }, own);
      await gatehouse.delete(`/ip_policies/${policy.id}`, own);
      await arrived(receiver, 3);
      await arrived(others, 1);
      assert.deepEqual(
        receiver.received.map(({ body, isSigned, id }) => [body.event_type, isSigned, id === body.event_id]),
        sources.map(({ type }) => [type, true, true]),
      );
      const [created, updated, deleted] = receiver.received.map(({ body }) => body);
      assert.match(created.event_id, /^ev_[0-9A-Za-z]{27}$/);
      assert.deepEqual(
        [created.object.id, created.object.description, created.change.before],
        [policy.id, 'mine', null],
      );
      assert.deepEqual([updated.object.description, updated.change.before.description], ['still mine', 'mine']);
      assert.equal(deleted.object.id, policy.id);
      assert.match(deleted.change.actor, /^usr_/);
      assert.deepEqual(others.descriptions, ['not mine']);
      assert.equal(new Set(receiver.received.map(({ id }) => id)).size, 3);
    });

    test('a receiver that hangs, and one whose answer has no end, delay no other', async () => {
      await using hanging = await EventReceiver.start(() => {});
      await using endless = await EventReceiver.start((_event, response) => {
        response.writeHead(200);
        const write = () => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536)));
          response.once('drain', write);
        };
        write();
      });
      await using quick = await EventReceiver.start();
      const gatehouse = shared();
      const own = await newAccount(gatehouse);
      for (const receiver of [hanging, endless, quick]) await subscribe(gatehouse, receiver, own);
      const names = ['one', 'two', 'three'];
      await make(gatehouse, names, own);
      await arrived(quick, names.length);
      await arrived(endless, names.length);
      assert.deepEqual([quick.descriptions, endless.descriptions], [names, names]);
      assert.ok(hanging.received.length <= 1, 'the next event waits for the first');
    });

    test('what fails is tried again, in order, and the destination says why', async () => {
      await using receiver = await EventReceiver.start((_event, response) => void response.writeHead(500).end());
      const gatehouse = shared();
      const own = await newAccount(gatehouse);
      const id = await subscribe(gatehouse, receiver, own);
      const names = ['one', 'two', 'three'];
      await make(gatehouse, names, own);
      await until(async () => (await stateOf(gatehouse, id, own)).status === 'failing', 'it is told');
      const { last_error, failing_since, retries_at, sent_at } = await stateOf(gatehouse, id, own);
      assert.equal(last_error, 'it answered with the status 500');
      assert.deepEqual([sent_at, retries_at > failing_since], [null, true]);
      receiver.answer = (_event, response) => void response.writeHead(204).end();
      const failed = receiver.received.length;
      await gatehouse.post(`/event_destinations/${id}/resend`, undefined, own);
      await arrived(receiver, failed + names.length);
      assert.deepEqual(receiver.descriptions.slice(failed), names);
      await until(async () => (await stateOf(gatehouse, id, own)).status === 'ok', 'it is in order');
      assert.equal((await stateOf(gatehouse, id, own)).last_error, null);
    });

    test('an event that is refused again and again is kept aside, and is sent again when somebody asks', async () => {
      await using receiver = await EventReceiver.start();
      let isMended = false;
      receiver.answer = ({ body }, response) =>
        void response.writeHead(body.object.description === 'bad' && !isMended ? 400 : 204).end();
      const gatehouse = shared();
      const own = await newAccount(gatehouse);
      const id = await subscribe(gatehouse, receiver, own);
      await make(gatehouse, ['first', 'bad', 'last'], own);
      const count = (name: string) => receiver.descriptions.filter((each) => each === name).length;
      for (let tries = 1; tries <= 5; tries++) {
        await until(
          async () => count('bad') === tries && (await stateOf(gatehouse, id, own)).last_error !== null,
          () => `attempt ${tries}: ${count('bad')}`,
        );
        if (tries < 5) {
          assert.equal(count('last'), 0, 'the order is kept while it is tried');
          await gatehouse.post(`/event_destinations/${id}/resend`, undefined, own);
        }
      }
      await until(() => count('last') === 1, 'the next one follows');
      assert.equal((await stateOf(gatehouse, id, own)).undelivered, 1);
      isMended = true;
      assert.deepEqual((await gatehouse.post(`/event_destinations/${id}/resend`, undefined, own)).body, { resent: 1 });
      await until(async () => (await stateOf(gatehouse, id, own)).undelivered === 0, 'it has arrived');
      assert.deepEqual([count('bad'), count('last'), count('first')], [6, 1, 1]);
    });

    test('nothing is sent to the installation itself, nor any more to what was deleted', async () => {
      await using receiver = await EventReceiver.start();
      const gatehouse = shared();
      const own = await newAccount(gatehouse);
      const { port } = new URL(gatehouse.url);
      const target = { webhook: { ...receiver.destination.target.webhook, url: `https://127.0.0.1:${port}/` } };
      const inward = await gatehouse.create('/event_destinations', { target }, own);
      const outward = await gatehouse.create('/event_destinations', receiver.destination, own);
      const ids = [inward.id, outward.id];
      const { id } = await gatehouse.create('/event_subscriptions', { sources, destination_ids: ids }, own);
      await make(gatehouse, ['one'], own);
      await until(async () => (await stateOf(gatehouse, inward.id, own)).status === 'failing', 'it is refused');
      assert.match((await stateOf(gatehouse, inward.id, own)).last_error, /which is refused: api/);
      await arrived(receiver, 1);
      await gatehouse.delete(`/event_subscriptions/${id}`, own);
      await make(gatehouse, ['two'], own);
      await subscribe(gatehouse, receiver, own);
      await make(gatehouse, ['three'], own);
      await arrived(receiver, 2);
      assert.deepEqual(receiver.descriptions, ['one', 'three']);
    });
  });

  test('what happens while nobody sends is sent after a start, and by the other of two processes', async () => {
    const database = await newDatabase();
    await using receiver = await EventReceiver.start();
    let id: string;
    {
      await using gatehouse = await open(database);
      id = await subscribe(gatehouse, receiver);
      await make(gatehouse, ['one']);
      await arrived(receiver, 1);
      receiver.answer = (_event, response) => void response.writeHead(503).end();
      await make(gatehouse, ['two', 'three']);
      await until(async () => (await stateOf(gatehouse, id)).status === 'failing', 'the receiver is away');
    }
    receiver.answer = (_event, response) => void response.writeHead(204).end();
    const failed = receiver.received.length;
    await using one = await open(database);
    await using other = await open(database);
    await one.post(`/event_destinations/${id}/resend`);
    await make(other, ['four']);
    await make(one, ['five']);
    // An event whose answer comes too late for a process that stops is sent once more.
    const came = () => [...new Set(receiver.descriptions.slice(failed))];
    await until(
      () => came().length >= 4,
      () => `came: ${came().join(' ')}`,
    );
    await one[Symbol.asyncDispose]();
    await make(other, ['six']);
    await until(
      () => came().length >= 5,
      () => `came: ${came().join(' ')}`,
    );
    assert.deepEqual(came(), ['two', 'three', 'four', 'five', 'six']);
  });

  test('a type that is added counts from then on, also after a start', async () => {
    const database = await newDatabase();
    await using receiver = await EventReceiver.start();
    {
      await using gatehouse = await open(database);
      const { id } = await gatehouse.create('/event_destinations', receiver.destination);
      const body = { sources: sources.slice(2), destination_ids: [id] };
      const made = await gatehouse.create('/event_subscriptions', body);
      await make(gatehouse, ['too early']);
      await gatehouse.patch(`/event_subscriptions/${made.id}`, { sources });
      await gatehouse.patch(`/event_subscriptions/${made.id}`, { description: 'kept' });
    }
    await using gatehouse = await open(database);
    await make(gatehouse, ['in time']);
    await arrived(receiver, 1);
    assert.deepEqual(receiver.descriptions, ['in time']);
  });

  test('no byte is sent to an address that leads inwards, in whatever form it is given', async () => {
    await using receiver = await EventReceiver.start();
    await using gatehouse = await open(await newDatabase());
    const { port } = new URL(gatehouse.url);
    const own = ['localhost', '127.0.0.1', '0.0.0.0', '[::ffff:127.0.0.1]', '[64:ff9b::127.0.0.1]'];
    const linkLocal = ['169.254.169.254', '[::ffff:169.254.169.254]', '[64:ff9b::169.254.169.254]', '[fe80::1]'];
    const places = [...own.map((host) => `${host}:${port}`), ...linkLocal];
    const ids = new Map<string, string>();
    for (const place of places) {
      const { webhook } = receiver.destination.target;
      const target = { webhook: { ...webhook, url: `https://${place}/` } };
      ids.set((await gatehouse.create('/event_destinations', { target })).id, place);
    }
    await gatehouse.create('/event_subscriptions', { sources, destination_ids: [...ids.keys()] });
    let connections = 0;
    gatehouse.app.api?.server.on('connection', () => (connections += 1));
    // Over the connection that there is.
    await make(gatehouse, ['one']);
    const { queries } = gatehouse.app.context.store;
    const failed = () => queries.all('SELECT destination_id, error FROM event_deliveries WHERE error IS NOT NULL');
    await until(async () => (await failed()).length === ids.size, 'each has failed');
    for (const [id, error] of await failed())
      assert.match(String(error), /which is refused: (api|link_local)$/, ids.get(String(id)));
    assert.equal(connections, 0);
  });
});
