import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createServer } from 'node:tls';

import { overQuota } from '../../src/errors/shared.ts';
import { createPolicy } from './gateway/support/app-edge.ts';
import { ClientAuthority } from '../support/client-certificates.ts';
import { scratchFolder } from '../support/scratch.ts';
import { startUpstream } from './gateway/support/upstream.ts';
import { GatehouseProcess } from '../support/gatehouse-process.ts';
import { TcpProxy } from './many-processes/support/tcp-proxy.ts';
import { addressOf, AgentServer, ended } from './support/own-agent.ts';

/** What our own agent says, and the code it ends with, where it cannot or may not go on. */

const folder = scratchFolder();
let server: AgentServer;
before(async () => {
  server = await AgentServer.start(folder);
});
after(() => server[Symbol.asyncDispose]());

test('a token that is refused ends it with 3, the words of the server and what to do', async () => {
  const { code, out, errors } = await ended(server.agent(['http', 3000], { GATEHOUSE_AUTHTOKEN: 'nonsense' }));
  assert.equal(code, 3);
  assert.match(errors, /The server refuses: The authtoken does not have the form of a token .*\(error 105\)\n/);
  assert.match(errors, /GATEHOUSE_AUTHTOKEN/);
  assert.ok(!`${out}${errors}`.includes('nonsense'));
});

test('without a token, or with one as a flag, it does not start and says where the token belongs', async () => {
  const none = await ended(server.agent(['http', 3000], { GATEHOUSE_AUTHTOKEN: '' }));
  assert.deepEqual([none.code, none.out], [1, '']);
  assert.match(
    none.errors,
    /no token for 127\.0\.0\.1:\d+: run "gatehouse login", set GATEHOUSE_AUTHTOKEN, or write .*agent\.json/,
  );
  for (const flag of ['--authtoken=hunter2', '--token=hunter2']) {
    const flagged = await ended(server.agent(['http', 3000, flag]));
    assert.equal(flagged.code, 1);
    assert.match(flagged.errors, /not taken from a flag, because other users of the machine can see command lines/);
    assert.ok(!flagged.errors.includes('hunter2'));
  }
});

test('settings are read from the file, but not from one that others have rights on', async () => {
  await using upstream = await startUpstream();
  const home = join(folder, 'settings');
  const file = join(home, 'gatehouse', 'agent.json');
  mkdirSync(join(home, 'gatehouse'), { recursive: true });
  const { token, caFile, agentPort } = server;
  writeFileSync(file, JSON.stringify({ server: `localhost:${agentPort}`, ca: caFile, authtoken: token }));
  const variables = { XDG_CONFIG_HOME: home, GATEHOUSE_SERVER: '', GATEHOUSE_CA: '', GATEHOUSE_AUTHTOKEN: '' };
  for (const mode of [0o644, 0o620, 0o604]) {
    chmodSync(file, mode);
    const { code, errors } = await ended(server.agent(['http', upstream.port], variables));
    assert.equal(code, 1);
    assert.ok(errors.includes(`others have rights on it (mode ${mode.toString(8)}). Run: chmod 600 ${file}`), errors);
  }
  chmodSync(file, 0o600);
  const { agent } = await server.online(['http', upstream.port], variables);
  await agent.stop('SIGINT');
  writeFileSync(file, '{"autotoken": "x"}');
  const { code, errors } = await ended(server.agent(['http', upstream.port], variables));
  assert.equal(code, 1);
  assert.match(errors, /"autotoken", which is no setting/);
});

test('a name that is online ends it with 5', async () => {
  await server.online(['http', 3000, '--domain', 'taken.localhost']);
  const { code, errors } = await ended(server.agent(['http', 3000, '--domain', 'taken.localhost']));
  assert.equal(code, 5);
  assert.match(errors, /The server refuses: The endpoint https:\/\/taken\.localhost is online already.*\(error 334\)/);
});

test('an option that is refused ends it with 6', async () => {
  const { code, errors } = await ended(server.agent(['http', 3000, '--allow-cidr', 'nonsense']));
  assert.equal(code, 6);
  assert.match(errors, /allow_cidrs holds "nonsense", which is not .*\(error 20130\)/);
});

test('an address that a restriction refuses ends it with 4, also when it becomes refused', async () => {
  const { program } = server;
  const { agent } = await server.online(['http', 3000]);
  const policy = await createPolicy(program, '203.0.113.0/24');
  const { id } = await program.must('POST', '/ip_restrictions', {
    type: 'agent',
    enforced: true,
    ip_policy_ids: [policy],
  });
  for (const each of [agent, server.agent(['http', 3000])]) {
    const { code, errors } = await ended(each);
    assert.equal(code, 4);
    assert.match(errors, /Agents may not connect from 127\.0\.0\.1.*\(error 3206\)/);
  }
  await program.must('DELETE', `/ip_restrictions/${id}`);
});

test('a quota that is used up ends it with 9, or keeps it waiting once it was online', async () => {
  const set = async (quotas: string) => {
    const command = ['accounts', 'quotas', '--account', 'default', '--set', quotas];
    const database = `sqlite:${join(folder, 'gatehouse.db')}`;
    const { code, errors } = await GatehouseProcess.run([...command, '--database-url', database]);
    assert.equal(code, 0, errors);
  };
  const { proxy, url } = await TcpProxy.before(`tcp://127.0.0.1:${server.agentPort}`);
  await using cuts = proxy;
  const { agent, address } = await server.online(['http', 3000], {
    GATEHOUSE_SERVER: `127.0.0.1:${new URL(url).port}`,
  });
  for (const quota of ['tunnels', 'tunnel_sessions']) {
    await set(`${quota}=0`);
    const { code, errors } = await ended(server.agent(['http', 3000]));
    assert.equal(code, 9);
    assert.match(
      errors,
      new RegExp(`The server refuses: The quota ${quota} of this account is 0, .*\\(error ${overQuota.code}\\)`),
    );
  }
  await cuts.cut();
  await cuts.restore();
  await agent.printed(/offline: The quota tunnel_sessions of this account is 0, \d+ are used.*; trying again /);
  await set('tunnels=default,tunnel_sessions=default');
  assert.equal(await addressOf(agent, 2), address);
});

test('a tunnel that the server stops ends it with 7', async () => {
  const { program } = server;
  const { id, token } = await program.must('POST', '/credentials', { acl: ['bind:one.localhost'] });
  const { agent } = await server.online(['http', 3000, '--domain', 'one.localhost'], { GATEHOUSE_AUTHTOKEN: token });
  await program.must('PATCH', `/credentials/${id}`, { acl: ['bind:two.localhost'] });
  const { code, errors } = await ended(agent);
  assert.equal(code, 7);
  assert.match(errors, /The server has stopped this tunnel: the acl of the credential does not allow it any more/);
});

test('a server that is not trusted, or is none of agents, ends it with 8', async () => {
  const untrusted = await ended(server.agent(['http', 3000], { GATEHOUSE_CA: '' }));
  assert.equal(untrusted.code, 8);
  assert.match(
    untrusted.errors,
    /the certificate of 127\.0\.0\.1:\d+ is not trusted: .*\n.*\(--fingerprint\), .*\(--ca\)/,
  );
  const api = { GATEHOUSE_SERVER: `127.0.0.1:${server.program.apiPort}` };
  const plain = await ended(server.agent(['http', 3000], api));
  assert.equal(plain.code, 8);
  assert.match(plain.errors, /does not speak TLS/);
  const https = { GATEHOUSE_SERVER: `127.0.0.1:${server.httpsPort}` };
  const other = await ended(server.agent(['http', 3000], https));
  assert.equal(other.code, 8);
  assert.match(other.errors, /speaks TLS, but .*it is not the address for agents/);
});

test('by a fingerprint the authority is found on the way, and nobody else is told the token', async (t) => {
  const pem = readFileSync(server.caFile, 'utf8');
  const { fingerprint256 } = new X509Certificate(pem);
  const pinned = { GATEHOUSE_CA: '', GATEHOUSE_FINGERPRINT: `sha256:${fingerprint256}` };
  await using upstream = await startUpstream();
  const { agent } = await server.online(['http', upstream.port], pinned);
  await agent.stop('SIGINT');

  const other = new ClientAuthority('other');
  const genuine = { ...other.sign('localhost', { usage: 'serverAuth' }) };
  const heard: string[] = [];
  const shows = async (cert: string) => {
    const impostor = createServer({ ...genuine, cert }, (socket) => {
      socket.on('error', () => {}).on('data', (bytes: Buffer) => heard.push(bytes.toString('latin1')));
    }).listen(0, '127.0.0.1');
    t.after(() => impostor.close());
    await once(impostor, 'listening');
    const { port } = impostor.address() as AddressInfo;
    return ended(server.agent(['http', 3000, '--server', `localhost:${port}`], pinned));
  };
  const own = await shows(`${genuine.cert}\n${other.pem}`);
  assert.equal(own.code, 8, own.errors);
  const expected = fingerprint256.replaceAll(':', '').toLowerCase();
  assert.match(
    own.errors,
    new RegExp(`the authority of localhost:\\d+ is not the one that was given: sha256:${expected} is expected`),
  );
  // The certificate of the authority is no secret: whoever shows it must have a leaf of it too.
  const borrowed = await shows(`${genuine.cert}\n${pem}`);
  assert.equal(borrowed.code, 8, borrowed.errors);
  assert.match(borrowed.errors, /is not the one that was given|is not trusted/);
  assert.deepEqual(heard, []);
  for (const [flags, words] of [
    [['--fingerprint', 'sha256:abcd'], /the fingerprint "sha256:abcd" is none/],
    [['--fingerprint', pinned.GATEHOUSE_FINGERPRINT, '--ca', server.caFile], /named twice/],
  ] as const) {
    const wrong = await ended(server.agent(['http', 3000, ...flags]));
    assert.deepEqual([wrong.code, words.test(wrong.errors)], [1, true], wrong.errors);
  }
});

test('a server that does not run is tried again and again', async () => {
  const agent = server.agent(['http', 3000, '--server=127.0.0.1:1']);
  await agent.printed(/(?:offline: the server 127\.0\.0\.1:1 cannot be reached: nothing listens there; .*\n.*){3}/);
  assert.equal((await agent.stop('SIGTERM')).code, 0);
});

test('a call that makes no sense ends with 1 and says what to write', async () => {
  const wrong: readonly (readonly [string[], RegExp])[] = [
    [['http', '70000'], /the target "70000" must end in a port between 1 and 65535\. Give 3000, /],
    [['http', 'ftp://x'], /the target "ftp:\/\/x" is not a target of this command/],
    [['http', 'http://x/path'], /is not a target of this command/],
    [['tcp', 'host'], /the target "host" has no port/],
    [['http', '3000', '--label', 'app'], /the label "app" has no key\. Give key=value/],
    [['http', '3000', '--label', 'a=b', '--domain', 'x.y', '--pooling'], /--domain, --pooling cannot go with --label/],
    [['http', '3000', '--request-header-add', 'x'], /the header "x" has no name/],
    [['http', '3000', '--proxy-protocol', '3'], /Allowed choices are 1, 2/],
    [['http', '3000', '--upstream-insecure'], /is for targets over TLS/],
    [['http', '3000', '--server', 'x'], /the server "x" has no port/],
    [['http', '3000', '--ca', '/nowhere.pem'], /the authority to trust cannot be read/],
    [['http', '3000', '--basic-auth-file', '/nowhere'], /there is no file \/nowhere/],
    [['http', '3000', '--domian', 'x'], /Did you mean --domain\?/],
  ];
  const results = await Promise.all(
    wrong.map(async ([args, words]) => [args, words, await ended(server.agent(args))] as const),
  );
  for (const [args, words, { code, out, errors }] of results) {
    assert.deepEqual([code, out], [1, ''], args.join(' '));
    assert.match(errors, words);
  }
});
