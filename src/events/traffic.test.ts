import assert from 'node:assert/strict';
import { test } from 'node:test';

import { until } from '../../test/e2e/gateway/support/until.ts';
import { onDatabasesInTurn } from '../../test/support/each-database.ts';
import { decision } from '../../test/support/decisions.ts';
import { EventReceiver, receiverCa } from '../../test/support/event-receiver.ts';
import { Gatehouse } from '../../test/support/gatehouse.ts';
import type { CallOptions } from '../../test/support/gatehouse.ts';
import { createAccount, createUser } from '../../test/support/people.ts';
import { scratchFolder } from '../../test/support/scratch.ts';
import type { Decision } from '../decisions/decision-line.ts';
import type { Decisions } from '../decisions/decisions.ts';
import { callbackPath } from '../modules/own-paths.ts';
import { keptDecisions } from '../resources/decisions/service.ts';

const hourMs = 3_600_000;
const [request, connection] = ['http_request_complete.v0', 'tcp_connection_closed.v0'];
const [signedIn, signInRefused] = ['visitor_signed_in.v0', 'visitor_sign_in_refused.v0'];

onDatabasesInTurn('events of traffic', (newDatabase) => {
  const open = (database: string, decisions: string) =>
    Gatehouse.start(database, { upstreamCa: receiverCa, decisions });
  const storeOf = ({ app }: Gatehouse) => app.context.services.get(keptDecisions) as Decisions;
  const newAccount = async (gatehouse: Gatehouse) => {
    const account = await createAccount(gatehouse);
    return { account, options: { token: (await createUser(gatehouse, 'admin', account)).token } };
  };
  const subscribe = async (
    gatehouse: Gatehouse,
    receiver: EventReceiver,
    types: readonly string[],
    options: CallOptions,
  ) => {
    const { id } = await gatehouse.create('/event_destinations', receiver.destination, options);
    const body = { sources: types.map((type) => ({ type })), destination_ids: [id] };
    const { id: subscription } = await gatehouse.create('/event_subscriptions', body, options);
    return { destination: `/event_destinations/${id}`, subscription: `/event_subscriptions/${subscription}` };
  };
  const keep = async (gatehouse: Gatehouse, account: string, ...all: Partial<Decision>[]) => {
    for (const each of all) storeOf(gatehouse).add(account, decision(each));
    await storeOf(gatehouse).flush();
  };
  const arrived = (receiver: EventReceiver, count: number) =>
    until(
      () => receiver.received.length >= count,
      () => `${receiver.received.length} of ${count} have arrived`,
    );
  const pathsOf = (receiver: EventReceiver) => receiver.received.map(({ body }) => body.object.decision.path);
  const paths = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `/${from + at}`);

  test('come for each decision of the account, in order, and only those of the types that are asked for', async () => {
    await using gatehouse = await open(await newDatabase(), scratchFolder());
    const [own, other] = [await newAccount(gatehouse), await newAccount(gatehouse)];
    await using receiver = await EventReceiver.start();
    await using people = await EventReceiver.start();
    await using others = await EventReceiver.start();
    await keep(gatehouse, own.account, { path: '/too-early' });
    const { subscription } = await subscribe(gatehouse, receiver, [request, connection], own.options);
    await subscribe(gatehouse, people, [signedIn, signInRefused, connection], own.options);
    await subscribe(gatehouse, others, [request, 'ip_policy_created.v0'], other.options);
    const visitor = { path: callbackPath, person: 'ada@example.com', backend_id: '' };
    await keep(
      gatehouse,
      own.account,
      { path: '/0' },
      { kind: 'tcp', path: '', host: '', port: 5432, bytes_in: 7 },
      visitor,
      { ...visitor, person: '' },
      { ...visitor, person: 'eve@example.com', verdict: 'refused', status: 403 },
    );
    await gatehouse.create('/ip_policies', { description: 'of another' }, other.options);
    await keep(gatehouse, other.account, { path: '/other' });
    await arrived(receiver, 5);
    await arrived(people, 3);
    await arrived(others, 2);
    const typesOf = ({ received }: EventReceiver) => received.map(({ body }) => String(body.event_type));
    assert.deepEqual(typesOf(receiver), [request, connection, request, request, request]);
    assert.deepEqual(typesOf(people), [connection, signedIn, signInRefused]);
    assert.deepEqual(typesOf(others).toSorted(), [request, 'ip_policy_created.v0']);
    assert.ok(receiver.received.every(({ isSigned, id, body }) => isSigned && id === body.event_id));
    const ids = [receiver, people].flatMap(({ received }) => received.map(({ id }) => id));
    // Both are told of the connection.
    assert.equal(new Set(ids).size, ids.length - 1);
    const [first, second] = receiver.received.map(({ body }) => body);
    const { decision: shown, ...object } = first.object;
    assert.match(shown.id, /^dec_/);
    assert.deepEqual([shown.path, first.account_id, first.event_timestamp], ['/0', own.account, shown.at]);
    assert.deepEqual(object, {
      conn: { client_ip: '203.0.113.9', server_name: 'shop.example.com' },
      edge: { id: 'edghts_1' },
      http: {
        request: { method: 'GET', url: { host: 'shop.example.com', path: '/0' }, body_length: 0 },
        response: { status_code: 200, body_length: 120 },
      },
    });
    assert.deepEqual(second.object.conn, { client_ip: '203.0.113.9', server_port: 5432, bytes_in: 7, bytes_out: 120 });
    assert.equal(people.received[2]?.body.object.decision.person, 'eve@example.com');

    // A type that is added counts from then on, and one that is gone does not any more.
    await gatehouse.patch(subscription, { sources: [{ type: connection }] }, own.options);
    await keep(gatehouse, own.account, { path: '/unseen' }, { kind: 'tcp', path: '/tcp' });
    await arrived(receiver, 6);
    await gatehouse.post(`${subscription}/sources`, { type: request }, own.options);
    await keep(gatehouse, own.account, { path: '/seen' });
    await arrived(receiver, 7);
    assert.deepEqual(pathsOf(receiver).slice(5), ['/tcp', '/seen']);
  });

  test('go on after a restart, none is missing, and what was given up is sent again', async () => {
    const [database, folder] = [await newDatabase(), scratchFolder()];
    await using receiver = await EventReceiver.start();
    let destination = '';
    let own: { readonly account: string; readonly options: CallOptions };
    {
      await using gatehouse = await open(database, folder);
      own = await newAccount(gatehouse);
      ({ destination } = await subscribe(gatehouse, receiver, [request], own.options));
      await keep(gatehouse, own.account, ...paths(0, 30).map((path) => ({ path })));
      await arrived(receiver, 30);
      await storeOf(gatehouse).tend(Date.now() + hourMs);
      receiver.answer = (_event, response) => void response.writeHead(503).end();
      await keep(gatehouse, own.account, ...paths(30, 60).map((path) => ({ path })));
      await arrived(receiver, 31);
    }
    const before = receiver.received.length;
    let isMended = false;
    receiver.answer = ({ body }, response) =>
      void response.writeHead(body.object.decision.path === '/40' && !isMended ? 400 : 204).end();
    await using gatehouse = await open(database, folder);
    const state = async () => (await gatehouse.get(destination, own.options)).body.delivery;
    const resend = () => gatehouse.post(`${destination}/resend`, undefined, own.options);
    await until(async () => {
      if ((await state()).status === 'failing') await resend();
      return (await state()).undelivered === 1;
    }, 'one is given up');
    await until(() => pathsOf(receiver).includes('/59'), 'the others follow');
    const come = [...new Set(pathsOf(receiver).slice(before))];
    assert.deepEqual(come, paths(30, 60));
    isMended = true;
    await resend();
    await until(async () => (await state()).undelivered === 0, 'it has arrived');
    assert.equal(pathsOf(receiver).at(-1), '/40');
    const eventIds = new Set(receiver.received.map(({ id }) => id));
    assert.equal(eventIds.size, 60, 'an event that comes again has the id that it had');
  });

  test('that went before they were sent are counted as lost, once, and later ones follow', async () => {
    await using gatehouse = await open(await newDatabase(), scratchFolder());
    const own = await newAccount(gatehouse);
    await using receiver = await EventReceiver.start((_event, response) => void response.writeHead(503).end());
    const { destination } = await subscribe(gatehouse, receiver, [request], own.options);
    await keep(gatehouse, own.account, { path: '/0' });
    await arrived(receiver, 1);
    const state = async () => (await gatehouse.get(destination, own.options)).body.delivery;
    await until(async () => (await state()).status === 'failing', 'it is noted');
    const close = () => storeOf(gatehouse).tend(Date.now() + hourMs);
    await close();
    // By the clock of back then they are too old to be kept.
    await keep(gatehouse, own.account, { path: '/gone', at_ms: Date.now() - 240 * hourMs });
    await close();
    await keep(gatehouse, own.account, { path: '/1' }, { path: '/2' });
    receiver.answer = (_event, response) => void response.writeHead(204).end();
    await gatehouse.post(`${destination}/resend`, undefined, own.options);
    await until(() => pathsOf(receiver).includes('/2'), 'later ones follow');
    await until(async () => (await state()).lost > 0, 'it is told');
    assert.equal((await state()).lost, 1);
    await keep(gatehouse, own.account, { path: '/3' });
    await until(() => pathsOf(receiver).includes('/3'), 'they go on');
    assert.equal((await state()).lost, 1);
    assert.deepEqual([...new Set(pathsOf(receiver))], paths(0, 4));
  });
});
