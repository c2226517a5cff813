import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { fastify } from 'fastify';

import { createAccount, createUser } from '../../../test/support/people.ts';
import { onAnyGatehouse } from '../../../test/support/shared-gatehouse.ts';
import { readConfig } from '../../config/config.ts';
import type { CidrSet } from '../../lib/ip/cidr-set.ts';
import { parseIp } from '../../lib/ip/address.ts';
import { ready } from '../../lib/awaitable.ts';
import { HttpServers } from '../http/http-servers.ts';
import { CallAdmission } from './call-admission.ts';

/** Longer than any wait of these tests, however slow the machine is. */
const limitMs = 120_000;
const noProxies = readConfig({}, {}).trustedProxies;

/** A small server with one place for calls, which a call holds until `gate` is resolved. */
async function serveFull(context: TestContext, trustedProxies: CidrSet) {
  const servers = new HttpServers({
    connections: { accept: () => {}, busy: () => {}, idle: () => {} },
    isOurs: () => ready(false),
    stallSeconds: limitMs,
    answer: (_fault, socket) => socket.destroy(),
    anonymous: { restAfter: () => 0, sourceOf: () => undefined },
  });
  const app = fastify({ serverFactory: (handle) => servers.create(handle) });
  const observer = { callRefused: () => {}, callsWaiting: () => {} };
  const admission = new CallAdmission({
    accountCalls: 1,
    maxWaitMs: 10,
    isBesideTraffic: () => false,
    trustedProxies,
    observer,
    logger: app.log,
    signedIn: () => {},
    rest: (socket, restMs) => servers.rest(socket, restMs),
  });
  admission.attach(app);
  const source = parseIp('127.0.0.1');
  assert.ok(source);
  const principal = { id: 'usr_1', accountId: 'acc_1', role: 'admin' as const, active: true };
  const key = { keyId: 'ak_1', readOnly: false, endsAtMs: Infinity, rotation: 0 };
  const caller = { principal, accountId: 'acc_1', ...key, scope: 'api' as const, source };
  const gate = Promise.withResolvers<string>();
  const arrived = Promise.withResolvers<void>();
  app.get('/free', () => 'fine');
  await app.register(async (scope) => {
    scope.addHook('preValidation', (request, reply, done) => admission.begin(request, reply, caller, done));
    scope.get('/slow', () => {
      arrived.resolve();
      return gate.promise;
    });
    scope.get('/other', () => 'fine');
  });
  context.after(() => app.close());
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const slow = fetch(`${url}/slow`);
  await arrived.promise;
  return { url, gate, slow };
}

/** Has a call refused, then makes another on the same connection. Returns the time until that was answered. */
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
  assert.match(await ask('/free'), /^HTTP\/1\.1 200 /);
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
  // On a busy machine a call may take as long as the wait: it is read on if it has been once.
  let shortestMs = Infinity;
  for (let attempt = 0; attempt < 20 && shortestMs > 900; attempt++) {
    shortestMs = Math.min(shortestMs, await timeAfterRefusal(context, proxies));
  }
  assert.ok(shortestMs < 900, `${shortestMs} ms`);
});

onAnyGatehouse(
  'calls at once',
  (g) => {
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
    /** Has every write of the process wait, and with it the call that makes it, until what it returns is called. */
    const holdWrites = async (context: TestContext) => {
      const gate = Promise.withResolvers<void>();
      const begun = Promise.withResolvers<void>();
      const held = g().app.context.store.write({ id: 'host', accountId: '', operationId: '' }, async () => {
        begun.resolve();
        await gate.promise;
      });
      context.after(() => gate.resolve());
      await begun.promise;
      return async () => {
        gate.resolve();
        await held;
      };
    };
    const post = (token: string) => g().post('/ip_policies', { description: 'held' }, { token });
    const list = (token: string) => g().get('/api_keys', { token });

    test('beyond the share of a principal are 503 once they have waited; nobody else is touched', async (context) => {
      const account = await createAccount(g());
      const bot = await createUser(g(), 'member', account);
      const admin = await createUser(g(), 'admin', account);
      const other = await createUser(g(), 'admin', await createAccount(g()));
      const second = (await g().post('/api_keys', {}, { token: bot.token })).body.token;
      const free = await holdWrites(context);
      const held = post(bot.token);
      await until(async () => (await list(bot.token)).status === 503);
      const metric = 'gatehouse_api_calls_refused_total{reason="principal_busy"}';
      const before = await readMetric(metric);
      // Another key of the same principal has the same share.
      const refused = await list(second);
      assert.deepEqual([refused.status, refused.body.error_code], [503, 'ERR_GATEHOUSE_20060']);
      assert.match(refused.body.msg, /This user or bot has 1 calls in progress.*GATEHOUSE_ACCOUNT_CALLS/);
      assert.equal(refused.headers.get('retry-after'), '1');
      assert.ok((await readMetric(metric)) > before);
      for (const { token } of [admin, other]) assert.equal((await list(token)).status, 200);
      for (const path of ['/healthz', '/readyz', '/openapi.json']) {
        assert.equal((await fetch(new URL(path, g().url))).status, 200);
      }
      await free();
      assert.equal((await held).status, 201);
      assert.equal((await list(bot.token)).status, 200);
    });

    test('beyond the limit of an account are 503 whoever makes them', async (context) => {
      const account = await createAccount(g());
      const people = [await createUser(g(), 'admin', account), await createUser(g(), 'admin', account)];
      const third = await createUser(g(), 'admin', account);
      const free = await holdWrites(context);
      const held = people.map(({ token }) => post(token));
      await until(async () => (await list(third.token)).status === 503);
      const refused = await list(third.token);
      assert.equal(refused.body.error_code, 'ERR_GATEHOUSE_20059');
      assert.match(refused.body.msg, /This account has 2 calls in progress.*GATEHOUSE_ACCOUNT_CALLS/);
      await free();
      for (const each of held) assert.equal((await each).status, 201);
      assert.equal((await list(third.token)).status, 200);
    });

    test('that are refused leave one line in the log for many, and no error', async () => {
      const lines = g().logLines.map((line) => JSON.parse(line));
      const told = lines.filter(({ msg }) => /too many calls/.test(msg)).map(({ time }) => Number(time));
      assert.ok(told.length > 0);
      // One in ten seconds: on a busy machine they may be refused over a longer time.
      for (const [at, timeMs] of told.slice(1).entries()) assert.ok(timeMs - (told[at] ?? 0) > 9_000);
      assert.deepEqual(
        lines.filter(({ level }) => level >= 50),
        [],
      );
    });

    test('that wait are not carried out when their client goes away, and are served when there is room', async (context) => {
      const { token } = await createUser(g(), 'admin', await createAccount(g()));
      const waiting = (count: number) => until(async () => (await readMetric('gatehouse_api_calls_waiting')) === count);
      const free = await holdWrites(context);
      const send = (description: string, signal?: AbortSignal) =>
        fetch(new URL('/ip_policies', g().url), {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'service-version': '2', 'content-type': 'application/json' },
          body: JSON.stringify({ description }),
          ...(signal === undefined ? {} : { signal }),
        });
      const first = send('first');
      await sleep(50);
      const controller = new AbortController();
      const gone = send('gone', controller.signal).catch(() => undefined);
      const last = send('last');
      await waiting(2);
      controller.abort();
      await gone;
      await sleep(50);
      await free();
      assert.deepEqual([(await first).status, (await last).status], [201, 201]);
      const { body } = await g().get('/ip_policies', { token });
      const descriptions = body.ip_policies.map(({ description }: { description: string }) => description);
      assert.deepEqual(descriptions.toSorted(), ['first', 'last']);
    });
  },
  { accountCalls: '2', maxWaitMs: '100', metricsListen: '127.0.0.1:0' },
);
