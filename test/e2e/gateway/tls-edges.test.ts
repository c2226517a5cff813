import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import type { Server as TlsServer } from 'node:tls';
import { promisify } from 'node:util';

import { makePair } from '../../support/certificate-pair.ts';
import { ClientAuthority } from '../../support/client-certificates.ts';
import type { ClientPair } from '../../support/client-certificates.ts';
import { EventReader } from '../../support/event-reader.ts';
import { freePort } from '../../support/free-port.ts';
import { newSqlite } from '../../support/scratch.ts';
import { Program } from './support/program.ts';
import { readExposition } from './support/prometheus.ts';
import { Site } from './support/site.ts';
import { until } from './support/until.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-tls-edges-'));
const staff = new ClientAuthority('staff');
const foreign = new ClientAuthority('foreign');
const host = 'db.site.test';

interface Shown {
  /** What the server said, and what OpenSSL says of the handshake. */
  readonly out: string;
  readonly errors: string;
}

/** Asks with OpenSSL's own client. */
async function ask(port: number, args: readonly string[] = [], servername = host): Promise<Shown> {
  const asking = run('openssl', ['s_client', '-connect', `127.0.0.1:${port}`, '-servername', servername, ...args], {
    timeout: 240_000,
  });
  // The server says something and closes: the client must not leave before.
  const { stdout, stderr } = await asking.catch((error: unknown) => error as { stdout: string; stderr: string });
  return { out: stdout, errors: stderr };
}

function files(name: string, { cert, key }: ClientPair): readonly string[] {
  const paths = [join(folder, `${name}.pem`), join(folder, `${name}.key`)] as const;
  writeFileSync(paths[0], cert);
  writeFileSync(paths[1], key);
  return ['-cert', paths[0], '-key', paths[1]];
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : assert.fail();
}

/** TLS edges, set over the API, visited by OpenSSL. */
suite('TLS edges', () => {
  let site: Site;
  let plain: Server;
  let secure: TlsServer;
  let reached = 0;
  let ids: { readonly plain: string; readonly secure: string };
  const own = makePair('passed-on', '-subj', '/CN=passed on', '-addext', `subjectAltName=DNS:${host}`);
  before(async () => {
    site = await Site.start({ drainSeconds: '0' });
    plain = createServer((socket) => {
      reached += 1;
      socket.on('error', () => {}).end('plain greeting\n');
    });
    secure = createTlsServer({ cert: own.certificate_pem, key: own.private_key_pem }, (socket) => {
      socket.on('error', () => {}).end(`secure greeting to ${String(socket.servername)} by ${socket.getProtocol()}\n`);
    });
    const create = async (port: number): Promise<string> =>
      (await site.gatehouse.create('/backends/static', { address: `127.0.0.1:${port}` })).id;
    ids = { plain: await create(await listen(plain)), secure: await create(await listen(secure)) };
  });
  after(async () => {
    await site[Symbol.asyncDispose]();
    plain.close();
    secure.close();
    rmSync(folder, { recursive: true });
  });

  const healthOf = async (id: string) => {
    const { body } = await site.gatehouse.get('/traffic/health');
    return body.health.find((each: { readonly id: string }) => each.id === id);
  };

  test('passed on, the upstream and the client shake hands with each other', async () => {
    const { gatehouse } = site;
    const edge = await gatehouse.create('/edges/tls', {
      hostports: [`${host}:443`],
      backend: { backend_id: ids.secure },
    });
    const shown = await ask(site.httpsPort, ['-tls1_3']);
    assert.match(shown.out, new RegExp(`secure greeting to ${host} by TLSv1.3`));
    assert.match(shown.out, /subject=CN ?= ?passed on/, 'its certificate');
    assert.match((await ask(site.httpsPort, ['-tls1_2'])).out, /by TLSv1.2/);
    await gatehouse.put(`/edges/tls/${edge.id}/tls_termination`, { terminate_at: 'upstream' });
    assert.match((await ask(site.httpsPort)).out, /secure greeting/);
    await gatehouse.delete(`/edges/tls/${edge.id}`);
    assert.match((await ask(site.httpsPort)).errors, /unrecognized name/);
  });

  test('ended at the edge: the certificate is one of the gateway, the version is honoured, certificates are asked for', async () => {
    const { gatehouse } = site;
    const pair = makePair('uploaded', '-subj', '/CN=uploaded', '-addext', `subjectAltName=DNS:${host}`);
    await gatehouse.create('/tls_certificates', pair);
    const { id } = await gatehouse.create('/edges/tls', {
      hostports: [`${host}:443`],
      backend: { backend_id: ids.plain },
      tls_termination: { terminate_at: 'edge', min_version: '1.3' },
    });
    const own13 = await ask(site.httpsPort, ['-tls1_3']);
    assert.match(own13.out, /plain greeting/);
    assert.match(own13.out, /subject=CN ?= ?uploaded/, 'the one uploaded');
    const before12 = reached;
    assert.match((await ask(site.httpsPort, ['-tls1_2'])).errors, /protocol version/);
    await gatehouse.put(`/edges/tls/${id}/tls_termination`, {});
    assert.equal(reached, before12, 'nothing reached the upstream');
    assert.match((await ask(site.httpsPort, ['-tls1_2'])).out, /plain greeting/);

    const ca = await gatehouse.create('/certificate_authorities', { ca_pem: staff.pem });
    await gatehouse.put(`/edges/tls/${id}/mutual_tls`, { certificate_authority_ids: [ca.id] });
    const reachedBefore = reached;
    const bearer = { authorization: `Bearer ${gatehouse.token}` };
    await using reader = await EventReader.open(`${gatehouse.url}/traffic/events`, bearer);
    const healthBefore = await healthOf(id);
    for (const args of [[], files('stranger', foreign.sign('stranger'))])
      for (const version of ['-tls1_2', '-tls1_3'])
        assert.doesNotMatch((await ask(site.httpsPort, [...args, version])).out, /plain greeting/);
    assert.equal(reached, reachedBefore, 'nobody else reached the upstream');
    for (const words of ['the client showed no certificate', 'the client certificate "stranger" is refused: UNABLE_']) {
      const { data } = await reader.find(({ data: { reason = '' } }) => reason.startsWith(words), words);
      assert.deepEqual([data.verdict, data.phase, data.edge_id], ['refused', 'closed', id]);
    }
    assert.equal((await healthOf(id)).turned_away, healthBefore.turned_away + 4);
    assert.equal((await healthOf(id)).requests, healthBefore.requests, 'none of them counts as answered');
    const { samples } = readExposition(await site.metrics());
    assert.equal(samples.get(`gatehouse_tcp_connections_total{edge="${id}",verdict="refused_by_certificate"}`), 4);
    const line = gatehouse.logLines.find((each) => each.includes('refused_by_certificate')) ?? '';
    assert.match(line, /the client showed no certificate/);
    const ada = files('ada', staff.sign('ada'));
    for (const version of ['-tls1_2', '-tls1_3'])
      assert.match((await ask(site.httpsPort, [...ada, version])).out, /plain greeting/);
    await gatehouse.delete(`/edges/tls/${id}`);
  });

  test('an address that is refused is reset before a byte reaches the upstream, and this is seen', async () => {
    const { gatehouse } = site;
    const others = await site.policy('192.0.2.0/24');
    const { id } = await gatehouse.create('/edges/tls', {
      hostports: [`${host}:443`],
      backend: { backend_id: ids.plain },
      tls_termination: {},
      ip_restriction: { ip_policy_ids: [others] },
    });
    const reachedBefore = reached;
    assert.match((await ask(site.httpsPort)).errors, /errno=104|reset/i);
    await gatehouse.delete(`/edges/tls/${id}/ip_restriction`);
    assert.match((await ask(site.httpsPort)).out, /plain greeting/);
    const restriction = await site.restrict(true, others);
    assert.match((await ask(site.httpsPort)).errors, /errno=104|reset/i);
    assert.equal(reached, reachedBefore + 1);
    await gatehouse.delete(`/ip_restrictions/${restriction.id}`);
    const { samples } = readExposition(await site.metrics());
    assert.equal(samples.get(`gatehouse_tcp_connections_total{edge="${id}",verdict="refused_by_module"}`), 1);
    assert.equal(samples.get(`gatehouse_tcp_connections_total{edge="${id}",verdict="refused_by_restriction"}`), 1);
    await until(async () => {
      const { by_edge: edges } = (await gatehouse.get('/traffic/history')).body;
      return JSON.stringify(edges).includes(id);
    }, 'its traffic is counted');
    await gatehouse.delete(`/edges/tls/${id}`);
  });

  test('connections beyond a rate limit are reset before their handshake, whoever ends TLS, and this is seen', async () => {
    const { gatehouse } = site;
    const { id } = await gatehouse.create('/edges/tls', {
      hostports: [`${host}:443`],
      backend: { backend_id: ids.plain },
      tls_termination: {},
      rate_limit: { limit: 2, window_seconds: 86_400 },
    });
    const edgePath = `/edges/tls/${id}`;
    const reachedBefore = reached;
    for (let round = 0; round < 2; round++) assert.match((await ask(site.httpsPort)).out, /plain greeting/);
    assert.match((await ask(site.httpsPort)).errors, /errno=104|reset/i);
    assert.match((await ask(site.httpsPort, ['-bind', '127.0.0.3'])).out, /plain greeting/, 'another source');
    assert.equal(reached, reachedBefore + 3);
    const { samples } = readExposition(await site.metrics());
    assert.equal(samples.get(`gatehouse_tcp_connections_total{edge="${id}",verdict="refused_by_rate_limit"}`), 1);

    await gatehouse.put(`${edgePath}/rate_limit`, { limit: 3, window_seconds: 86_400 });
    await gatehouse.delete(`${edgePath}/tls_termination`);
    await gatehouse.put(`${edgePath}/backend`, { backend_id: ids.secure });
    assert.match((await ask(site.httpsPort)).out, /secure greeting/, 'passed on, one more');
    assert.match((await ask(site.httpsPort)).errors, /errno=104|reset/i);
    for (const by of [{ by: 'certificate' }, { by: 'header', header: 'x' }]) {
      const refused = await gatehouse.put(`${edgePath}/rate_limit`, { limit: 3, window_seconds: 60, ...by });
      assert.deepEqual([refused.status, /counted by source alone/.test(refused.body.msg)], [400, true]);
    }
    assert.equal((await gatehouse.delete(`${edgePath}/rate_limit`)).status, 204);
    assert.match((await ask(site.httpsPort)).out, /secure greeting/);
    await gatehouse.delete(edgePath);
  });
});

test('every worker serves TLS edges, and a change is live when it is answered', async () => {
  const upstream = createServer((socket) => void socket.on('error', () => {}).end('greeting\n'));
  const port = await listen(upstream);
  await using program = await Program.start(newSqlite(), { workers: '2', 'drain-seconds': '0' });
  const backend = await program.must('POST', '/backends/static', { address: `127.0.0.1:${port}` });
  const edge = await program.must('POST', '/edges/tls', {
    hostports: [`${host}:443`],
    backend: { backend_id: backend.id },
    tls_termination: { min_version: '1.3' },
  });
  const askAll = () => Promise.all(Array.from({ length: 12 }, () => ask(program.httpsPort, ['-tls1_3'])));
  for (const { out } of await askAll()) assert.match(out, /greeting/);
  const dead = await freePort();
  await program.must('PATCH', `/backends/static/${backend.id}`, { address: `127.0.0.1:${dead}` });
  for (const { out } of await askAll()) assert.doesNotMatch(out, /greeting/);
  await program.must('DELETE', `/edges/tls/${edge.id}`);
  for (const { errors } of await askAll()) assert.match(errors, /unrecognized name/);
  upstream.close();
});
