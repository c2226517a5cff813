import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect, createServer as createTlsServer, TLSSocket } from 'node:tls';

import { codes } from '../../src/agents/wire/frame.ts';
import { defineError, UserError } from '../../src/errors/user-error.ts';
import { scratchFolder } from '../support/scratch.ts';
import { until } from '../e2e/gateway/support/until.ts';
import { TcpProxy } from '../e2e/many-processes/support/tcp-proxy.ts';
import { dial, startUpstream } from '../gateway/support/tcp-peers.ts';
import { makePair } from '../support/certificate-pair.ts';
import { GatehouseProcess } from '../support/gatehouse-process.ts';
import { caPem, startListener } from './support/listener.ts';
import type { TestListener } from './support/listener.ts';
import { startAgent } from './support/recorded-agent.ts';
import { visitorPort } from './support/visitors.ts';

/** Our own agent against a listener whose rules are those of the test. */

const folder = scratchFolder();
const caFile = join(folder, 'ca.pem');
writeFileSync(caFile, caPem);

function firstTunnel({ listener }: TestListener) {
  const [session] = listener.sessions;
  return [...(session?.tunnels.values() ?? [])][0] ?? assert.fail('no tunnel');
}

test('every option of the command reaches the server', async (t) => {
  const { host, port } = await startListener(t);
  const passwords = join(folder, 'passwords');
  writeFileSync(passwords, '# those of the shop\nann:a:1\nbob:b\n', { mode: 0o600 });
  const flags = [
    ['--domain', 'shop.test'],
    ['--allow-cidr', '10.0.0.0/8', '--allow-cidr', '192.0.2.0/24', '--deny-cidr', '10.1.0.0/16'],
    ['--request-header-add', 'X-One: 1', '--request-header-remove', 'x-two'],
    ['--response-header-add', 'x-three:3', '--response-header-remove', 'X-Four'],
    ['--compression', '--proxy-protocol', '2', '--pooling', '--metadata', 'm'],
    ['--basic-auth-file', passwords, '--server', `localhost:${port}`, '--ca', caFile],
  ].flat();
  await using agent = new GatehouseProcess(['http', '3000', ...flags], {
    XDG_CONFIG_HOME: folder,
    GATEHOUSE_AUTHTOKEN: 'token-a',
  });
  await until(
    () => host.requests.length === 1,
    () => `bound: ${agent.out}`,
  );
  const [request] = host.requests;
  assert.ok(request?.kind === 'endpoint');
  const { proto, wanted, poolingEnabled, metadata, upstream, options } = request;
  assert.deepEqual([proto, wanted.domain, poolingEnabled, metadata], ['https', 'shop.test', true, 'm']);
  assert.equal(upstream.url, 'http://localhost:3000');
  assert.deepEqual(options, {
    proxyProto: 2,
    ipRestriction: { allow: ['10.0.0.0/8', '192.0.2.0/24'], deny: ['10.1.0.0/16'] },
    requestHeaders: { add: [['x-one', '1']], remove: ['x-two'] },
    responseHeaders: { add: [['x-three', '3']], remove: ['x-four'] },
    compression: true,
    basicAuth: [
      { username: 'ann', password: { plain: 'a:1' } },
      { username: 'bob', password: { plain: 'b' } },
    ],
  });
  const [session] = host.up;
  assert.deepEqual([session?.facts.agent.clientType, session?.facts.agent.family], ['gatehouse', 'other']);
});

test('the TLS of visitors is passed on as it is', async (t) => {
  const started = await startListener(t);
  const pair = makePair('own-agent', '-subj', '/CN=own.test', '-addext', 'subjectAltName=DNS:own.test');
  const target = createTlsServer({ cert: pair.certificate_pem, key: pair.private_key_pem }, (socket) => {
    socket.on('error', () => {}).end('from behind');
  }).listen(0, '127.0.0.1');
  await once(target, 'listening');
  t.after(() => target.close());
  const agent = startAgent(t, started.port, {
    kind: 'tls',
    target: `127.0.0.1:${portOf(target)}`,
    flags: { domain: 'own.test' },
  });
  assert.equal(await agent.online(), 'tls://own.test');
  const port = await visitorPort(t, firstTunnel(started));
  const visitor = connect({ port, host: '127.0.0.1', servername: 'own.test', ca: pair.certificate_pem });
  t.after(() => visitor.destroy());
  let text = '';
  visitor.on('data', (chunk) => (text += String(chunk)));
  await until(() => text === 'from behind', 'the target answers by its own certificate');
});

/** As a server with PROXY protocol sends them. */
const proxyHeader = 'PROXY TCP4 203.0.113.7 192.0.2.1 1234 443\r\n';
const asking = 'GET /a HTTP/1.1\r\nHost: a\r\n\r\n';

test('a header of the PROXY protocol reaches a plain target before the request, which is described', async (t) => {
  const started = await startListener(t);
  const upstream = await startUpstream(t, (socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
  });
  const agent = startAgent(t, started.port, { target: upstream.port, flags: { proxyProtocol: '1' } });
  await agent.online();
  const visitor = dial(t, await visitorPort(t, firstTunnel(started)));
  visitor.socket.write(proxyHeader + asking);
  await until(() => agent.lines.length === 1, 'described');
  assert.equal(upstream.peers[0]?.text, proxyHeader + asking);
  assert.deepEqual(agent.lines, ['GET /a 200']);
});

test('a header of the PROXY protocol reaches a target over TLS before its handshake', async (t) => {
  const started = await startListener(t);
  const pair = makePair('behind', '-subj', '/CN=behind.test', '-addext', 'subjectAltName=IP:127.0.0.1');
  const secured = createServer((_, response) => response.end('secure'));
  const starts: string[] = [];
  const upstream = await startUpstream(t, (socket) => {
    socket.removeAllListeners('data');
    socket.once('readable', () => {
      starts.push(String(socket.read(proxyHeader.length)));
      const inner = new TLSSocket(socket, {
        isServer: true,
        cert: pair.certificate_pem,
        key: pair.private_key_pem,
      });
      secured.emit('connection', inner);
    });
  });
  const flags = { proxyProtocol: '1', upstreamInsecure: true } as const;
  const agent = startAgent(t, started.port, { target: `https://127.0.0.1:${upstream.port}`, flags });
  await agent.online();
  const visitor = dial(t, await visitorPort(t, firstTunnel(started)));
  // In pieces, as nobody promises more.
  visitor.socket.write(proxyHeader.slice(0, 10));
  visitor.socket.setNoDelay(true).write(proxyHeader.slice(10));
  visitor.socket.write(asking);
  await until(
    () => visitor.text.endsWith('secure'),
    () => `answered: ${visitor.text}`,
  );
  assert.deepEqual(starts, [proxyHeader]);
  assert.deepEqual(agent.lines, ['GET /a 200']);
});

test('a server that has fallen silent is given up, and the name comes back through another connection', async (t) => {
  const started = await startListener(t);
  const { proxy, url } = await TcpProxy.before(`tcp://127.0.0.1:${started.port}`);
  started.cleanups.push(() => proxy[Symbol.asyncDispose]());
  const agent = startAgent(t, Number(new URL(url).port), {
    target: 3000,
    times: { heartbeat: { intervalMs: 50, silenceMs: 2000 } },
  });
  const address = await agent.online();
  proxy.forget();
  assert.equal(await agent.online(2), address);
  assert.equal(agent.losses[0]?.reason, 'the server has been silent for 2 seconds');
  const [first, second] = started.host.up;
  assert.equal(second?.facts.clientId, first?.facts.clientId);
  const [before, after] = started.host.requests;
  assert.ok(before?.kind === 'endpoint' && after?.kind === 'endpoint');
  assert.equal(`${after.proto}://${after.wanted.domain}`, address);
  assert.notEqual(after.id, '', 'it proves that the tunnel was its own');
});

test('a quiet but living server is kept', async (t) => {
  const { port, host } = await startListener(t);
  const agent = startAgent(t, port, { target: 3000, times: { heartbeat: { intervalMs: 20, silenceMs: 5000 } } });
  await agent.online();
  const [session] = host.up;
  const startMs = performance.now();
  await until(() => performance.now() - startMs > 6000, 'longer than the silence that is borne');
  assert.ok(session?.isOpen);
  assert.deepEqual(agent.losses, []);
});

test('a server whose sessions end at once is not stormed', async (t) => {
  const { port, host } = await startListener(t);
  const agent = startAgent(t, port, { target: 3000, times: { steadyMs: 60_000 } });
  for (let times = 1; times <= 6; times++) {
    await agent.online(times);
    host.up.at(-1)?.close({ by: 'us', code: codes.none, text: 'again' });
  }
  await until(() => agent.losses.length >= 6, 'lost six times');
  assert.ok(agent.losses.every(({ retryMs }) => retryMs > 0));
  assert.equal(agent.losses[0]?.reason, 'the server closed the session: again');
});

test('after a session that lasted, the first attempt is made at once', async (t) => {
  const { port, host } = await startListener(t);
  const agent = startAgent(t, port, { target: 3000, times: { steadyMs: 0 } });
  await agent.online();
  host.up[0]?.close({ by: 'us', code: codes.none, text: '' });
  await agent.online(2);
  assert.deepEqual(agent.losses, [{ kind: 'offline', reason: 'the connection was lost', retryMs: 0 }]);
});

test('a fault of the server itself is no refusal: the agent tries again', async (t) => {
  const { port } = await startListener(t);
  const agent = startAgent(t, port, { target: 3000, token: 'break' });
  await until(() => agent.losses.length >= 3, 'tried again');
  assert.match(agent.losses[0]?.reason ?? '', /Something went wrong on the server/);
  assert.equal(agent.ending, undefined);
});

test('a name that nobody chose and that is lost is replaced by another; one that was chosen is not', async (t) => {
  const { port, host } = await startListener(t);
  const notAvailable = defineError(20092, 409, 'The name is not available.');
  const unchosen = startAgent(t, port, { target: 3000 });
  const chosen = startAgent(t, port, { target: 3000, flags: { domain: 'chosen.test' } });
  const first = await unchosen.online();
  await chosen.online();
  const kept = host.requests.length;
  host.beforeBind = async () => {
    const request = host.requests.at(-1);
    if (host.requests.length > kept && request?.kind === 'endpoint' && request.wanted.domain !== '')
      throw new UserError(notAvailable);
  };
  for (const session of host.up) session.close({ by: 'us', code: codes.none, text: '' });
  assert.notEqual(await unchosen.online(2), first);
  await until(() => chosen.ending !== undefined, 'the other ended');
  assert.ok(chosen.ending?.kind === 'refused' && chosen.ending.refusal.code === 20092);
});

test('when it is to stop, it gives its tunnel up first, then waits for requests under way, but not for ever', async (t) => {
  const started = await startListener(t);
  const held: (() => void)[] = [];
  const target = createServer((_, response) => held.push(() => response.end('late'))).listen(0, '127.0.0.1');
  await once(target, 'listening');
  t.after(() => {
    target.closeAllConnections();
    target.close();
  });
  const patient = startAgent(t, started.port, { target: portOf(target), times: { drainMs: 120_000 } });
  await patient.online();
  const tunnel = firstTunnel(started);
  const visitor = dial(t, await visitorPort(t, tunnel));
  visitor.socket.write(asking);
  await until(() => held.length === 1, 'the request is under way');
  patient.stop();
  await until(() => started.host.unbound.includes(tunnel.id), 'given up');
  assert.equal(patient.ending, undefined);
  held[0]?.();
  await until(() => patient.ending !== undefined, 'ended');
  assert.deepEqual(patient.ending, { kind: 'stopped', by: 'operator' });
  await until(() => visitor.text.endsWith('late'), 'answered');

  const hasty = startAgent(t, started.port, { target: portOf(target), times: { drainMs: 10 } });
  await hasty.online();
  const other = dial(t, await visitorPort(t, firstTunnel(started)));
  other.socket.write(asking);
  await until(() => held.length === 2, 'the request is under way');
  hasty.stop();
  await until(() => hasty.ending !== undefined, 'ended with the request under way');
});

test('a kept connection without a request does not hold the end up', async (t) => {
  const started = await startListener(t);
  const target = createServer((_, response) => response.end('x')).listen(0, '127.0.0.1');
  await once(target, 'listening');
  t.after(() => {
    target.closeAllConnections();
    target.close();
  });
  const agent = startAgent(t, started.port, { target: portOf(target), times: { drainMs: 120_000 } });
  await agent.online();
  const visitor = dial(t, await visitorPort(t, firstTunnel(started)));
  visitor.socket.write(asking);
  await until(() => agent.lines.length === 1, 'answered');
  agent.stop();
  await until(() => agent.ending !== undefined, 'ended');
});

function portOf(server: { address(): AddressInfo | string | null }): number {
  // A server that listens on a port has an address of this form.
  return (server.address() as AddressInfo).port;
}
