import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { after, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { fastify } from 'fastify';

import { createAccount, createUser } from '../../test/support/people.ts';
import { onEachGatehouse } from '../../test/support/shared-gatehouse.ts';
import { readConfig } from '../config/config.ts';
import type { CidrSet } from '../lib/ip/cidr-set.ts';
import { CallAdmission } from './call-admission.ts';

/** Longer than any wait of these tests, however slow the machine is. */
const limitMs = 30_000;
const noProxies = readConfig({}, {}).trustedProxies;

/** A small server with one place for calls, which a call holds until `gate` is resolved. */
async function serveFull(context: TestContext, trustedProxies: CidrSet) {
  const app = fastify();
  const observer = { callRefused: () => {}, callsWaiting: () => {} };
  new CallAdmission({ accountCalls: 1, maxWaitMs: 10, trustedProxies, observer, logger: app.log }).attach(app);
  const gate = Promise.withResolvers<string>();
  const arrived = Promise.withResolvers<void>();
  app.get('/slow', () => {
    arrived.resolve();
    return gate.promise;
  });
  for (const path of ['/other', '/healthz', '/readyz']) app.get(path, () => 'fine');
  context.after(() => app.close());
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const slow = fetch(`${url}/slow`);
  await arrived.promise;
  return { url, gate, slow };
}

test('probes are answered while nothing else is', async (context) => {
  const { url, gate, slow } = await serveFull(context, noProxies);
  assert.match(await (await fetch(`${url}/other`)).text(), /has not begun/);
  for (const path of ['/healthz', '/readyz', '/healthz?x=1']) {
    assert.equal(await (await fetch(url + path)).text(), 'fine', path);
  }
  gate.resolve('done');
  assert.equal(await (await slow).text(), 'done');
});

/** Has a call refused, then makes a probe on the same connection. Returns the time until that was answered. */
async function timeAfterRefusal(context: TestContext, trustedProxies: CidrSet): Promise<number> {
  const { url, gate, slow } = await serveFull(context, trustedProxies);
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  context.after(() => socket.destroy());
  const ask = async (path: string) => {
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const [answer] = await once(socket, 'data');
    return String(answer);
  };
  assert.match(await ask('/other'), /^HTTP\/1\.1 503 /);
  const startMs = performance.now();
  assert.match(await ask('/healthz'), /^HTTP\/1\.1 200 /);
  const elapsedMs = performance.now() - startMs;
  gate.resolve('done');
  await slow;
  return elapsedMs;
}

test('a connection on which a call was refused is not read for the second that its client is told to wait', async (context) => {
  assert.ok((await timeAfterRefusal(context, noProxies)) > 900);
});

test('the connection of a trusted proxy, which carries the calls of others too, is read on', async (context) => {
  const proxies = readConfig({}, { trustedProxies: '127.0.0.0/8' }).trustedProxies;
  const [direct, proxied] = [await timeAfterRefusal(context, noProxies), await timeAfterRefusal(context, proxies)];
  assert.ok(proxied < direct, `${proxied} ms`);
});

onEachGatehouse(
  'calls at once',
  (g) => {
    const sockets: Socket[] = [];
    after(() => {
      for (const socket of sockets) socket.destroy();
    });
    const readMetric = async (name: string) => {
      const text = await (await fetch(`http://127.0.0.1:${g().app.metricsPort}/metrics`)).text();
      return Number(new RegExp(`^${name.replaceAll(/[{}]/g, String.raw`\$&`)} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
    };
    const until = async (condition: () => Promise<boolean>) => {
      const startMs = performance.now();
      while (!(await condition())) {
        assert.ok(performance.now() - startMs < limitMs, 'it took too long');
        await sleep(5);
      }
    };
    /** Sends a POST of a policy; without its last byte the call stays in progress until `finish` or `leave`. */
    const post = async (token: string, description: string, isWhole: boolean) => {
      const { hostname, port } = new URL(g().url);
      const socket = connect(Number(port), hostname);
      sockets.push(socket);
      socket.on('error', () => {});
      await once(socket, 'connect');
      const body = JSON.stringify({ description });
      const head =
        `POST /ip_policies HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nService-Version: 2\r\n` +
        `Content-Type: application/json\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`;
      const chunks: string[] = [];
      socket.setEncoding('utf8').on('data', (chunk) => chunks.push(String(chunk)));
      socket.write(head + (isWhole ? body : body.slice(0, -1)));
      return {
        async finish() {
          socket.write(body.slice(-1));
          await once(socket, 'close');
          return Number(chunks.join('').slice(9, 12));
        },
        leave: () => socket.destroy(),
      };
    };
    const newAdmin = async () => createUser(g(), 'admin', await createAccount(g()));
    const listed = async (token: string) => {
      const { body } = await g().get('/ip_policies', { token });
      return body.ip_policies.map(({ description }: { description: string }) => description);
    };
    /** Takes both places of the account, on connections of their own. */
    const takeAll = async (token: string) => {
      // The account of a token is known after its first call.
      assert.equal((await g().get('/api_keys', { token })).status, 200);
      const held = [await post(token, 'held', false), await post(token, 'held', false)];
      await until(async () => (await g().get('/api_keys', { token })).status === 503);
      return held;
    };

    test('beyond the limit of an account are 503 once they have waited; others and probes are not touched', async () => {
      const { token } = await newAdmin();
      const other = await newAdmin();
      const held = await takeAll(token);
      const before = await readMetric('gatehouse_api_calls_refused_total{reason="account_busy"}');
      const refused = await g().get('/api_keys', { token });
      assert.equal(refused.status, 503);
      assert.equal(refused.body.error_code, 'ERR_GATEHOUSE_20059');
      assert.match(refused.body.msg, /2 calls in progress.*GATEHOUSE_ACCOUNT_CALLS/);
      assert.equal(refused.headers.get('retry-after'), '1');
      assert.ok((await readMetric('gatehouse_api_calls_refused_total{reason="account_busy"}')) > before);
      // A token that is used for the first time, and one whose account is known.
      const made = await g().post('/api_keys', {}, { token: other.token });
      assert.equal(made.status, 201, made.text);
      for (const each of [other.token, made.body.token]) {
        assert.equal((await g().get('/api_keys', { token: each })).status, 200);
      }
      assert.equal((await g().get('/healthz')).status, 200);
      assert.equal((await g().get('/readyz')).status, 200);
      assert.equal((await fetch(new URL('/openapi.json', g().url))).status, 200);
      for (const each of held) assert.equal(await each.finish(), 201);
      assert.equal((await g().get('/api_keys', { token })).status, 200);
      assert.deepEqual(await listed(token), ['held', 'held']);
    });

    test('of another key of the account count with its own', async () => {
      const { token } = await newAdmin();
      const second = (await g().post('/api_keys', {}, { token })).body.token;
      assert.equal((await g().get('/api_keys', { token: second })).status, 200);
      const held = await takeAll(token);
      assert.equal((await g().get('/api_keys', { token: second })).status, 503);
      for (const each of held) assert.equal(await each.finish(), 201);
    });

    test('that are refused leave one line in the log for many, and no error', async () => {
      const lines = g().logLines.map((line) => JSON.parse(line));
      assert.equal(lines.filter(({ msg }) => /too many calls/.test(msg)).length, 1);
      assert.deepEqual(
        lines.filter(({ level }) => level >= 50),
        [],
      );
    });
  },
  { accountCalls: '2', maxWaitMs: '10', metricsListen: '127.0.0.1:0' },
);

onEachGatehouse(
  'calls that wait',
  (g) => {
    test('are not carried out when their client goes away, and are served when there is room', async (context) => {
      const { hostname, port } = new URL(g().url);
      const send = async (description: string, cut: number) => {
        const socket = connect(Number(port), hostname);
        context.after(() => socket.destroy());
        socket.on('error', () => {});
        await once(socket, 'connect');
        const body = JSON.stringify({ description });
        const bytes =
          `POST /ip_policies HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${g().token}\r\nService-Version: 2\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
        socket.write(bytes.slice(0, bytes.length - cut));
        return { socket, rest: bytes.slice(bytes.length - cut) };
      };
      const waiting = async () => {
        const text = await (await fetch(`http://127.0.0.1:${g().app.metricsPort}/metrics`)).text();
        return Number(/^gatehouse_api_calls_waiting (\d+)$/m.exec(text)?.[1]);
      };
      const untilWaiting = async (count: number) => {
        const startMs = performance.now();
        while ((await waiting()) !== count) {
          assert.ok(performance.now() - startMs < limitMs, `${await waiting()} calls wait`);
          await sleep(5);
        }
      };
      await g().get('/api_keys');
      const first = await send('first', 1);
      await sleep(0);
      const gone = await send('gone', 0);
      await untilWaiting(1);
      const last = await send('last', 0);
      await untilWaiting(2);
      gone.socket.destroy();
      // Something the server reads after the end of the connection shows that it has seen that one.
      assert.equal((await g().get('/healthz')).status, 200);
      assert.equal((await g().get('/healthz')).status, 200);
      first.socket.write(first.rest);
      await once(last.socket, 'data');
      const { body } = await g().get('/ip_policies');
      const descriptions = body.ip_policies.map(({ description }: { description: string }) => description);
      assert.deepEqual(descriptions, ['last', 'first']);
    });
  },
  { accountCalls: '1', maxWaitMs: '60000', metricsListen: '127.0.0.1:0' },
);
