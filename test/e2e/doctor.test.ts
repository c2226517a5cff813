import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { addDoctor } from '../../src/command-line/doctor/doctor.ts';
import { makePair } from '../support/certificate-pair.ts';
import { CommandHost } from '../support/command-host.ts';
import { onDatabasesInTurn } from '../support/each-database.ts';
import { GatehouseProcess } from '../support/gatehouse-process.ts';
import type { Ended } from '../support/gatehouse-process.ts';
import { startPostgres } from '../support/postgres.ts';
import { ReplicatedPostgres } from './failover/support/replicated-postgres.ts';
import { until } from './gateway/support/until.ts';

const token = 'the-token-of-the-patient-0123456789abcdef';
const quiet = ['--https-listen', 'off', '--agent-listen', 'off', '--link-listen', 'off'];

/** Runs it in this process: each start of the program would show nothing else. */
function doctor(words: readonly string[], variables: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const commands = new CommandHost(variables);
  commands.add(addDoctor);
  return commands.end(words);
}

onDatabasesInTurn('gatehouse doctor', (newDatabase) => {
  test('finds nothing wrong before the first start and beside a running service', async () => {
    const url = await newDatabase();
    const fresh = await GatehouseProcess.run([
      'doctor',
      '--database-url',
      url,
      '--api-listen',
      '127.0.0.1:0',
      ...quiet,
    ]);
    assert.equal(fresh.code, 0, fresh.out + fresh.errors);
    await using server = await GatehouseProcess.serve(url, ['--bootstrap-token', token]);
    const { host } = new URL(server.url);
    const beside = await doctor(['check', '--database-url', url, '--api-listen', host, ...quiet]);
    assert.equal(beside.code, 0, beside.out + beside.errors);
    assert.match(beside.out, /^ok {7}port .*: it is taken, and the service runs/m);
    assert.match(beside.out, /^ok {7}certificates: 0 are uploaded/m);
    const elsewhere = ['--database-url', 'sqlite:/nowhere/another.db', '--api-listen', host, ...quiet];
    const another = await doctor(['doctor', ...elsewhere]);
    assert.equal(another.code, 2, another.out);
    assert.match(another.out, /^fault {4}database: \/nowhere\/another\.db does not exist, although the service runs/m);
    const pair = makePair('doctor', '-days', '5', '-subj', '/CN=soon.test', '-addext', 'subjectAltName=DNS:soon.test');
    const body = { certificate_pem: pair.certificate_pem, private_key_pem: pair.private_key_pem };
    assert.equal((await server.call('POST', '/tls_certificates', token, body)).status, 201);
    assert.match(beside.out, /^ok {7}names: no account has one of the installation/m);
    assert.match(beside.out, /^ok {7}rules: each rule of 0 IP policies decides something/m);
    const policy = await server.call('POST', '/ip_policies', token, {});
    const rules = ['10.1.0.0/16', '!10.0.0.0/8', '2001:db8:1::/48', '2001:db8::/32', '!2001:db8::/31'];
    const { id } = (await policy.json()) as { readonly id: string };
    assert.equal((await server.call('PUT', `/ip_policies/${id}/rules`, token, rules)).status, 200);
    const restriction = { type: 'agent', enforced: true, ip_policy_ids: [id] };
    assert.equal((await server.call('POST', '/ip_restrictions', token, restriction)).status, 201);
    const edge = { hostports: ['old.example.com:443', 'new.example.com:443'] };
    assert.equal((await server.call('POST', '/edges/https', token, edge)).status, 201);
    const args = ['--database-url', url, '--api-listen', host, '--own-names', 'old.example.com'];
    const soon = await doctor(['doctor', ...args, ...quiet]);
    assert.match(soon.out, /^warning {2}names: .*old\.example\.com \(edghts_\w+\)\. They are served/m);
    assert.doesNotMatch(soon.out, /new\.example\.com/);
    assert.match(
      soon.out,
      /^warning {2}rules: ipp_\w+: a rule never decides: "allow 10\.1\.0\.0\/16", because of "deny 10\.0\.0\.0\/8" and 2 more\./m,
    );
    assert.match(soon.out, /^warning {2}rules: the IP policies of ipx_\w+ let nobody in/m);
    assert.deepEqual(
      [soon.code, /^warning {2}certificates: cert_\w+ \(soon\.test\) ends at /m.test(soon.out)],
      [0, true],
    );
  });
});

describe('gatehouse doctor', () => {
  test('says what a failover of PostgreSQL would lose', async () => {
    await using pair = await ReplicatedPostgres.start();
    const { primary } = pair;
    const findings = async (url: string) => {
      const { out, errors } = await doctor(['doctor', '--database-url', url, '--api-listen', '127.0.0.1:0', ...quiet]);
      return /^\S+ +replication: .*$/m.exec(out)?.[0] ?? out + errors;
    };
    const set = async (name: string, value: string) => {
      await primary.ask(`ALTER SYSTEM SET ${name} = '${value}'`);
      await primary.ask('SELECT pg_reload_conf()');
    };
    const standbys = (condition: string, count: string) =>
      until(
        async () => (await primary.ask(`SELECT COUNT(*) FROM pg_stat_replication WHERE ${condition}`)) === count,
        `${count} with ${condition}`,
      );
    // The server has tables of Gatehouse already.
    await primary.ask('CREATE ROLE plain LOGIN IN ROLE pg_read_all_data');
    const plain = pair.url.replace('postgres@', 'plain@');
    for (const url of [pair.url, plain])
      assert.match(await findings(url), /^warning .*: of 1 standby none is synchronous: a failover loses/);
    await set('synchronous_standby_names', 'standby');
    await standbys("sync_state = 'sync'", '1');
    for (const url of [pair.url, plain])
      assert.match(await findings(url), /^ok .*: 1 standby; commits wait for a synchronous one$/);
    await set('synchronous_standby_names', 'another');
    await standbys("sync_state = 'async'", '1');
    assert.match(await findings(pair.url), /^warning .*: of 1 standby none is synchronous/);
    await set('synchronous_commit', 'off');
    assert.match(await findings(plain), /^warning .*: synchronous_commit is off: a crash of the server loses/);
    await set('synchronous_commit', 'on');
    await pair.standby.crash();
    await standbys('true', '0');
    assert.match(await findings(pair.url), /^warning .*: no standby follows the server/);
    await using alone = await startPostgres();
    assert.doesNotMatch(await findings(alone.url), /replication/, 'whoever has one server knows');
  });

  test('names each fault and what to do, and ends with 2', async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-'));
    context.after(() => rm(folder, { recursive: true, force: true }));
    const file = join(folder, 'a.db');
    await writeFile(file, 'this is no database, however long it may be, and it never was one');
    await chmod(file, 0o644);
    const taken = createServer().listen(0, '127.0.0.1');
    context.after(() => taken.close());
    await once(taken, 'listening');
    const address = taken.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const args = ['--database-url', `sqlite:${file}`, '--api-listen', `127.0.0.1:${port}`, ...quiet];
    const { code, out } = await GatehouseProcess.run(['doctor', ...args]);
    assert.equal(code, 2, out);
    assert.match(out, /^fault {4}database: it cannot be used: .*restore a backup$/m);
    assert.match(out, /^fault {4}port 127\.0\.0\.1:\d+: another program listens there: .*GATEHOUSE_API_LISTEN$/m);
    const nowhere = ['--database-url', 'postgres://127.0.0.1:1/none', '--api-listen', '127.0.0.1:0'];
    const dead = await doctor(['doctor', ...nowhere, ...quiet]);
    assert.deepEqual([dead.code, /^fault {4}database: .*GATEHOUSE_DATABASE_URL/m.test(dead.out)], [2, true]);
    const misspelt = await doctor(['doctor'], { GATEHOUSE_API_LISTN: 'x' });
    assert.deepEqual(
      [misspelt.code, /^fault {4}settings: GATEHOUSE_API_LISTN.*_LISTEN/m.test(misspelt.out)],
      [2, true],
    );
  });
});
