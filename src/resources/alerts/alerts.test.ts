import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

import { test } from 'node:test';

import { serveAgents } from '../../../test/agents/support/served-agents.ts';
import { askHttps } from '../../../test/e2e/gateway/support/traffic.ts';
import { until } from '../../../test/e2e/gateway/support/until.ts';
import { makePair } from '../../../test/support/certificate-pair.ts';
import { onEachDatabase } from '../../../test/support/each-database.ts';
import { EventReceiver, receiverCa } from '../../../test/support/event-receiver.ts';
import { freePort } from '../../../test/support/free-port.ts';
import type { CallOptions, Gatehouse } from '../../../test/support/gatehouse.ts';
import { createAccount, createUser } from '../../../test/support/people.ts';
import { alertTypes } from './service.ts';

const soon = makePair('alerts-soon', '-subj', '/CN=soon.test', '-days', '20');
const sources = alertTypes.map((type) => ({ type }));
const host = 'alerts.edge.test';

onEachDatabase('alerts', (newDatabase) => {
  const start = (database: string) => serveAgents(database, { upstreamCa: receiverCa });
  const subscribe = async (gatehouse: Gatehouse, receiver: EventReceiver, own?: CallOptions) => {
    const { id } = await gatehouse.create('/event_destinations', receiver.destination, own);
    return gatehouse.create('/event_subscriptions', { sources, destination_ids: [id] }, own);
  };
  const come = async (receiver: EventReceiver, type: string, about: string) => {
    const of = () => receiver.received.filter(({ body }) => body.event_type === type && body.object.about === about);
    await until(
      () => of().length > 0,
      () =>
        `${type} of ${about} in ${JSON.stringify(receiver.received.map(({ body }) => [body.event_type, body.object.about]))}`,
    );
    assert.equal(of().length, 1, `${type} comes once`);
    return of()[0]?.body ?? assert.fail('it has come');
  };

  test('tell of each state when it begins and when it is over, those of the account alone, and are no changes', async () => {
    await using receiver = await EventReceiver.start();
    await using others = await EventReceiver.start();
    const served = await start(await newDatabase());
    await using gatehouse = served.gatehouse;
    const other = { token: (await createUser(gatehouse, 'admin', await createAccount(gatehouse))).token };
    await subscribe(gatehouse, others, other);
    const subscription = await subscribe(gatehouse, receiver);

    const certificate = await gatehouse.create('/tls_certificates', soon);
    const { token } = await gatehouse.create('/credentials', {});
    const { agent, sessionId } = await served.agent(token);
    const { store } = gatehouse.app.context;
    const policy = await gatehouse.create('/ip_policies');
    await gatehouse.create('/ip_policy_rules', { ip_policy_id: policy.id, cidr: '192.0.2.0/24', action: 'allow' });
    const port = await freePort();
    const backend = await gatehouse.create('/backends/static', {
      address: `127.0.0.1:${port}`,
      active_check: { kind: 'tcp', interval_seconds: 1, timeout_seconds: 1, failures: 1, passes: 1 },
    });
    const edge = await gatehouse.create('/edges/https', { hostports: [`${host}:443`] });
    await gatehouse.create(`/edges/https/${edge.id}/routes`, {
      match_type: 'path_prefix',
      match: '/',
      backend: { backend_id: backend.id },
      ip_restriction: { ip_policy_ids: [policy.id] },
    });
    await until(async () => (await askHttps(gatehouse.httpsPort, host)).status === 403, 'the edge refuses');

    const expiring = await come(receiver, 'certificate_expiring.v0', certificate.id);
    assert.match(expiring.object.summary, /^certificate for soon\.test ends 20/);
    assert.equal(expiring.object.facts.source, 'uploaded');
    assert.match(expiring.object.id, /^al_/);
    assert.deepEqual([expiring.change.actor, expiring.change.before], ['gatehouse', null]);
    const connected = await come(receiver, 'agent_session_start.v0', sessionId);
    assert.equal(connected.object.facts.client_ip, '127.0.0.1');
    assert.equal(JSON.stringify(connected).includes('client_id'), false, 'what an agent comes back with stays here');
    const refused = await come(receiver, 'visitors_refused.v0', edge.id);
    assert.deepEqual([refused.object.facts.cause, refused.object.facts.client_ip], ['rule', '127.0.0.1']);
    const down = await come(receiver, 'backend_down.v0', backend.id);
    assert.deepEqual([down.object.facts.state, down.object.facts.answering], ['down', 0]);

    const server = createServer((socket) => void socket.destroy());
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    agent.socket.destroy();
    await gatehouse.delete(`/tls_certificates/${certificate.id}`);
    await come(receiver, 'backend_up.v0', backend.id);
    await come(receiver, 'agent_session_stop.v0', sessionId);
    await come(receiver, 'certificate_expiring_over.v0', certificate.id);
    server.close();
    assert.deepEqual(others.received, []);
    const { changes } = (await gatehouse.get('/changes?limit=100')).body;
    assert.ok(
      changes.every(({ kind }: { kind: string }) => !kind.endsWith('_alert')),
      'the log of changes has none',
    );

    await gatehouse.delete(`/event_subscriptions/${subscription.id}`);
    const open = async () => (await store.queries.all('SELECT about FROM alerts')).length;
    await until(async () => (await open()) === 0, 'what nobody is told of is not kept');
  });

  test('a backend that loses its last address is told of again', async () => {
    await using receiver = await EventReceiver.start();
    const served = await start(await newDatabase());
    await using gatehouse = served.gatehouse;
    await subscribe(gatehouse, receiver);
    const server = createServer((socket) => void socket.destroy()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    // A server of TCP has an address with a port.
    const ports = [await freePort(), (server.address() as AddressInfo).port];
    const backend = await gatehouse.create('/backends/static', {
      addresses: ports.map((port) => ({ address: `127.0.0.1:${port}` })),
      active_check: { kind: 'tcp', interval_seconds: 1, timeout_seconds: 1, failures: 1, passes: 1 },
    });
    await gatehouse.create('/edges/tcp', { backend: { backend_id: backend.id } });
    const states = () => receiver.received.map(({ body }) => [body.event_type, body.object.facts.state]);
    const told = (count: number) =>
      until(
        () => states().length >= count,
        () => JSON.stringify(states()),
      );
    await told(1);
    server.close();
    await told(2);
    assert.deepEqual(states().slice(0, 2), [
      ['backend_down.v0', 'in_part'],
      ['backend_down.v0', 'down'],
    ]);
    assert.equal(new Set(receiver.received.map(({ body }) => body.object.id)).size, 1);
  });

  test('what is open is told once, also over a restart and by two processes, and its end while nobody ran', async () => {
    const database = await newDatabase();
    await using receiver = await EventReceiver.start();
    let certificate: { readonly id: string };
    {
      await using gatehouse = (await start(database)).gatehouse;
      await subscribe(gatehouse, receiver);
      certificate = await gatehouse.create('/tls_certificates', soon);
      await come(receiver, 'certificate_expiring.v0', certificate.id);
    }
    await using one = (await start(database)).gatehouse;
    await using two = (await start(database)).gatehouse;
    const another = await two.create('/tls_certificates', soon);
    await come(receiver, 'certificate_expiring.v0', another.id);
    const third = await one.create('/tls_certificates', soon);
    await come(receiver, 'certificate_expiring.v0', third.id);
    const isOver = receiver.received.some(({ body }) => body.event_type === 'certificate_expiring_over.v0');
    assert.equal(isOver, false, 'what goes on is not over');
    await one.delete(`/tls_certificates/${certificate.id}`);
    await come(receiver, 'certificate_expiring_over.v0', certificate.id);
    const told = receiver.received.filter(({ body }) => body.event_type === 'certificate_expiring.v0');
    assert.equal(new Set(told.map(({ id }) => id)).size, 3);
    const faults = [...one.logLines, ...two.logLines].filter((line) => JSON.parse(line).level >= 50);
    assert.deepEqual(faults, [], 'the two do not get in the way of each other');
  });

  test('a quota that is nearly used up is told of, and that it is not any more', async () => {
    await using receiver = await EventReceiver.start();
    await using others = await EventReceiver.start();
    await using gatehouse = (await start(await newDatabase())).gatehouse;
    const other = { token: (await createUser(gatehouse, 'admin', await createAccount(gatehouse))).token };
    await subscribe(gatehouse, others, other);
    await subscribe(gatehouse, receiver);
    const { store } = gatehouse.app.context;
    await store.writeUnlogged((writer) =>
      writer.run("UPDATE account_usage SET most = 5, is_own = 1 WHERE quota = 'vaults'"),
    );
    const made = [];
    for (let count = 0; count < 4; count++) made.push(await gatehouse.create('/vaults', { name: `v${count}` }));
    const told = await come(receiver, 'quota_nearly_used.v0', 'vaults');
    assert.equal(told.object.summary, 'quota vaults: 4 of 5 are used');
    await gatehouse.delete(`/vaults/${made[0]?.id}`);
    await come(receiver, 'quota_nearly_used_over.v0', 'vaults');
    assert.deepEqual(others.received, []);
  });
});
