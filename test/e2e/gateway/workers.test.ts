import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { availableParallelism } from 'node:os';
import { test } from 'node:test';
import { connect as connectTls } from 'node:tls';

import { appHost, createAppEdge, createPolicy } from './support/app-edge.ts';
import { childrenOf } from './support/child-processes.ts';
import { Program } from './support/program.ts';
import { readExposition } from './support/prometheus.ts';
import { newSqlite } from '../../support/scratch.ts';
import { askHttps, askTcp } from './support/traffic.ts';
import { until } from './support/until.ts';
import { startUpstream } from './support/upstream.ts';

const many = Array.from({ length: 24 });

async function openConnections(port: number): Promise<readonly Socket[]> {
  return Promise.all(
    many.map(async () => {
      const socket = connect(port, '127.0.0.1').on('error', () => {});
      await once(socket, 'connect');
      return socket;
    }),
  );
}

test('two workers share the traffic, obey a change before it is answered, and one survives the other', async () => {
  await using upstream = await startUpstream();
  await using program = await Program.start(newSqlite(), { workers: '2', 'drain-seconds': '0' });
  const { routePath, tcpPath, tcpPort } = await createAppEdge(program, upstream.port);
  const askAll = () => Promise.all(many.map(() => askHttps(program.httpsPort, appHost, { from: '127.0.0.2' })));
  assert.deepEqual(new Set((await askAll()).map(({ status }) => status)), new Set([200]));

  const policy = await createPolicy(program, '127.0.0.1/32');
  await program.must('PUT', `${routePath}/ip_restriction`, { ip_policy_ids: [policy] });
  assert.deepEqual(new Set((await askAll()).map(({ errorCode }) => errorCode)), new Set([3203]));
  await program.must('PUT', `/ip_policies/${policy}/rules`, ['127.0.0.0/8']);
  assert.deepEqual(new Set((await askAll()).map(({ status }) => status)), new Set([200]));

  const metric = async (name: string) => readExposition(await program.metrics()).samples.get(name) ?? NaN;
  for (const worker of [1, 2])
    await until(
      async () => (await metric(`gatehouse_worker_memory_bytes{worker="${worker}"}`)) > 0,
      `${worker} reports`,
    );

  const openNow = () => metric('gatehouse_tcp_open_connections');
  const sockets = await openConnections(tcpPort);
  await until(async () => (await openNow()) === many.length, 'the open connections of both are counted');
  const [victim, survivor, ...others] = await childrenOf(program.pid);
  assert.ok(victim !== undefined && survivor !== undefined && others.length === 0);
  process.kill(victim, 'SIGKILL');
  await until(() => sockets.some(({ closed }) => closed), 'the connections of the killed worker break');
  await until(async () => (await childrenOf(program.pid)).filter((pid) => pid !== victim).length === 2, 'another one');
  const alive = sockets.filter(({ closed }) => !closed);
  assert.ok(alive.length > 0, 'the other worker had none');
  await until(async () => (await openNow()) === alive.length, 'those of the killed worker are counted no more');

  await until(() => /"msg":"a gateway worker is gone; starting another"/.test(program.output), 'the log says so');
  assert.deepEqual(new Set((await askAll()).map(({ status }) => status)), new Set([200]));
  await program.must('PUT', `${tcpPath}/ip_restriction`, {
    ip_policy_ids: [await createPolicy(program, '10.0.0.0/8')],
  });
  await until(() => alive.every(({ closed }) => closed), 'the new rules end the open connections');
  await Promise.all(many.map(() => assert.rejects(askTcp(tcpPort), { code: 'ECONNRESET' })));
  await until(async () => (await openNow()) === 0, 'none is counted any more');
  assert.equal(readExposition(await program.metrics()).samples.get('gatehouse_workers_lost_total'), 1);
});

test('a TLS session is resumed, whichever worker the client meets', async () => {
  await using upstream = await startUpstream();
  await using program = await Program.start(newSqlite(), { workers: '2', 'drain-seconds': '0' });
  await createAppEdge(program, upstream.port);
  const target = { host: '127.0.0.1', port: program.httpsPort, servername: appHost, rejectUnauthorized: false };
  const first = connectTls(target);
  first.resume().write(`GET / HTTP/1.1\r\nHost: ${appHost}\r\n\r\n`);
  const [session] = await once(first, 'session');
  first.destroy();
  for (let again = 0; again < 12; again++) {
    const socket = connectTls({ ...target, session });
    await once(socket, 'secureConnect');
    assert.ok(socket.isSessionReused());
    socket.destroy();
  }
});

test('in its usual form it has one worker where there are two cores, and none beside the API with "off"', async () => {
  await using usual = await Program.start(newSqlite(), { 'drain-seconds': '0' });
  await using alone = await Program.start(newSqlite(), { workers: 'off', 'drain-seconds': '0' });
  assert.equal((await childrenOf(usual.pid)).length, availableParallelism() > 1 ? 1 : 0);
  assert.deepEqual(await childrenOf(alone.pid), []);
});
