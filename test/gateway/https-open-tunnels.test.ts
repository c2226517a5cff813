import assert from 'node:assert/strict';
import { once } from 'node:events';
import { suite, test } from 'node:test';

import { basicAuth } from '../../src/modules/basic-auth/index.ts';
import { cidrRestriction } from '../../src/modules/cidr-restriction/index.ts';
import { jwtValidation } from '../../src/modules/jwt-validation/index.ts';
import { mutualTls } from '../../src/modules/mutual-tls/index.ts';
import { oidc } from '../../src/modules/oidc/index.ts';
import { rateLimit } from '../../src/modules/rate-limit/index.ts';
import { userAgentFilter } from '../../src/modules/user-agent-filter/index.ts';
import type { EntryKey, ModuleSettings, SnapshotEntry } from '../../src/snapshot/contract.ts';
import { ClientAuthority } from '../support/client-certificates.ts';
import { connectClient, parseAnswer, readAll } from './support/https-client.ts';
import {
  allowPolicy,
  backendEntry,
  edgeEntry,
  ipRestriction,
  prefixRoute,
  requestHeaders,
  restriction,
  toBackend,
} from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { startRawUpstream } from './support/https-upstream.ts';

const switching = 'HTTP/1.1 101 Switching\r\nUpgrade: echo/1\r\nConnection: upgrade\r\n\r\n';
const streaming = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9\r\n\r\n';
const credentials = Buffer.from('ada:long enough').toString('base64');
const asks = `Host: app.test\r\nUser-Agent: good/1\r\nAuthorization: Basic ${credentials}\r\n`;
const upgradeRequest = `GET /chat HTTP/1.1\r\n${asks}Connection: Upgrade\r\nUpgrade: echo/1\r\n\r\n`;
const eventsRequest = `GET /events HTTP/1.1\r\n${asks}Connection: close\r\n\r\n`;
const modules = { ...toBackend('b'), ...ipRestriction('p') };
const route = prefixRoute('/', modules);
const edge = edgeEntry('e', ['app.test'], [route]);
const anyone = allowPolicy('p', '127.0.0.0/8');
const nobody = allowPolicy('nobody', '192.0.2.1/32');

interface Change {
  readonly set?: readonly SnapshotEntry[];
  readonly removed?: readonly EntryKey[];
}

const ofRoute = (more: ModuleSettings): Change => ({
  set: [edgeEntry('e', ['app.test'], [{ ...route, modules: { ...modules, ...more } }])],
});
const password = (text: string) => basicAuth.accept({ credentials: [{ username: 'ada', password: text }] });
const agents = (allow: readonly string[]) => userAgentFilter.accept({ allow: [...allow] });
const issuer = 'https://id.example.com';

const ending: readonly [name: string, change: Change][] = [
  ['its policy allows the source no more', { set: [allowPolicy('p', '192.0.2.1/32')] }],
  [
    'another policy is asked',
    { set: [edgeEntry('e', ['app.test'], [{ ...route, modules: ipRestriction('nobody') }])] },
  ],
  ['a restriction is enforced', { set: [restriction('r', true, 'nobody')] }],
  ['its route is gone', { set: [edgeEntry('e', ['app.test'], [prefixRoute('/other', modules)])] }],
  ['its edge is gone', { removed: [{ kind: 'https_edge', id: 'e' }] }],
  ['its host is served by another edge', { set: [edgeEntry('e', [], [route]), edgeEntry('f', ['app.test'], [route])] }],
  [
    'its address is in no range of the route',
    ofRoute({ cidr_restriction: cidrRestriction.accept({ deny: ['127.0.0.1/32'] }) }),
  ],
  ['another password is asked for', ofRoute({ basic_auth: password('another one') })],
  ['its user agent is refused', ofRoute({ user_agent_filter: agents(['^better/']) })],
  ['a token is asked for', ofRoute({ jwt_validation: jwtValidation.accept({ issuer, audiences: ['a'] }) })],
  ['a login is asked for', ofRoute({ oidc: oidc.accept({ issuer, client_id: 'c', client_secret: 's' }) })],
  ['a signature is asked for', ofRoute({ webhook_verification: { enabled: true, provider: 'github', secret: 's' } })],
  ['a certificate is asked for', ofRoute({ mutual_tls: mutualTls.accept({ ca_pem: new ClientAuthority('own').pem }) })],
];

const lasting: readonly [name: string, change: Change][] = [
  ['its policy changes and still allows the source', { set: [allowPolicy('p', '127.0.0.1/32')] }],
  ['a restriction warns', { set: [restriction('r', false, 'nobody')] }],
  ['another account enforces one', { set: [{ ...restriction('r', true, 'nobody'), accountId: 'acc_2' }] }],
  ['its backend is another one', { set: [backendEntry('b', 1)] }],
  [
    'its route is rewritten',
    {
      set: [
        edgeEntry(
          'e',
          ['app.test'],
          [{ ...prefixRoute('/x', { ...modules, ...requestHeaders({}, ['a']) }), id: route.id }],
        ),
      ],
    },
  ],
  [
    'checks come that its request passes',
    ofRoute({ basic_auth: password('long enough'), user_agent_filter: agents(['^good/']) }),
  ],
  [
    'a rate limit comes, which counts requests alone',
    ofRoute({ rate_limit: rateLimit.accept({ limit: 1, window_seconds: 60 }) }),
  ],
];

/** Returns all data of a client: "hello" from before the change, and "done" if it still works after it. */
async function talkOver(request: string, change: Change, before: SnapshotEntry = edge): Promise<string> {
  let goOn = (): void => {};
  await using upstream = await startRawUpstream((socket, text) => {
    if (!text.startsWith('GET')) socket.end(text);
    else socket.write(`${text.startsWith('GET /chat') ? switching : streaming}hello`);
    goOn = () => void socket.write('done');
  });
  await using gateway = await startGateway([backendEntry('b', upstream.port), anyone, nobody, before]);
  const socket = await connectClient(gateway.port);
  const all = readAll(socket);
  socket.write(request);
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk)));
  while (!text.endsWith('hello')) await once(socket, 'data');
  await gateway.apply({ version: 2, full: false, set: change.set ?? [], removed: change.removed ?? [] });
  if (request === upgradeRequest) socket.write('done');
  else goOn();
  return parseAnswer(await all).body;
}

for (const [what, request] of [
  ['a connection that changed protocol', upgradeRequest],
  ['a stream of events', eventsRequest],
] as const) {
  suite(what, () => {
    for (const [name, change] of ending) {
      test(`ends when ${name}`, async () => {
        assert.equal(await talkOver(request, change), 'hello');
      });
    }
    for (const [name, change] of lasting) {
      test(`goes on when ${name}`, async () => {
        assert.equal(await talkOver(request, change), 'hellodone');
      });
    }

    test('ends by the first rule of a route that had none', async () => {
      const open = edgeEntry('e', ['app.test'], [{ ...route, modules: toBackend('b') }]);
      assert.equal(await talkOver(request, { set: [restriction('r', true, 'nobody')] }, open), 'hello');
      assert.equal(await talkOver(request, ofRoute(ipRestriction('nobody')), open), 'hello');
    });
  });
}

suite('a connection that lasts', () => {
  test('ends as streams of events and pictures do, and no other answer', async () => {
    const waiting: (() => void)[] = [];
    await using upstream = await startRawUpstream((socket, text) => {
      const camera = text.includes('/camera') ? 'multipart/x-mixed-replace; boundary=next' : 'text/plain';
      const type = text.includes('/events') ? 'text/event-stream' : camera;
      socket.write(`HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: 12\r\n\r\nhello `);
      waiting.push(() => void socket.write('world!'));
    });
    await using gateway = await startGateway([backendEntry('b', upstream.port), anyone, nobody, edge]);
    const answers: Promise<string>[] = [];
    for (const path of ['/events', '/camera', '/page']) {
      const socket = await connectClient(gateway.port);
      answers.push(readAll(socket));
      socket.write(`GET ${path} HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n`);
      await once(socket, 'data');
    }
    await gateway.set(allowPolicy('p', '192.0.2.1/32'));
    for (const goOn of waiting) goOn();
    const bodies = (await Promise.all(answers)).map((text) => parseAnswer(text).body);
    assert.deepEqual(bodies, ['hello ', 'hello ', 'hello world!']);
  });

  test('does not come to be when the rules change before the upstream agrees', async () => {
    let agree = (): void => {};
    await using upstream = await startRawUpstream((socket) => {
      agree = () => void socket.write(switching);
    });
    await using gateway = await startGateway([backendEntry('b', upstream.port), anyone, nobody, edge]);
    const socket = await connectClient(gateway.port);
    socket.write(upgradeRequest);
    while (upstream.received === '') await new Promise((resolve) => setTimeout(resolve, 5));
    await gateway.set(allowPolicy('p', '192.0.2.1/32'));
    agree();
    assert.equal(await readAll(socket), '');
    while (upstream.open > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });
});
