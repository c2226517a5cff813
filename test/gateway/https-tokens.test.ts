import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, suite, test } from 'node:test';
import type { TLSSocket } from 'node:tls';

import type { ModuleSettings } from '../../src/snapshot/contract.ts';
import { connectClient, parseAnswer, readAll, sendRaw } from './support/https-client.ts';
import { allowPolicy, backendEntry, edgeEntry, prefixRoute, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import type { TestGateway } from './support/https-gateway.ts';
import { startRawUpstream } from './support/https-upstream.ts';
import type { RawUpstream } from './support/https-upstream.ts';
import { audience, TokenIssuer } from './support/token-issuer.ts';

const switching = 'HTTP/1.1 101 Switching\r\nUpgrade: echo/1\r\nConnection: upgrade\r\n\r\nhello';
const events = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: hello';
const plain = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';

/** Requests with tokens, and what they open, at a gateway with real sockets. */
suite('a token at a route', () => {
  let issuer: TokenIssuer;
  let upstream: RawUpstream;
  let gateway: TestGateway;

  const validation = (more: object = {}): ModuleSettings => ({
    jwt_validation: {
      enabled: true,
      issuer: issuer.url,
      audiences: [audience],
      algorithms: ['ES256'],
      jwks_uri: '',
      clock_skew: 0,
      header: 'authorization',
      claims: {},
      ...more,
    },
  });
  const put = (modules: ModuleSettings): Promise<void> =>
    gateway.set(edgeEntry('e', ['app.test'], [prefixRoute('/', { ...toBackend('b'), ...modules })]));

  before(async () => {
    issuer = await TokenIssuer.start('a');
    upstream = await startRawUpstream((socket, text) => {
      if (text.startsWith('GET /socket')) socket.write(switching);
      else if (text.startsWith('GET /events')) socket.write(events);
      else if (text.startsWith('GET')) socket.write(plain);
      else socket.write(text);
    });
    gateway = await startGateway([backendEntry('b', upstream.port)]);
    await put(validation());
  });
  after(async () => {
    await gateway[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
    await issuer[Symbol.asyncDispose]();
  });

  const ask = async (token: string, more = '') =>
    sendRaw(
      gateway.port,
      `GET / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n${more}\r\n`,
    );

  /** Opens something that lasts, up to its first bytes. */
  const open = async (
    path: '/socket' | '/events',
    token: string,
  ): Promise<{ socket: TLSSocket; all: Promise<string> }> => {
    const socket = await connectClient(gateway.port);
    const all = readAll(socket);
    const upgrade = path === '/socket' ? 'Connection: Upgrade\r\nUpgrade: echo/1\r\n' : '';
    socket.write(`GET ${path} HTTP/1.1\r\nHost: app.test\r\n${upgrade}Authorization: Bearer ${token}\r\n\r\n`);
    let text = '';
    socket.on('data', (chunk) => (text += String(chunk)));
    while (!text.includes('\r\n\r\n')) await once(socket, 'data');
    return { socket, all };
  };

  test('ends the WebSockets and the streams of events that it has opened, when it ends and not before', async () => {
    const token = await issuer.token({}, 'a', 5);
    const endsAt = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).exp * 1000;
    const ending = [await open('/socket', token), await open('/events', token)];
    const long = await issuer.token();
    const lasting = [await open('/socket', long), await open('/events', long)];
    const answers = await Promise.all(ending.map(({ all }) => all));
    assert.ok(Date.now() >= endsAt);
    assert.deepEqual(
      answers.map((text) => parseAnswer(text).status),
      [101, 200],
    );
    assert.equal((await ask(token)).status, 401);
    // A change of rules has all that is open looked at again.
    await gateway.set(allowPolicy('of nobody', '192.0.2.1/32'));
    lasting[0]?.socket.write('still here');
    await once(lasting[0]!.socket, 'data');
    assert.deepEqual(
      lasting.map(({ socket }) => socket.closed),
      [false, false],
    );
    await put(validation({ audiences: ['https://other.example'] }));
    await Promise.all(lasting.map(({ all }) => all));
    await put(validation());
  });

  test('stands in one line alone', async () => {
    const token = await issuer.token();
    assert.equal((await ask(token)).status, 200);
    for (const second of [`Authorization: Bearer ${token}`, 'authorization: Basic eA==', 'Authorization:'])
      assert.equal((await ask(token, `${second}\r\n`)).status, 401, second);
  });

  test('reaches the upstream: a Connection header that would end it, or another header that is checked, is refused', async () => {
    const checking: readonly [modules: ModuleSettings, sent: string, named: string][] = [
      [validation(), '', 'authorization'],
      [validation({ header: 'x-token' }), `X-Token: ${await issuer.token()}\r\n`, 'X-Token'],
      [{ user_agent_filter: { enabled: true, allow: [], deny: ['bad'] } }, 'User-Agent: good\r\n', 'user-agent'],
      [
        { rate_limit: { enabled: true, limit: 99, window_seconds: 60, by: 'header', header: 'x-key', enforced: true } },
        'X-Key: 1\r\n',
        'x-key',
      ],
    ];
    const token = await issuer.token();
    for (const [modules, sent, named] of checking) {
      await put(modules);
      assert.equal((await ask(token, sent)).status, 200, named);
      // Names of headers that are not there, that nobody checks, or of the connection alone hide nothing that counts.
      const other = `${sent}X-Own: 1\r\nGatehouse-User-Email: x\r\nConnection: x-own, gatehouse-user-email\r\n`;
      assert.equal((await ask(token, other)).status, 200, `${named}: another header`);
      assert.equal((await ask(token, `${sent}Connection: x-absent, te, keep-alive\r\nTE: trailers\r\n`)).status, 200);
      const received = upstream.received;
      assert.equal((await ask(token, `${sent}Connection: te, ${named}\r\n`)).status, 400, named);
      assert.equal(upstream.received, received);
    }
    await put({});
    assert.equal((await ask(token, 'Connection: authorization\r\n')).status, 200, 'nothing is checked here');
    await put(validation());
  });

  test('reaches the upstream also by a name that others must not send, and only where it was checked', async () => {
    const name = 'cf-access-jwt-assertion';
    const claim = `CF-Access-Jwt-Assertion: ${await issuer.token()}\r\n`;
    const start = upstream.received.length;
    await put(validation({ header: name }));
    assert.equal((await ask('x', claim)).status, 200);
    assert.equal((await ask('x', `${claim}Cf_Access_Jwt_Assertion: other\r\n`)).status, 200);
    assert.equal((await ask('x', `${claim}X-Remote-User: ada\r\n`)).status, 200);
    assert.equal((await ask('x', `${claim}Connection: ${name}\r\n`)).status, 400);
    await put({});
    assert.equal((await ask('x', claim)).status, 200);
    const told = upstream.received.slice(start).split('GET / ').slice(1);
    assert.deepEqual(
      told.map((head) => head.match(/^(cf.access|x-remote)[^:]*/gim)?.join(' ')),
      ['CF-Access-Jwt-Assertion', 'CF-Access-Jwt-Assertion', 'CF-Access-Jwt-Assertion', undefined],
    );
    await put(validation());
  });

  test('that is checked first counts once for a rate limit', async () => {
    const limit = { enabled: true, limit: 2, window_seconds: 3600, by: 'source', header: null, enforced: true };
    await put({ ...validation(), rate_limit: limit });
    const statuses: number[] = [];
    for (let round = 0; round < 3; round++) statuses.push((await ask(await issuer.token({ round }))).status);
    assert.deepEqual(statuses, [200, 200, 429]);
    await put(validation());
  });
});
