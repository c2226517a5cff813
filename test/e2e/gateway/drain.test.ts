import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { suite, test } from 'node:test';
import { connect as connectTls } from 'node:tls';

import { readAll } from '../../gateway/support/https-client.ts';
import { appHost, createAppEdge, createPolicy } from './support/app-edge.ts';
import { startHeldUpstream } from './support/held-upstream.ts';
import { Program } from './support/program.ts';
import { newSqlite } from '../../support/scratch.ts';
import { someOf } from '../../support/sample.ts';
import { askHttps, askTcp } from './support/traffic.ts';
import { until } from './support/until.ts';

/** True if the port accepts connections. */
async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function openTls(port: number) {
  const socket = connectTls({ port, servername: appHost, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] });
  await once(socket, 'secureConnect');
  return socket;
}

for (const workers of someOf(['1', '2'], 1, 'workers', 'drain')) {
  suite(`SIGTERM to a program with --workers ${workers}`, { concurrency: true }, () => {
    test('lets open requests and connections end, takes no new ones, keeps what it warned of, and exits with 0', async () => {
      await using upstream = await startHeldUpstream();
      const databaseUrl = newSqlite();
      await using program = await Program.start(databaseUrl, { workers, 'drain-seconds': '60' });
      const { tcpPort } = await createAppEdge(program, upstream.port);
      const policy = await createPolicy(program, '10.0.0.0/8');
      const body = { type: 'endpoints', ip_policy_ids: [policy] };
      const { id: trial } = await program.must('POST', '/ip_restrictions', body);
      const open = [askHttps(program.httpsPort, appHost, { path: '/held' }), askTcp(tcpPort, { path: '/held' })];
      await upstream.holds(2);
      const halfAsked = await openTls(program.httpsPort);
      halfAsked.write(`GET /late HTTP/1.1\r\nHost: ${appHost}\r\n`);

      program.signal('SIGTERM');
      await until(async () => !(await accepts(program.httpsPort)), 'HTTPS takes no new connections');
      await until(async () => !(await accepts(tcpPort)), 'TCP takes no new connections');
      halfAsked.write('\r\n');
      assert.match(await readAll(halfAsked), /^HTTP\/1\.1 200 [^]*connection: close[^]*at once/i);
      upstream.release();
      for (const { status, text } of await Promise.all(open)) {
        assert.deepEqual([status, text], [200, 'begun, ended']);
      }
      assert.equal(await program.exited, 0);

      using database = new DatabaseSync(databaseUrl.replace('sqlite:', ''));
      const warning = database.prepare('SELECT count FROM ip_restriction_warnings WHERE restriction_id = ?').get(trial);
      assert.equal(warning?.['count'], 3, 'the two that were open and the one that came late');
    });

    test('cuts what has not ended after --drain-seconds, and exits with 0 all the same', async () => {
      await using upstream = await startHeldUpstream();
      await using program = await Program.start(newSqlite(), { workers, 'drain-seconds': '1' });
      const { tcpPort } = await createAppEdge(program, upstream.port);
      const [https, tcp] = [
        askHttps(program.httpsPort, appHost, { path: '/held' }),
        askTcp(tcpPort, { path: '/held' }),
      ];
      const cut = Promise.all([assert.rejects(https), assert.rejects(tcp)]);
      await upstream.holds(2);
      const sentMs = performance.now();
      program.signal('SIGTERM');
      await cut;
      assert.equal(await program.exited, 0);
      assert.ok(performance.now() - sentMs > 950, 'it waited as long as it was told to');
    });
  });
}
