import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { after, before, suite, test } from 'node:test';
import type { TestContext } from 'node:test';
import { connect as connectTls } from 'node:tls';

import { startRawUpstream } from '../../gateway/support/https-upstream.ts';
import type { RawUpstream } from '../../gateway/support/https-upstream.ts';
import { freePort } from '../../support/free-port.ts';
import { createAccount } from './support/host-command.ts';
import { headersFrame, openFrames, resetFrame } from './support/http2-frames.ts';
import { Program } from './support/program.ts';
import { readExposition } from './support/prometheus.ts';
import { newSqlite } from '../../support/scratch.ts';
import { askHttps } from './support/traffic.ts';
import { until } from './support/until.ts';
import { startUpstream } from './support/upstream.ts';
import type { Upstream } from './support/upstream.ts';

/** The bounds that the program derives from 1,024 descriptors. Another worker, added under load, would have a part of them. */
const bounds = { client: 384, source: 96, backendSource: 24 };
const oneWorker = { workers: '1' };

const attacker = '127.0.0.2';
const silentHost = 'silent.test';
const otherHost = 'other.test';

async function createEdge(program: Program, host: string, upstreamPort: number, token?: string): Promise<string> {
  const backend = await program.must('POST', '/backends/static', { address: `127.0.0.1:${upstreamPort}` }, token);
  const edge = await program.must('POST', '/edges/https', { hostports: [`${host}:443`] }, token);
  const route = { match_type: 'path_prefix', match: '/', backend: { backend_id: backend.id } };
  await program.must('POST', `/edges/https/${edge.id}/routes`, route, token);
  return backend.id;
}

suite('with 1,024 descriptors, while one client does its worst, others are served and the API answers:', () => {
  let program: Program;
  let silent: RawUpstream;
  let other: Upstream;
  let tcpPort: number;

  before(async () => {
    silent = await startRawUpstream(() => {});
    other = await startUpstream('other');
    const databaseUrl = newSqlite();
    const settings = { ...oneWorker, 'access-log': '0', 'drain-seconds': '0', 'tcp-listen-host': '127.0.0.1' };
    program = await Program.start(databaseUrl, settings, { openFiles: 1024 });
    const backendId = await createEdge(program, silentHost, silent.port);
    tcpPort = await freePort();
    await program.must('POST', '/edges/tcp', {
      hostports: [`localhost:${tcpPort}`],
      backend: { backend_id: backendId },
    });
    await createEdge(program, otherHost, other.port, await createAccount(databaseUrl, 'others'));
  });
  after(async () => {
    await program[Symbol.asyncDispose]();
    await silent[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
  });

  async function othersAreServed(): Promise<void> {
    for (let at = 0; at < 5; at++) {
      assert.equal((await askHttps(program.httpsPort, otherHost, { from: '127.0.0.3' })).echo?.name, 'other');
      assert.equal((await program.call('GET', '/api_keys')).status, 200);
      assert.equal((await program.call('POST', '/ip_policies', {})).status, 201);
    }
  }

  /** Another address reaches the very backend that is under attack, by either kind of edge. */
  async function backendIsOpenToOthers(t: TestContext): Promise<void> {
    const arrived = silent.connections;
    const overTcp = connect({ port: tcpPort, host: '127.0.0.1', localAddress: '127.0.0.3' }).on('error', () => {});
    const overTls = openTls(t, silentHost, '127.0.0.3');
    overTls.write(`GET / HTTP/1.1\r\nHost: ${silentHost}\r\n\r\n`);
    await until(() => silent.connections === arrived + 2, 'both have reached it');
    for (const socket of [overTcp, overTls]) socket.destroy();
    await until(() => silent.open === bounds.backendSource, 'both have left it');
  }

  const sample = async (name: string, bound: string): Promise<number> =>
    readExposition(await program.metrics()).samples.get(`gatehouse_bound_${name}{bound="${bound}"}`) ?? 0;

  /** Ends the attack, and waits until nothing of it is left. */
  async function end(sockets: readonly Socket[]): Promise<void> {
    for (const socket of sockets) socket.destroy();
    await until(() => silent.open === 0, 'the upstream is left alone');
    await until(async () => (await sample('in_use', 'source_connections')) <= 1, 'the clients are gone');
  }

  function openTls(t: TestContext, servername = silentHost, localAddress = attacker): Socket {
    const from = { host: '127.0.0.1', localAddress };
    const socket = connectTls({ ...from, port: program.httpsPort, servername, rejectUnauthorized: false });
    t.after(() => socket.destroy());
    return socket.on('error', () => {});
  }

  test('it has the limit', () => {
    const limits = readFileSync(`/proc/${program.pid}/limits`, 'utf8');
    assert.match(limits, /^Max open files\s+1024\s+1024\s/m);
  });

  test('1,000 connections, each with a request', async (t) => {
    const refused = await sample('refusals_total', 'source_connections');
    const sockets = Array.from({ length: 1000 }, () => openTls(t));
    for (const socket of sockets) socket.write(`GET / HTTP/1.1\r\nHost: ${silentHost}\r\n\r\n`);
    await until(() => sockets.filter(({ closed }) => closed).length >= 1000 - bounds.source, 'most are closed');
    await othersAreServed();
    assert.ok(silent.open <= bounds.backendSource, `${silent.open} upstream connections`);
    await until(
      async () => (await sample('refusals_total', 'source_connections')) === refused + 1000 - bounds.source,
      'they are counted',
    );
    await end(sockets);
  });

  test('1,000 TCP connections', async (t) => {
    const sockets = Array.from({ length: 1000 }, () =>
      connect({ port: tcpPort, host: '127.0.0.1', localAddress: attacker }).on('error', () => {}),
    );
    t.after(() => {
      for (const socket of sockets) socket.destroy();
    });
    for (const socket of sockets) socket.resume();
    await until(() => sockets.filter(({ closed }) => closed).length >= 1000 - bounds.backendSource, 'most are closed');
    await othersAreServed();
    await backendIsOpenToOthers(t);
    assert.ok(silent.open <= bounds.backendSource, `${silent.open} upstream connections`);
    await end(sockets);
  });

  const fields = (method: string) =>
    [
      [':method', method],
      [':scheme', 'https'],
      [':path', '/'],
      [':authority', silentHost],
    ] as const;
  const ids = (count: number) => Array.from({ length: count }, (_, at) => 2 * at + 1);

  test('20 HTTP/2 connections with 900 requests each that are taken back at once', async (t) => {
    const earlier = silent.connections;
    const frames = Buffer.concat(ids(900).flatMap((id) => [headersFrame(fields('GET'), true, id), resetFrame(id)]));
    const sockets = Array.from({ length: 20 }, () => openFrames(program.httpsPort, silentHost, attacker));
    t.after(() => {
      for (const socket of sockets) socket.destroy();
    });
    for (const socket of sockets) socket.resume().write(frames);
    await othersAreServed();
    await until(() => sockets.every(({ closed }) => closed), 'all are closed');
    assert.ok(silent.connections - earlier <= 100, `${silent.connections - earlier} upstream connections`);
    await until(async () => (await sample('refusals_total', 'stream_resets')) === 20, 'they are counted');
    await end(sockets);
  });

  test('20 HTTP/2 connections with 100 open bodies each', async (t) => {
    const countRefused = async (): Promise<number> =>
      (await sample('refusals_total', 'backend_source_queue')) +
      (await sample('refusals_total', 'backend_source_connections'));
    const earlier = await countRefused();
    const frames = Buffer.concat(ids(100).map((id) => headersFrame(fields('POST'), false, id)));
    const sockets = Array.from({ length: 20 }, () => openFrames(program.httpsPort, silentHost, attacker));
    t.after(() => {
      for (const socket of sockets) socket.destroy();
    });
    for (const socket of sockets) socket.resume().write(frames);
    await until(() => silent.open === bounds.backendSource, 'as many as may be are connected');
    await othersAreServed();
    await backendIsOpenToOthers(t);
    assert.equal(silent.open, bounds.backendSource);
    // 25 have waited, and are answered when they have waited too long.
    const refused = 20 * 100 - bounds.backendSource;
    // Refusals of the tests before may be counted a second late.
    await until(async () => (await countRefused()) >= earlier + refused, 'all others are refused');
    await end(sockets);
  });

  test('idle connections from many addresses, beyond what the gateway takes in all', async (t) => {
    const sockets: Socket[] = [];
    for (let source = 10; source < 18; source++) {
      for (let at = 0; at < 90; at++) sockets.push(openTls(t, otherHost, `127.0.1.${source}`).resume());
      await until(
        () => sockets.every((socket) => socket.closed || !socket.connecting),
        'those of one address are connected or refused',
      );
      await othersAreServed();
    }
    assert.ok(sockets.filter(({ closed }) => !closed).length <= bounds.client);
    await end(sockets);
  });

  // Last: nothing more is read of a client whose requests wait, so that the gateway does not see it leave.
  test('8,000 pipelined requests', async (t) => {
    const earlier = silent.connections;
    const socket = openTls(t);
    socket.write(`GET / HTTP/1.1\r\nHost: ${silentHost}\r\n\r\n`.repeat(8000));
    await until(() => silent.connections > earlier, 'the first request is under way');
    await othersAreServed();
    assert.equal(silent.connections, earlier + 1);
  });
});

test('connections of TCP and HTTPS edges to one backend count together', async (t) => {
  await using upstream = await startUpstream();
  const settings = {
    ...oneWorker,
    'backend-connections': '2',
    'backend-source-connections': '3',
    'backend-queue-seconds': '1',
    'drain-seconds': '0',
  };
  await using program = await Program.start(newSqlite(), settings);
  const backendId = await createEdge(program, otherHost, upstream.port);
  const tcpPort = await freePort();
  const toBackend = { backend: { backend_id: backendId } };
  await program.must('POST', '/edges/tcp', { hostports: [`localhost:${tcpPort}`], ...toBackend });
  const sockets = [connect(tcpPort, '127.0.0.1'), connect(tcpPort, '127.0.0.1')];
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  const arrived = (): Promise<number> =>
    new Promise((resolve) => {
      upstream.server.getConnections((_, count) => {
        resolve(count);
      });
    });
  await until(async () => (await arrived()) === 2, 'both are connected');
  const refused = await askHttps(program.httpsPort, otherHost);
  assert.deepEqual([refused.status, refused.errorCode], [503, 20116]);
  assert.equal(refused.headers['retry-after'], '1');
  sockets[0]?.destroy();
  assert.equal((await askHttps(program.httpsPort, otherHost)).status, 200);
});
