import assert from 'node:assert/strict';
import { test } from 'node:test';

import { freePort } from '../support/free-port.ts';
import { vaultWith } from './support/policies.ts';
import { plainOptions, startGateway, until } from './support/tcp-engine.ts';
import { backend, change, policy, snapshot, tcpEdge, toBackend } from './support/tcp-entries.ts';
import { dial, dialAndEcho, startUpstream } from './support/tcp-peers.ts';

function rules(...on_tcp_connect: readonly object[]) {
  return toBackend('bkdsc_1', { traffic_policy: { enabled: true, value: JSON.stringify({ on_tcp_connect }) } });
}

test('connections of a TCP edge go by the rules of its policy, and open ones by its IP policies', async (t) => {
  const { engine, seen } = await startGateway(t);
  const upstream = await startUpstream(t);
  const port = await freePort();
  const deny = { expressions: ["conn.client_ip == '127.0.0.2'"], actions: [{ type: 'deny' }] };
  const restrict = { actions: [{ type: 'restrict-ips', config: { ip_policies: ['ipp_1'], deny: ['127.0.0.4/32'] } }] };
  await engine.apply(
    snapshot(
      policy('ipp_1', '127.0.0.1/32', '127.0.0.3/32', '127.0.0.4/32'),
      backend('bkdsc_1', upstream.port),
      tcpEdge('edgtcp_1', [port], rules(deny, restrict)),
    ),
  );
  const [stays, goes] = [await dialAndEcho(t, port), await dialAndEcho(t, port, { from: '127.0.0.3' })];
  for (const from of ['127.0.0.2', '127.0.0.4', '127.0.0.5']) await dial(t, port, { from }).isReset();
  await until(() => seen.verdicts.length === 5, 'the verdicts');
  assert.deepEqual(seen.verdicts.slice(2), Array(3).fill('refused_by_module'));
  await engine.apply(change([policy('ipp_1', '127.0.0.1/32')]));
  await goes.isReset();
  assert.equal(stays.socket.destroyed, false);
  await engine.apply(
    change([tcpEdge('edgtcp_1', [port], rules(deny, { actions: [{ type: 'log', config: { metadata: {} } }] }))]),
  );
  assert.equal(stays.socket.destroyed, false, 'the new rules let it in too');
  await engine.apply(change([tcpEdge('edgtcp_1', [port], rules({ actions: [{ type: 'deny' }] }))]));
  await stays.isReset();
  await dial(t, port).isReset();
});

test('a TCP edge knows its connections, and forwards none as long as there is no way', async (t) => {
  const { engine } = await startGateway(t);
  const upstream = await startUpstream(t);
  const port = await freePort();
  const known = `conn.server_port == ${port} && endpoint.protocol == 'tcp' && endpoint.port == ${port} && !has(conn.tls.version)`;
  const forward = { actions: [{ type: 'forward-internal', config: { url: 'tcp://a.internal:1' } }] };
  await engine.apply(
    snapshot(
      backend('bkdsc_1', upstream.port),
      tcpEdge('edgtcp_1', [port], rules({ expressions: [`!(${known})`], actions: [{ type: 'deny' }] })),
    ),
  );
  await dialAndEcho(t, port);
  await engine.apply(change([tcpEdge('edgtcp_1', [port], rules(forward))]));
  await dial(t, port).isReset();
});

const ofVault = "secrets.get('keys', 'range')";
const restricted = { actions: [{ type: 'restrict-ips', config: { allow: [`\${${ofVault}}`] } }] };
const denying = { expressions: [`!inCidrRange(conn.client_ip, ${ofVault})`], actions: [{ type: 'deny' }] };
const telling = { actions: [{ type: 'log', config: { metadata: { of: `\${${ofVault}}` } } }] };
const removed = { kind: 'vault_secret', id: 'secret_range' } as const;

/** No test ends because a connection is idle. */
const neverIdle = { timeouts: { ...plainOptions.timeouts, idleMs: 86_400_000 } };

const puttingTogether = {
  expressions: ["!inCidrRange(conn.client_ip, secrets.get('ke' + 'ys', 'range'))"],
  actions: [{ type: 'deny' }],
};
const ways = {
  'an action': [restricted],
  'an expression': [denying],
  'an expression beside a line of the log': [denying, telling],
  'an expression that puts its name together': [puttingTogether],
};

for (const [name, list] of Object.entries(ways)) {
  test(`an open connection of a TCP edge ends with the secret that ${name} has let it in by`, async (t) => {
    const { engine, seen } = await startGateway(t, neverIdle);
    const upstream = await startUpstream(t);
    const [port, other] = [await freePort(), await freePort()];
    await engine.apply(
      snapshot(
        ...vaultWith('range', '127.0.0.0/8'),
        policy('ipp_1', '127.0.0.1/32'),
        backend('bkdsc_1', upstream.port),
        tcpEdge('edgtcp_1', [port], rules(...list)),
        tcpEdge(
          'edgtcp_2',
          [other],
          rules({ actions: [{ type: 'restrict-ips', config: { ip_policies: ['ipp_1'] } }] }),
        ),
      ),
    );
    const [stays, goes] = [await dialAndEcho(t, port), await dialAndEcho(t, port, { from: '127.0.0.2' })];
    const unconcerned = await dialAndEcho(t, other);
    const notes = seen.infos.length;
    await engine.apply(change(vaultWith('range', '127.0.0.1/32')));
    await goes.isReset();
    await dial(t, port, { from: '127.0.0.2' }).isReset();
    assert.equal(stays.socket.destroyed, false);
    await engine.apply(change([], [removed]));
    await stays.isReset();
    assert.equal(unconcerned.socket.destroyed, false);
    await until(() => seen.closed.length === 2, 'both ends');
    assert.deepEqual(
      seen.closed.map(({ reason }) => reason),
      ['rules changed', 'rules changed'],
    );
    assert.equal(seen.infos.length, notes, 'the log says nothing of connections that are asked again');
  });
}

test('an open connection of a TCP edge ends with what an IP policy has only told to a later rule', async (t) => {
  const { engine } = await startGateway(t, neverIdle);
  const upstream = await startUpstream(t);
  const port = await freePort();
  const asked = { actions: [{ type: 'restrict-ips', config: { ip_policies: ['ipp_1'], enforce: false } }] };
  const deny = { expressions: ["actions.ngrok.restrict_ips.action == 'deny'"], actions: [{ type: 'deny' }] };
  const edge = tcpEdge('edgtcp_1', [port], rules(asked, deny));
  await engine.apply(snapshot(policy('ipp_1', '127.0.0.0/8'), backend('bkdsc_1', upstream.port), edge));
  const [stays, goes] = [await dialAndEcho(t, port), await dialAndEcho(t, port, { from: '127.0.0.2' })];
  await engine.apply(change([policy('ipp_1', '127.0.0.1/32')]));
  await goes.isReset();
  assert.equal(stays.socket.destroyed, false);
});

test('an open connection of a TCP edge is asked again as often as secrets change', async (t) => {
  const { engine } = await startGateway(t, neverIdle);
  const upstream = await startUpstream(t);
  const port = await freePort();
  // Takes more than a third of what a visit may cost.
  const costly = Array.from({ length: 24 }, () => ({
    expressions: ['lists.range(20).all(a, lists.range(20).all(b, a + b >= 0))'],
    actions: [{ type: 'set-vars', config: { vars: [{ a: 1 }] } }],
  }));
  const edge = tcpEdge('edgtcp_1', [port], rules(...costly, denying));
  await engine.apply(snapshot(...vaultWith('range', '127.0.0.0/8'), backend('bkdsc_1', upstream.port), edge));
  const client = await dialAndEcho(t, port);
  for (let round = 0; round < 5; round++) await engine.apply(change(vaultWith('range', '127.0.0.0/8')));
  client.socket.write('!');
  await client.receives('hello!');
});
