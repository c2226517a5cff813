import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { suite, test } from 'node:test';
import { connect as connectTls } from 'node:tls';

import type { SnapshotEntry } from '../../src/snapshot/contract.ts';
import { edgeCertificate } from './support/https-certificate.ts';
import { get, openHttp2, parseAnswer, readAll, requestHttp2, sendRaw } from './support/https-client.ts';
import {
  allowPolicy,
  backendEntry,
  edgeEntry,
  ipRestriction,
  prefixRoute,
  restriction,
  toBackend,
} from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import type { GatewaySettings } from './support/https-gateway.ts';
import { headerValues, startUpstream } from './support/https-upstream.ts';

interface AccessCase {
  readonly name: string;
  readonly rules: readonly SnapshotEntry[];
  readonly module?: readonly string[];
  readonly from?: string;
  readonly headers?: readonly string[];
  readonly settings?: GatewaySettings;
  readonly code?: number;
  readonly warned?: readonly string[];
  readonly source?: string;
}

const cases: readonly AccessCase[] = [
  { name: 'without rules everyone passes', rules: [] },
  {
    name: 'an enforced restriction lets in whom it allows',
    rules: [allowPolicy('p', '127.0.0.2/32'), restriction('r', true, 'p')],
    from: '127.0.0.2',
    source: '127.0.0.2',
  },
  {
    name: 'an enforced restriction refuses the others',
    rules: [allowPolicy('p', '127.0.0.2/32'), restriction('r', true, 'p')],
    from: '127.0.0.3',
    code: 3205,
  },
  {
    name: 'every enforced restriction must allow',
    rules: [
      allowPolicy('p', '127.0.0.0/8'),
      allowPolicy('q', '10.0.0.0/8'),
      restriction('r1', true, 'p'),
      restriction('r2', true, 'q'),
    ],
    code: 3205,
  },
  {
    name: 'a restriction that is not enforced only warns',
    rules: [allowPolicy('p', '10.0.0.0/8'), restriction('r', false, 'p')],
    warned: ['r'],
  },
  {
    name: 'restrictions of other accounts and of other traffic do not count',
    rules: [
      allowPolicy('p', '10.0.0.0/8'),
      { ...restriction('r1', true, 'p'), accountId: 'acc_2' },
      { ...restriction('r2', true, 'p'), type: 'api' },
    ],
  },
  { name: 'the module lets in whom it allows', rules: [allowPolicy('p', '127.0.0.0/8')], module: ['p'] },
  { name: 'the module refuses the others', rules: [allowPolicy('p', '10.0.0.0/8')], module: ['p'], code: 3203 },
  { name: 'a policy that is not there allows nobody', rules: [], module: ['gone'], code: 3203 },
  {
    name: 'restriction and module must both allow',
    rules: [allowPolicy('p', '127.0.0.0/8'), allowPolicy('q', '10.0.0.0/8'), restriction('r', true, 'p')],
    module: ['q'],
    code: 3203,
  },
  {
    name: 'what the module refuses is not warned of: it does not go on',
    rules: [allowPolicy('q', '10.0.0.0/8'), restriction('r', false, 'q')],
    module: ['q'],
    code: 3203,
  },
  {
    name: 'what an enforced restriction refuses is not warned of by another one',
    rules: [allowPolicy('p', '10.0.0.0/8'), restriction('r', false, 'p'), restriction('s', true, 'p')],
    code: 3205,
  },
  {
    name: '::/0 does not match IPv4',
    rules: [allowPolicy('p', '::/0'), restriction('r', true, 'p')],
    code: 3205,
  },
  {
    name: 'an IPv4 client of an IPv6 listener is matched by IPv4 rules',
    rules: [allowPolicy('p', '127.0.0.0/8'), restriction('r', true, 'p')],
    settings: { listenHost: '::' },
    source: '127.0.0.1',
  },
  {
    name: 'an IPv6 client is matched by IPv6 rules',
    rules: [allowPolicy('p', '::1/128'), restriction('r', true, 'p')],
    settings: { listenHost: '::1' },
    source: '::1',
  },
  {
    name: 'X-Forwarded-For of an untrusted peer is not believed',
    rules: [allowPolicy('p', '10.0.0.0/8'), restriction('r', true, 'p')],
    headers: ['X-Forwarded-For: 10.0.0.1'],
    code: 3205,
  },
  {
    name: 'X-Forwarded-For of a trusted proxy names the client',
    rules: [allowPolicy('p', '10.0.0.0/8'), restriction('r', true, 'p')],
    headers: ['X-Forwarded-For: 203.0.113.9', 'X-Forwarded-For: 10.0.0.1'],
    settings: { trustedProxies: ['127.0.0.0/8'] },
    source: '10.0.0.1',
  },
  {
    name: 'X-Forwarded-For is read from the right',
    rules: [allowPolicy('p', '10.0.0.0/8'), restriction('r', true, 'p')],
    headers: ['X-Forwarded-For: 10.0.0.1, 203.0.113.9'],
    settings: { trustedProxies: ['127.0.0.0/8'] },
    code: 3205,
    source: '203.0.113.9',
  },
  {
    name: 'a Connection header cannot hide what a trusted proxy said',
    rules: [allowPolicy('p', '127.0.0.0/8'), restriction('r', true, 'p')],
    headers: ['X-Forwarded-For: 203.0.113.9', 'Connection: X-Forwarded-For'],
    settings: { trustedProxies: ['127.0.0.0/8'] },
    code: 3205,
  },
];

suite('who gets in', async () => {
  for (const { name, rules, module, from, headers = [], settings, code, warned = [], source } of cases) {
    for (const version of ['HTTP/1.1', 'HTTP/2'] as const) {
      // Node's HTTP/2 client cannot choose its source address, and HTTP/2 has no Connection header.
      if (version === 'HTTP/2' && (from !== undefined || headers.length > 0 || settings?.listenHost === '::1'))
        continue;
      test(`${name} (${version})`, async () => {
        await using upstream = await startUpstream();
        await using gateway = await startGateway(
          [
            backendEntry('b', upstream.port),
            edgeEntry(
              'e',
              ['app.test'],
              [prefixRoute('/', { ...toBackend('b'), ...(module && ipRestriction(...module)) })],
            ),
            ...rules,
          ],
          settings,
        );
        const answer =
          version === 'HTTP/2'
            ? await overHttp2(gateway.port)
            : await sendRaw(gateway.port, get('/', ...headers), {
                ...(from !== undefined && { localAddress: from }),
                ...(settings?.listenHost === '::1' && { host: '::1' }),
              });
        assert.equal(answer.status, code === undefined ? 200 : 403);
        assert.equal(answer.headers['gatehouse-error-code'], code && `ERR_GATEHOUSE_${code}`);
        assert.equal(upstream.connections, code === undefined ? 1 : 0, 'connections to the upstream');
        assert.deepEqual(
          gateway.warned.flatMap(({ restrictionIds }) => restrictionIds),
          warned,
        );
        if (source !== undefined) assert.equal(gateway.answered[0]?.source, source);
      });
    }
  }
});

async function overHttp2(port: number) {
  const session = openHttp2(port);
  const answer = await requestHttp2(session, { ':path': '/' });
  session.close();
  return answer;
}

test('a module switched off does not check', async () => {
  await using upstream = await startUpstream();
  await using gateway = await startGateway([
    backendEntry('b', upstream.port),
    edgeEntry(
      'e',
      ['app.test'],
      [prefixRoute('/', { ...toBackend('b'), ip_restriction: { enabled: false, ip_policy_ids: ['gone'] } })],
    ),
  ]);
  assert.equal((await sendRaw(gateway.port, get('/'))).status, 200);
});

test('a PROXY header of a trusted peer names the client, and its X-Forwarded-For does not count', async () => {
  await using upstream = await startUpstream();
  await using gateway = await startGateway(
    [
      backendEntry('b', upstream.port),
      edgeEntry('e', ['app.test'], [prefixRoute('/', toBackend('b'))]),
      allowPolicy('p', '192.0.2.7/32'),
      restriction('r', true, 'p'),
    ],
    { trustedProxies: ['127.0.0.0/8'], proxyProtocol: true },
  );
  const socket = connect(gateway.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('PROXY TCP4 192.0.2.7 127.0.0.1 1234 443\r\n');
  const secure = connectTls({ socket, servername: 'app.test', ca: edgeCertificate.certificate });
  await once(secure, 'secureConnect');
  secure.write(get('/', 'X-Forwarded-For: 203.0.113.9'));
  assert.equal(parseAnswer(await readAll(secure)).status, 200);
  assert.deepEqual(headerValues(upstream.seen[0]?.headers ?? [], 'x-forwarded-for'), ['192.0.2.7']);
  assert.equal(gateway.answered[0]?.source, '192.0.2.7');
});
