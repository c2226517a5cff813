import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { rounds } from '../../support/long-form.ts';
import { usePostgres } from '../../support/use-postgres.ts';
import { listenersOf } from './support/listeners.ts';
import { Running } from './support/running.ts';
import { checkSoundness } from './support/soundness.ts';
import { TcpProxy } from './support/tcp-proxy.ts';
import { until } from './support/waiting.ts';
import { Writer } from './support/writers.ts';

/** Limit for any call, whatever the network does. */
const longestAnswerMs = 20_000;
/** Time without contact to the database after which the caches are stale. */
const staleAfterMs = 2_000;
const outageMs = rounds(4_000, 30_000);

describe('the connection to PostgreSQL is lost', () => {
  const started = new AsyncDisposableStack();
  let database: string;
  let proxy: TcpProxy;
  /** Connects to the database directly. */
  let near: Running;
  /** Connects to it through the proxy. */
  let far: Running;
  before(async () => {
    database = await usePostgres(started);
    near = started.use(await Running.start(database));
    const way = await TcpProxy.before(database);
    proxy = started.use(way.proxy);
    far = started.use(await Running.start(way.url));
  });
  after(() => started.disposeAsync());

  test('frozen: calls answer 503 in bounded time, and a key revoked meanwhile is not honoured from memory', async () => {
    const key = await near.create('/api_keys');
    const use = () => far.call('GET', '/ip_policies', undefined, { token: key.token, timeoutMs: longestAnswerMs });
    await until('the new key works', async () => (await use()).status === 200);

    proxy.freeze();
    assert.equal((await near.call('DELETE', `/api_keys/${key.id}`)).status, 204);
    await sleep(staleAfterMs + 200);
    const policy = { description: 'while frozen' };
    const answers = await Promise.all([
      ...Array.from({ length: 20 }, use),
      far.call('GET', '/bot_users', undefined, { timeoutMs: longestAnswerMs }),
      far.call('POST', '/ip_policies', policy, { timeoutMs: longestAnswerMs }),
    ]);
    for (const { status, headers, text } of answers) {
      assert.equal(status, 503, text);
      assert.match(headers.get('retry-after') ?? '', /^\d+$/);
    }

    proxy.thaw();
    const returned = await until('it is back', async () => {
      const answer = await use();
      return answer.status !== 503 && answer;
    });
    assert.equal(returned.status, 401);
    await until('writes go on', async () => (await far.call('POST', '/ip_policies')).status === 201);
  });

  test('frozen in the midst of a transaction: others may write again in bounded time', async () => {
    const frozen = proxy.freezeAt('SAVEPOINT job');
    const stuck = far.call('POST', '/ip_policies', { description: 'stuck' }, { timeoutMs: longestAnswerMs });
    await frozen;
    const other = near.call('POST', '/ip_policies', { description: 'free' }, { timeoutMs: longestAnswerMs });
    assert.equal((await stuck).status, 503);
    await until('others may write', async () => {
      const answer = await near.call('POST', '/ip_policies', {}, { timeoutMs: longestAnswerMs });
      return answer.status === 201;
    });
    await other;
    proxy.thaw();
    await until('it may write again itself', async () => (await far.call('POST', '/ip_policies')).status === 201);
    const { body } = await near.call('GET', '/ip_policies');
    assert.deepEqual(
      body.ip_policies.filter(({ description }: { description?: string }) => description === 'stuck'),
      [],
      'it answered 503, and has not written before the connection was lost',
    );
    await checkSoundness(database);
  });

  test('dropped silently by the network: reads, writes and the change signal recover on new connections', async () => {
    await far.create('/ip_policies');
    const listeners = await listenersOf(database);
    proxy.forget();
    await until('writes go on', async () => {
      const answer = await far.call('POST', '/ip_policies', {}, { timeoutMs: longestAnswerMs });
      return answer.status === 201;
    });
    const key = await near.create('/api_keys');
    const use = () => far.call('GET', '/ip_policies', undefined, { token: key.token, timeoutMs: longestAnswerMs });
    await until('changes of others are seen', async () => (await use()).status === 200);
    assert.equal((await near.call('DELETE', `/api_keys/${key.id}`)).status, 204);
    await until('also revocations', async () => (await use()).status === 401);
    await until('it listens anew', async () => (await listenersOf(database)).difference(listeners).size > 0);
  });

  test(`cut for ${outageMs / 1000} s: 503 with Retry-After meanwhile, then all goes on by itself and nothing acknowledged is lost`, async () => {
    const call: typeof far.call = (...request) => far.call(...request);
    const writers = Array.from({ length: 4 }, (_, at) => new Writer(20_000 + at * 1_000));
    const load = Promise.all(writers.map((writer) => writer.writeUntilFailure(call)));
    await until('all write', () => writers.every(({ acknowledged }) => acknowledged > 5));
    await proxy.cut();
    await load;
    const endMs = performance.now() + outageMs;
    await sleep(staleAfterMs + 200);
    while (performance.now() < endMs) {
      for (const answer of await Promise.all([call('GET', '/api_keys'), call('POST', '/ip_policies')])) {
        assert.equal(answer.status, 503, answer.text);
        assert.match(answer.headers.get('retry-after') ?? '', /^\d+$/);
      }
      await sleep(100);
    }
    await proxy.restore();
    await until('it answers again', async () => (await call('POST', '/ip_policies')).status === 201);
    for (const writer of writers) await writer.verify(call);
    await checkSoundness(database);
  });
});
