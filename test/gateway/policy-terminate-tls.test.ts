import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { createServer } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { connect as connectTls } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';

import { trafficPolicy as module } from '../../src/modules/traffic-policy/index.ts';
import type { TlsEndpointEntry } from '../../src/snapshot/contract.ts';
import { ClientAuthority } from '../support/client-certificates.ts';
import { edgeCertificate, makeCertificate, makeCertificateWith } from './support/https-certificate.ts';
import { get, parseAnswer, readAll, requestHttp2 } from './support/https-client.ts';
import { backendEntry, toBackend, trafficPolicy } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { portOf } from './support/https-upstream.ts';
import { documentedPolicy, policyOf, refusalOf, startWithPolicy, vaultWith } from './support/policies.ts';

const served = makeCertificate('DNS:app.test', 'DNS:tls.test');
const staff = new ClientAuthority('staff');
const others = new ClientAuthority('others');
const ada = staff.sign('ada');
const stranger = others.sign('stranger');

const terms = (config: object) => policyOf('terminate-tls', config, 'on_tcp_connect');
const ofVault = (name: string) => `\${secrets.get('keys', '${name}')}`;

function open(port: number, options: ConnectionOptions): TLSSocket {
  const known = {
    port,
    host: '127.0.0.1',
    servername: 'app.test',
    ca: [edgeCertificate.certificate, served.certificate],
  };
  return connectTls({ ...known, ALPNProtocols: ['http/1.1'], ...options }).on('error', () => {});
}

/** Status of a request, or why no connection comes about; and who has served it. */
async function visit(port: number, options: ConnectionOptions = {}) {
  const socket = open(port, options);
  let serial: string | undefined;
  socket.on('secureConnect', () => {
    serial = socket.getPeerX509Certificate()?.serialNumber;
    socket.write(get('/'));
  });
  const text = await readAll(socket).catch(() => '');
  return { status: text === '' ? 'closed' : parseAnswer(text).status, isOwn: serial === serialOf(served.certificate) };
}

function serialOf(pem: string): string {
  return new X509Certificate(pem).serialNumber;
}

test('an HTTPS endpoint shows the certificate of its policy, and speaks the versions that it names', async (t) => {
  const pair = { server_certificate: served.certificate, server_private_key: ofVault('server') };
  const { gateway, setPolicy } = await startWithPolicy(
    t,
    terms({ ...pair, min_version: '1.3' }),
    vaultWith('server', served.key),
  );
  assert.deepEqual(await visit(gateway.port), { status: 200, isOwn: true });
  assert.equal((await visit(gateway.port, { maxVersion: 'TLSv1.2' })).status, 'closed');
  await setPolicy(terms({ max_version: '1.2' }));
  assert.deepEqual(await visit(gateway.port, { maxVersion: 'TLSv1.2' }), { status: 200, isOwn: false });
  assert.equal((await visit(gateway.port, { minVersion: 'TLSv1.3' })).status, 'closed');
  // A connection of before is held to what is asked for now.
  const kept = connectHttp2(`https://127.0.0.1:${gateway.port}`, {
    servername: 'app.test',
    ca: edgeCertificate.certificate,
  });
  t.after(() => kept.destroy());
  assert.equal((await requestHttp2(kept, { ':path': '/', ':authority': 'app.test' })).status, 200);
  await setPolicy(terms({ ...pair, min_version: '1.3' }));
  assert.equal((await requestHttp2(kept, { ':path': '/', ':authority': 'app.test' })).status, 421);
});

test('clients show a certificate of the authorities that stand in a vault, whose new value works at once', async (t) => {
  const document = terms({ mutual_tls_certificate_authorities: [ofVault('authority')] });
  const { upstream, gateway } = await startWithPolicy(t, document, vaultWith('authority', staff.pem));
  assert.deepEqual(
    [
      (await visit(gateway.port, ada)).status,
      (await visit(gateway.port, stranger)).status,
      (await visit(gateway.port)).status,
    ],
    [200, 403, 403],
  );
  const { headers = [] } = upstream.seen.at(-1) ?? {};
  assert.equal(headers[headers.indexOf('X-Client-Cert-Subject') + 1], 'CN=ada');
  const kept = connectHttp2(`https://127.0.0.1:${gateway.port}`, {
    servername: 'app.test',
    ca: edgeCertificate.certificate,
    ...ada,
  });
  t.after(() => kept.destroy());
  assert.equal((await requestHttp2(kept, { ':path': '/', ':authority': 'app.test' })).status, 200);
  await gateway.set(...vaultWith('authority', others.pem));
  assert.deepEqual([(await visit(gateway.port, ada)).status, (await visit(gateway.port, stranger)).status], [403, 200]);
  assert.notEqual((await requestHttp2(kept, { ':path': '/', ':authority': 'app.test' })).status, 200);
  await gateway.set(...vaultWith('authority', 'no certificate'));
  assert.deepEqual(
    [(await visit(gateway.port, ada)).status, (await visit(gateway.port, stranger)).status],
    ['closed', 'closed'],
  );
});

test('logs name the secret that is missing, and visitors are told no more than the code', async (t) => {
  const guarded = {
    on_http_request: [
      { expressions: ["secrets.get('keys', 'absent') == ''"], actions: [{ type: 'deny' }] },
      { actions: [{ type: 'add-headers', config: { headers: { 'x-key': ofVault('lost') } } }] },
    ],
  };
  const { gateway, setPolicy } = await startWithPolicy(t, guarded, vaultWith('present', 'a secret value'));
  const ask = async () => {
    const socket = open(gateway.port, {});
    socket.on('secureConnect', () => socket.write(get('/')));
    return readAll(socket).catch(() => '');
  };
  const told = async (code: string, name: string) => {
    const text = await ask();
    assert.match(text, new RegExp(`ERR_GATEHOUSE_${code}`));
    assert.match(text, /a secret that it names is missing/);
    for (const word of ['keys', name, 'secret value']) assert.ok(!text.includes(word), word);
    const reason = gateway.reasons.at(-1) ?? '';
    assert.match(reason, new RegExp(`there is no secret "${name}" in a vault "keys"`));
    assert.ok(!reason.includes('secret value'));
  };
  await told('2254', 'absent');
  await setPolicy({ on_http_request: guarded.on_http_request.slice(1) });
  await told('2238', 'lost');
  const ofTls = terms({ mutual_tls_certificate_authorities: [ofVault('gone')] });
  const cause = 'a secret that it names is missing (there is no secret "gone" in a vault "keys")';
  await setPolicy(ofTls);
  assert.equal(await ask(), '');
  assert.deepEqual(gateway.noted.at(-1), { handshake: 'no_leaf', cause });
  const { read, gateway: other } = await startTls(t, ofTls);
  assert.equal(await read(), '');
  assert.deepEqual([other.verdicts, other.tcpReasons], [['refused_unloadable'], [cause]]);
});

test('rules read the certificate that a client has shown', async (t) => {
  const lines = {
    'x-subject': '${conn.tls.client.subject}',
    'x-name': '${conn.tls.client.subject.common_name}',
    'x-issuer': '${conn.tls.client.issuer.common_name} ${conn.tls.client.issuer.organization}',
    'x-again':
      '${actions.ngrok.terminate_tls.client.subject.common_name} ${actions.gatehouse.terminate_tls.version} ' +
      '${size(actions.ngrok.terminate_tls.warnings)} ${has(actions.ngrok.terminate_tls.error)}',
    'x-names': '${conn.tls.client.san.dns_names.join(" ")}',
    'x-serial': '${conn.tls.client.serial_number}',
    'x-valid': '${conn.tls.client.validity.not_after > timestamp(time.now)} ${conn.tls.client.pem.contains("BEGIN")}',
  };
  const { upstream, gateway } = await startWithPolicy(t, {
    ...terms({ mutual_tls_certificate_authorities: [staff.pem], mutual_tls_verification_strategy: 'request' }),
    on_http_request: [
      { expressions: ["conn.tls.client.subject == 'CN=eve'"], actions: [{ type: 'deny' }] },
      {
        expressions: ["conn.tls.client.san.contains('one.test')"],
        actions: [{ type: 'add-headers', config: { headers: lines } }],
      },
    ],
  });
  const bob = staff.sign('bob', { names: ['one.test', 'two.test'] });
  assert.equal((await visit(gateway.port, bob)).status, 200);
  const { headers = [] } = upstream.seen.at(-1) ?? {};
  const told = Object.keys(lines).map((name) => headers[headers.indexOf(name) + 1]);
  const serial = new X509Certificate(bob.cert).serialNumber.toLowerCase();
  assert.deepEqual(told, ['CN=bob', 'bob', 'staff []', 'bob 1.3 0 false', 'one.test two.test', serial, 'true true']);
  assert.equal((await visit(gateway.port, staff.sign('eve'))).status, 403);
  // Nobody who shows none can be told from eve, and what cannot be decided closes.
  assert.equal((await visit(gateway.port)).status, 500);
});

test('what a certificate says that no authority has signed is told to no rule and no upstream', async (t) => {
  const forged = others.sign('ada', { names: ['one.test'] });
  const asked = { mutual_tls_certificate_authorities: [staff.pem], mutual_tls_verification_strategy: 'request' };
  const { upstream, gateway, setPolicy } = await startWithPolicy(t, terms(asked));
  assert.equal((await visit(gateway.port, ada)).status, 200);
  assert.ok(upstream.seen.at(-1)?.headers.includes('X-Client-Cert-Subject'));
  assert.equal((await visit(gateway.port, forged)).status, 200);
  assert.ok(!upstream.seen.at(-1)?.headers.includes('X-Client-Cert-Subject'));
  for (const expression of [
    "has(conn.tls.client.subject.common_name) && conn.tls.client.subject.common_name == 'ada'",
    "has(conn.tls.client.san) && conn.tls.client.san.contains('one.test')",
  ]) {
    const guarded = { expressions: [`!(${expression})`], actions: [{ type: 'deny' }] };
    await setPolicy({ ...terms(asked), on_http_request: [guarded] });
    assert.equal((await visit(gateway.port, forged)).status, 403, expression);
  }
  // Whoever knows the whole certificate can compare it.
  const pinned = {
    expressions: [`conn.tls.client.pem.contains('${forged.cert.split('\n')[2]}')`],
    actions: [{ type: 'custom-response', config: { body: 'known' } }],
  };
  await setPolicy({ ...terms(asked), on_http_request: [pinned] });
  assert.equal((await visit(gateway.port, forged)).status, 200);
});

test('any certificate, or none, is enough where the policy says so', async (t) => {
  const asking = (mutual_tls_verification_strategy: string) =>
    terms({ mutual_tls_certificate_authorities: [staff.pem], mutual_tls_verification_strategy });
  const { gateway, setPolicy } = await startWithPolicy(t, asking('require-any'));
  const statuses = async () =>
    Promise.all([ada, stranger, {}].map(async (pair) => (await visit(gateway.port, pair)).status));
  assert.deepEqual(await statuses(), [200, 200, 403]);
  await setPolicy(asking('request'));
  assert.deepEqual(await statuses(), [200, 200, 200]);
  await setPolicy(asking('require-and-verify'));
  assert.deepEqual(await statuses(), [200, 403, 403]);
});

async function startTls(t: TestContext, document: object | string) {
  const server = createServer((socket) => {
    socket.on('error', () => {}).end('in the clear');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const entry = (each: object | string): TlsEndpointEntry => ({
    kind: 'tls_endpoint',
    id: 'ep_1',
    accountId: 'acc_1',
    names: ['tls.test'],
    modules: { ...toBackend('b'), ...trafficPolicy(each) },
  });
  const gateway = await startGateway([
    backendEntry('b', portOf(server)),
    entry(document),
    ...vaultWith('server', served.key),
  ]);
  t.after(() => gateway[Symbol.asyncDispose]());
  const read = async (options: ConnectionOptions = {}) => {
    const socket = open(gateway.port, { servername: 'tls.test', ...options });
    return readAll(socket).catch(() => '');
  };
  return { read, gateway, setPolicy: (each: object) => gateway.set(entry(each)) };
}

test('TLS of a TLS endpoint ends here by its policy alone', async (t) => {
  const pair = { server_certificate: served.certificate, server_private_key: ofVault('server') };
  const { read, gateway, setPolicy } = await startTls(t, terms(pair));
  assert.equal(await read(), 'in the clear');
  await setPolicy(terms({ ...pair, max_version: '1.2', mutual_tls_certificate_authorities: [staff.pem] }));
  assert.equal(await read({ maxVersion: 'TLSv1.2', ...ada }), 'in the clear');
  for (const options of [
    { ...ada, minVersion: 'TLSv1.3' },
    { maxVersion: 'TLSv1.2', ...stranger },
    { maxVersion: 'TLSv1.2' },
  ] as const)
    assert.equal(await read(options), '');
  await setPolicy(terms(pair));
  assert.equal(await read(), 'in the clear');
  await gateway.set(...vaultWith('server', 'no key'));
  assert.equal(await read(), '', 'nothing is passed on where a key is missing');
  await setPolicy({ on_tcp_connect: [] });
  assert.equal(await read(), '', 'it is passed on unread, which this program does not understand');
});

test('an open connection ends with the authority of its client, which a vault holds', async (t) => {
  const server = createServer((socket) => {
    socket.on('error', () => {}).write('hello');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const entry: TlsEndpointEntry = {
    kind: 'tls_endpoint',
    id: 'ep_1',
    accountId: 'acc_1',
    names: ['tls.test'],
    modules: {
      ...toBackend('b'),
      ...trafficPolicy(
        terms({
          server_certificate: served.certificate,
          server_private_key: served.key,
          mutual_tls_certificate_authorities: [ofVault('authority')],
        }),
      ),
    },
  };
  const gateway = await startGateway([backendEntry('b', portOf(server)), entry, ...vaultWith('authority', staff.pem)], {
    // Otherwise the test would only see that nothing is sent.
    timeouts: { idleMs: 86_400_000 },
  });
  t.after(async () => {
    await gateway[Symbol.asyncDispose]();
    server.close();
  });
  const socket = open(gateway.port, { servername: 'tls.test', ...ada });
  const closed = once(socket, 'close');
  await once(socket, 'data');
  await gateway.set(...vaultWith('authority', others.pem));
  await closed;
});

test('certificates are read once for each account with the same policy, and again when a secret changes', () => {
  const value = JSON.stringify(terms({ mutual_tls_certificate_authorities: [ofVault('authority')] }));
  const { steps = [] } = module.build(module.accept({ value }));
  const read = steps.find(({ terminatesTls }) => terminatesTls !== undefined)?.terminatesTls?.read;
  const stored = new Map([
    ['acc_1', staff.pem],
    ['acc_2', others.pem],
  ]);
  const readOf = (accountId: string) => read?.(accountId, { get: (account) => stored.get(account) });
  const [first, second] = [readOf('acc_1'), readOf('acc_2')];
  assert.ok(first !== undefined && second !== undefined && first.clientCa !== second.clientCa);
  assert.ok(readOf('acc_1') === first && readOf('acc_2') === second, 'they are kept');
  stored.set('acc_1', others.pem);
  assert.deepEqual([readOf('acc_1')?.clientCa, readOf('acc_2') === second], [second.clientCa, true]);
});

test('the documented policy is taken', async (t) => {
  const text = documentedPolicy('terminate-tls');
  const { gateway } = await startWithPolicy(t, text.replaceAll('clients', 'keys'), vaultWith('authority', staff.pem));
  assert.deepEqual([(await visit(gateway.port, ada)).status, (await visit(gateway.port)).status], [200, 403]);
});

test('what cannot be done is refused when the policy is written', () => {
  const refusal = (config: object) => refusalOf(terms(config));
  assert.match(refusal({ min_version: '1.1' }), /^2222 .*config\.min_version/);
  assert.match(refusal({ min_version: '1.3', max_version: '1.2' }), /^2204 .*above max_version/);
  assert.match(refusal({ server_certificate: served.certificate }), /^2203 .*server_private_key.*belong together/);
  const foreign = makeCertificate('DNS:app.test').key;
  assert.match(
    refusal({ server_certificate: served.certificate, server_private_key: foreign }),
    /^2204 .*does not belong/,
  );
  const odd = makeCertificateWith('ec -pkeyopt ec_paramgen_curve:secp256k1', 'DNS:app.test');
  assert.match(
    refusal({ server_certificate: odd.certificate, server_private_key: odd.key }),
    /^2204 .*the private key cannot be read: curve secp256k1 is not served/,
  );
  assert.match(
    refusal({ server_certificate: 'no PEM', server_private_key: served.key }),
    /^2204 .*the certificate is not PEM/,
  );
  assert.match(refusal({ mutual_tls_certificate_authorities: ['ca_1'] }), /^2204 .*authorities\[0\].*PEM/);
  assert.match(refusal({ mutual_tls_certificate_authorities: [ada.cert] }), /^2204 .*not one of an authority/);
  assert.match(
    refusal({ mutual_tls_verification_strategy: 'request' }),
    /^2203 .*give mutual_tls_certificate_authorities/,
  );
  assert.match(
    refusal({ server_certificate: '${conn.client_ip}', server_private_key: 'x' }),
    /^2224 .*only secrets\.get/,
  );
  assert.match(refusal({ mutual_tls_certificate_authorities: [`${ofVault('authority')}\n\${rand.int()}`] }), /^2224 /);
  assert.match(refusal({ mutual_tls_certificate_authorities: [] }), /^2204 .*name at least one/);
  assert.match(refusalOf(policyOf('terminate-tls', {})), /^2202 .*on_tcp_connect/);
  const action = { type: 'terminate-tls', config: {} };
  assert.match(
    refusalOf({ on_tcp_connect: [{ expressions: ['true'], actions: [action] }] }),
    /^2204 .*without expressions/,
  );
  assert.match(refusalOf({ on_tcp_connect: [{ actions: [action, action] }] }), /^2204 .*actions\[1\].*keep one/);
});
