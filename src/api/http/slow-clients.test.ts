import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterEach, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { createBot, createUser } from '../../../test/support/people.ts';
import { onAnyGatehouse } from '../../../test/support/shared-gatehouse.ts';
import type { Gatehouse } from '../../../test/support/gatehouse.ts';
import { toTimestamp } from '../../lib/ids.ts';

/** Longer than any wait of these tests, however slow the machine is. */
const limitMs = 120_000;
const wrong = `${'0'.repeat(27)}_${'a'.repeat(43)}`;

/** Connections that send and read as slowly as they like. */
function newSlowClients(g: () => Gatehouse) {
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
  });
  const open = async () => {
    const { hostname, port } = new URL(g().url);
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    socket.on('error', () => {});
    await once(socket, 'connect');
    return socket;
  };
  return {
    /** Sends many requests and reads no answer. */
    async sendAndReadNothing(request: string) {
      const socket = await open();
      socket.pause();
      socket.write(request.repeat(60));
      return socket;
    },
    /** Sends the head of a call and a byte of its body, and returns when the server has read the head. */
    async begin(token: string, line: string, body: string, bytes = body.length) {
      // The caches know the token, so that the head is dealt with as soon as it is read.
      await g().get('/api_keys', { token });
      const socket = await open();
      const chunks: string[] = [];
      socket.setEncoding('utf8').on('data', (chunk) => chunks.push(String(chunk)));
      socket.write(
        `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nService-Version: 2\r\nConnection: close\r\n` +
          `Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${bytes}\r\n\r\n${body.slice(0, 1)}`,
      );
      const signal = AbortSignal.timeout(limitMs);
      while (!chunks.join('').startsWith('HTTP/1.1 100 ')) await once(socket, 'data', { signal });
      const closed = once(socket, 'close', { signal });
      return {
        closed,
        async finish() {
          socket.write(body.slice(1));
          await closed;
          return Number(/HTTP\/1\.1 ([2-5]\d\d) /.exec(chunks.join(''))?.[1]);
        },
        text: () => chunks.join(''),
      };
    },
  };
}

onAnyGatehouse(
  'slow clients',
  (g) => {
    const slow = newSlowClients(g);
    const newTokens = async (count: number) => {
      const tokens: string[] = [];
      while (tokens.length < count) tokens.push((await g().create('/api_keys')).token);
      return tokens;
    };
    const list = async (token: string) => (await g().get('/api_keys', { token })).status;

    test('without a token that read no answer shut nobody out', async () => {
      const tokens = await newTokens(10);
      for (let at = 0; at < 12; at++) await slow.sendAndReadNothing('GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n');
      for (const token of tokens) {
        await sleep(50);
        assert.equal(await list(token), 200);
      }
    });

    test('of an account that read no answer have no place while they do', async () => {
      const { token } = await createUser(g(), 'admin');
      const metadata = 'x'.repeat(4_000);
      for (let at = 0; at < 60; at++) await g().create('/ip_policies', { metadata }, { token });
      const request = `GET /ip_policies HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nService-Version: 2\r\n\r\n`;
      for (let at = 0; at < 8; at++) await slow.sendAndReadNothing(request);
      await sleep(500);
      // They are served until nothing more fits on the way to them.
      const startMs = performance.now();
      while ((await list(token)) !== 200) assert.ok(performance.now() - startMs < limitMs, 'they keep their places');
    });

    test('whose failed authentications are answered late do not keep out a token that was not used before', async () => {
      const tokens = await newTokens(5);
      const failures = Array.from({ length: 40 }, () => list(wrong));
      await sleep(100);
      for (const token of tokens) assert.equal(await list(token), 200);
      assert.ok((await Promise.all(failures)).every((status) => status === 401));
    });

    test('that send half a body keep nobody from ending their key', async () => {
      const bot = await createBot(g());
      const { id, token } = await g().create('/api_keys', { owner_id: bot.id });
      const calls = [];
      for (let at = 0; at < 12; at++)
        calls.push(await slow.begin(token, 'POST /ip_policies', '{"description":"half"}'));
      const deleted = await g().call('DELETE', `/api_keys/${id}`);
      assert.equal(deleted.status, 204, deleted.text);
      for (const call of calls) assert.equal(await call.finish(), 401);
    });

    test('that announce large bodies are refused beyond what is kept for one of them, and nobody else is', async () => {
      const [bot, other] = [await createBot(g()), await createBot(g())];
      const line = `PUT /ip_policies/${(await g().create('/ip_policies')).id}/rules`;
      const bytes = 3 * 1024 * 1024;
      await slow.begin(bot.token, line, '[', bytes);
      const second = await slow.begin(bot.token, line, '[', bytes);
      await second.closed;
      assert.match(second.text(), /HTTP\/1\.1 503 [^]*ERR_GATEHOUSE_20061/);
      const call = await slow.begin(other.token, 'POST /ip_policies', '{"description":"other"}');
      assert.equal(await call.finish(), 201);
    });
  },
  { accountCalls: '4', maxWaitMs: '10', authFailures: '1', authFailuresSlowed: '1000', authFailuresHeld: '1000' },
);

onAnyGatehouse('a token that ends between the head of a call and its body does nothing:', (g) => {
  const slow = newSlowClients(g);
  const patchKey = (fields: object) => async (key: string) => g().patch(`/api_keys/${key}`, fields);
  const ends: Readonly<
    Record<string, (key: string, owner: string, t: TestContext) => Promise<{ readonly status: number }>>
  > = {
    deleted: (key) => g().call('DELETE', `/api_keys/${key}`),
    rotated: (key) => g().post(`/api_keys/${key}/rotate`, {}),
    'made read-only': patchKey({ read_only: true }),
    'bound to other addresses': async (key) =>
      patchKey({ ip_policy_ids: [(await g().create('/ip_policies')).id] })(key),
    'of an owner who was deactivated': (_key, owner) => g().patch(`/bot_users/${owner}`, { active: false }),
    'of an owner who was deleted': (_key, owner) => g().call('DELETE', `/bot_users/${owner}`),
    expired: async (key, _owner, t) => {
      const { body } = await g().get(`/api_keys/${key}`);
      t.mock.timers.enable({ apis: ['Date'], now: Date.parse(body.expires_at) });
      return { status: 200 };
    },
  };
  for (const [how, end] of Object.entries(ends)) {
    test(how, async (t) => {
      const bot = await createBot(g());
      const limits = how === 'expired' ? { expires_at: toTimestamp(Date.now() + 60_000) } : {};
      const key = await g().create('/api_keys', { owner_id: bot.id, ...limits });
      const calls = [
        await slow.begin(key.token, 'POST /api_keys', '{"description":"late"}'),
        await slow.begin(key.token, 'POST /ip_policies', '{"description":"late"}'),
      ];
      const { status } = await end(key.id, bot.id, t);
      assert.ok(status >= 200 && status < 300, `${status}`);
      for (const call of calls) assert.match(String(await call.finish()), /^40[13]$/, call.text());
      for (const path of ['api_keys', 'ip_policies']) {
        const { text } = await g().get(`/${path}?limit=100`);
        assert.ok(!text.includes('"late"'), text);
      }
    });
  }
});

onAnyGatehouse(
  'a connection on which no byte moves in the middle of a call is closed:',
  (g) => {
    const slow = newSlowClients(g);

    test('while its answers are not read', async () => {
      const socket = await slow.sendAndReadNothing('GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n');
      await sleep(4_000);
      const closed = once(socket, 'close', { signal: AbortSignal.timeout(limitMs) });
      let bytes = 0;
      socket.on('data', (chunk) => (bytes += chunk.length)).resume();
      await closed;
      const { text } = await g().get('/openapi.json');
      assert.ok(bytes < 60 * text.length, `${bytes} bytes`);
    });

    test('while its body is not sent', async () => {
      const call = await slow.begin(g().token, 'POST /ip_policies', '{"description":"half"}');
      await call.closed;
    });
  },
  { apiStallSeconds: '1' },
);
