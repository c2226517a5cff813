import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { describeDatabase } from '../../../src/lib/database-url.ts';
import { createSealer } from '../../../src/lib/sealed-secret.ts';
import { SnapshotFile } from '../../../src/snapshot/snapshot-file.ts';
import { makePair } from '../../support/certificate-pair.ts';
import { freePort } from '../../support/free-port.ts';
import { connectPostgres } from '../../support/postgres-client.ts';
import { usePostgres } from '../../support/use-postgres.ts';
import { rounds } from '../../support/long-form.ts';
import { askHttps } from '../gateway/support/traffic.ts';
import { startUpstream } from '../gateway/support/upstream.ts';
import { CrashingPostgres } from './support/crashing-postgres.ts';
import { Running } from './support/running.ts';
import { randomBetween, until } from './support/waiting.ts';

const writerProgram = fileURLToPath(new URL('support/snapshot-writer.ts', import.meta.url));
const secretKey = 'the-key-that-keeps-the-private-keys-of-tests';

describe('the snapshot file of a gateway', () => {
  const folders: string[] = [];
  after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));
  const newPath = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-snapshot-'));
    folders.push(folder);
    return join(folder, 'gateway.snapshot');
  };
  const open = (path: string) => new SnapshotFile(path, createSealer(undefined), 'of a test', assert.ifError);

  test('no private key can be read in it where there is a secret key, and a wrong secret key is reported', async () => {
    await using owner = new AsyncDisposableStack();
    const database = await usePostgres(owner);
    const path = await newPath();
    const flags = { role: 'all', 'https-listen': '127.0.0.1:0', 'snapshot-file': path, 'secret-key': secretKey };
    const running = await Running.start(database, flags);
    const pair = makePair('sealed', '-subj', '/CN=sealed.example.com');
    const { id } = await running.create('/tls_certificates', pair);
    await running.stop();

    const bytes = await readFile(path);
    assert.ok(bytes.includes(id), 'the certificate is in it');
    const der = Buffer.from(pair.private_key_pem.replaceAll(/-----.*-----|\s/g, ''), 'base64');
    assert.ok(!bytes.includes('PRIVATE KEY'));
    assert.ok(!bytes.includes(der.subarray(-32)) && !bytes.includes(der.toString('base64').slice(-40)));
    assert.equal((await stat(path)).mode & 0o777, 0o600);

    const gone = `postgres://postgres@127.0.0.1:${await freePort()}/gone`;
    await using wrong = Running.launch(gone, { ...flags, 'secret-key': `not-${secretKey}` });
    assert.equal(await wrong.ends(), 1);
    assert.match(wrong.output, /does not open\. secret_key is not the one it was encrypted with/);
  });

  test('a gateway that is stopped while it waits for its database ends in order, without a fault in its log', async () => {
    const path = await newPath();
    const gone = `postgres://postgres@127.0.0.1:${await freePort()}/gone`;
    await using written = new SnapshotFile(path, createSealer(undefined), describeDatabase(gone), assert.ifError);
    const { certificate_pem, private_key_pem } = makePair('waiting', '-subj', '/CN=waiting');
    written.setLocalCa({ certificatePem: certificate_pem, privateKeyPem: private_key_pem });
    written.follow({ version: 1, full: true, set: [], removed: [] });
    await written.flush();
    await using gateway = Running.launch(gone, { role: 'gateway', 'snapshot-file': path });
    await gateway.prints(/the gateway serves the last configuration it knew/);
    gateway.child.kill('SIGTERM');
    assert.equal(await gateway.ends(), 0);
    const [, afterStop = ''] = gateway.output.split('"msg":"stopping"');
    assert.doesNotMatch(afterStop, /could not stop|AbortError|    at /);
  });

  test('a process that starts without its database serves, says at its API that it is not ready, and reports what its database has lost', async () => {
    await using upstream = await startUpstream();
    await using postgres = await CrashingPostgres.start();
    const url = await postgres.createDatabase();
    const [httpsPort, apiPort] = [await freePort(), await freePort()];
    const flags = {
      role: 'all',
      'https-listen': `127.0.0.1:${httpsPort}`,
      'api-listen': `127.0.0.1:${apiPort}`,
      'metrics-listen': 'off',
      'snapshot-file': await newPath(),
    };
    const asSuperuser = async (...statements: readonly string[]) => {
      await using client = await connectPostgres(new URL('/postgres', url).href);
      for (const sql of statements) await client.query(sql);
    };
    const name = new URL(url).pathname.slice(1);
    const createEdge = async (running: Running, host: string) => {
      const { id: backend_id } = await running.create('/backends/static', { address: `127.0.0.1:${upstream.port}` });
      const { id } = await running.create('/edges/https', { hostports: [`${host}:443`] });
      const route = { match_type: 'path_prefix', match: '/', backend: { backend_id } };
      await running.create(`/edges/https/${id}/routes`, route);
    };
    const statusOf = (host: string) =>
      askHttps(httpsPort, host).then(
        ({ status }) => status,
        () => 'no such host',
      );
    const history = async (running: Running) =>
      (await running.call('GET', '/gateways')).body.gateways[0].history_change;
    {
      await using running = await Running.start(url, flags);
      await createEdge(running, 'kept.test');
      await running.stop();
    }
    await asSuperuser(`CREATE DATABASE copy TEMPLATE "${name}"`);
    {
      await using running = await Running.start(url, flags);
      assert.equal(await history(running), undefined);
      await createEdge(running, 'lost.test');
      await running.stop();
    }
    await asSuperuser(`DROP DATABASE "${name}"`, `ALTER DATABASE copy RENAME TO "${name}"`);
    await postgres.crash('SIGQUIT');

    await using running = Running.launch(url, flags);
    await running.prints(/the gateway serves the last configuration it knew/);
    assert.equal(await statusOf('lost.test'), 200);
    const api = `http://127.0.0.1:${apiPort}`;
    await until('the API says that it waits', () =>
      fetch(`${api}/healthz`).then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    for (const [method, path] of [
      ['GET', '/readyz'],
      ['GET', '/healthz/x'],
      ['POST', '/ip_policies'],
    ] as const) {
      const body = method === 'POST' ? { body: '{'.repeat(100_000) } : {};
      const answer = await fetch(api + path, { method, ...body });
      assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '1'], path);
      assert.match(answer.headers.get('gatehouse-operation-id') ?? '', /^op_/);
      assert.equal(Object(await answer.json()).error_code, 'ERR_GATEHOUSE_20004');
    }
    await postgres.restart();
    await running.prints(/^Gatehouse listens on/m);
    assert.equal((await fetch(`${api}/readyz`)).status, 200);
    assert.deepEqual([await statusOf('kept.test'), await statusOf('lost.test')], [200, 'no such host']);
    assert.match(running.output, /has another history than before.*what is gone is not known by name/);
    const { seen_version: seen, version, lost } = await history(running);
    assert.ok(seen > version, `${seen} and ${version}`);
    assert.deepEqual(lost, []);
  });

  test('a process that is killed while it writes leaves the file whole, with the newest version it reported', async () => {
    const path = await newPath();
    let newest = 0;
    for (let kill = 0; kill < rounds(3, 200); kill++) {
      const first = newest + 1;
      newest = await writeAndKill(path, first);
      const saved = await open(path).load();
      assert.ok(saved !== undefined && saved.update.version >= newest, `version ${newest} is lost`);
      const { version, set } = saved.update;
      // All of one version: the last whole one, and what each change since then has written.
      const hosts = set.map((entry) => (entry.kind === 'backend' ? entry.host : ''));
      const wholeVersion = version - ((version - first) % 20);
      assert.deepEqual(new Set(hosts.slice(0, 200)), new Set([`host-of-version-${version}`]));
      assert.deepEqual(new Set(hosts.slice(200)), new Set([`host-of-version-${wholeVersion}`]));
      newest = version;
    }
  });

  test('a file with any bit changed, or cut short, is refused, or read as it was', async () => {
    const path = await newPath();
    await writeAndKill(path, 1);
    const whole = await readWhole(path);
    const expected = await open(path).load();
    let refused = 0;
    const damage = async (bytes: Uint8Array, what: string) => {
      await writeFile(path, bytes);
      const read = await open(path)
        .load()
        .catch((error: unknown) => String(error));
      if (typeof read !== 'string') assert.deepEqual(read, expected, what);
      else assert.match(read, /is damaged or of another version/, what);
      if (typeof read === 'string') refused += 1;
    };
    for (let round = 0; round < rounds(15, 2_000); round++) {
      const bytes = Buffer.from(whole);
      // Every second round damages the head, which is a small part of the file.
      const at = randomBetween(0, round % 2 === 0 ? 200 : bytes.length - 1);
      const bit = randomBetween(0, 7);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
      await damage(bytes, `bit ${bit} of byte ${at}`);
      // Without a byte there is no snapshot, and none to start from.
      const length = randomBetween(1, whole.length - 1);
      await damage(whole.subarray(0, length), `cut to ${length} bytes`);
    }
    assert.ok(refused >= rounds(15, 2_000), `${refused}`);
    await writeFile(path, whole);
    assert.ok((await open(path).load()) !== undefined);
  });

  test('a gateway without its database does not start from a damaged file, and says why', async () => {
    const path = await newPath();
    await writeFile(path, 'gatehouse-snapshot-1 0000\nnothing');
    const gone = `postgres://postgres@127.0.0.1:${await freePort()}/gone`;
    await using gateway = Running.launch(gone, { role: 'gateway', 'snapshot-file': path });
    assert.equal(await gateway.ends(), 1);
    assert.match(
      gateway.output,
      /gateway\.snapshot is damaged or of another version; delete it once the database is back/,
    );
  });
});

/** The file, with what a crash has left in its log. */
async function readWhole(path: string): Promise<Buffer> {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
  return readFile(path);
}

/** Returns the last version that the writer reported as written. */
async function writeAndKill(path: string, firstVersion: number): Promise<number> {
  const writer = spawn(process.execPath, [writerProgram, path, String(firstVersion)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  writer.stdout.on('data', (chunk) => (output += String(chunk)));
  await until('it writes', () => output.includes('\n'));
  await sleep(randomBetween(0, 60));
  writer.kill('SIGKILL');
  await once(writer, 'close');
  return Number(output.trimEnd().split('\n').at(-1));
}
