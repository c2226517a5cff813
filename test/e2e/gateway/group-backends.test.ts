import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Server } from 'node:net';
import { after, before, suite, test } from 'node:test';

import { freePort } from '../../support/free-port.ts';
import { Site } from './support/site.ts';
import { startUpstream } from './support/upstream.ts';
import type { Upstream } from './support/upstream.ts';
import { until } from './support/until.ts';

/** Backends that stand for others, with real traffic over HTTPS and TCP. */
suite('group backends', () => {
  let site: Site;
  let other: Upstream;
  let ids: { readonly first: string; readonly second: string };
  before(async () => {
    site = await Site.start({ drainSeconds: '0' });
    other = await startUpstream('other');
    ids = { first: site.backendId, second: await newStatic(other.port) };
  });
  after(async () => {
    await site[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
  });

  const newStatic = async (port: number): Promise<string> =>
    (await site.gatehouse.create('/backends/static', { address: `127.0.0.1:${port}` })).id;
  const create = async (kind: string, body: object): Promise<string> =>
    (await site.gatehouse.create(`/backends/${kind}`, body)).id;
  /** Both edges send their traffic there. */
  const use = async (backend_id: string) => {
    for (const path of [`${site.routePath}/backend`, `/edges/tcp/${site.tcpEdgeId}/backend`])
      assert.equal((await site.gatehouse.put(path, { backend_id })).status, 200);
  };
  const askBoth = async () => [(await site.askHttps()).echo?.name, (await site.askTcp()).echo?.name];
  const newServer = async (port: number): Promise<Server> => {
    const server = createServer((socket) => void socket.on('error', () => {}).end('hello')).listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };

  test('a change of weights is live when it is answered, and moves no connection that is open', async () => {
    const weighted = await create('weighted', { backends: { [ids.first]: 1, [ids.second]: 0 } });
    await use(weighted);
    for (let round = 0; round < 5; round++) assert.deepEqual(await askBoth(), ['upstream', 'upstream']);
    const open = connect(site.tcpPort, '127.0.0.1');
    let text = '';
    open.on('data', (bytes) => (text += bytes.toString()));
    open.write('GET /1 HTTP/1.1\r\nHost: a\r\n\r\n');
    await until(() => text.includes('"/1"'), 'the first answer');
    const path = `/backends/weighted/${weighted}`;
    assert.equal((await site.gatehouse.patch(path, { backends: { [ids.first]: 0, [ids.second]: 1 } })).status, 200);
    for (let round = 0; round < 5; round++) assert.deepEqual(await askBoth(), ['other', 'other']);
    open.write('GET /2 HTTP/1.1\r\nHost: a\r\n\r\n');
    await until(() => text.includes('"/2"'), 'the second answer');
    assert.ok(!text.includes('"other"'));
    open.destroy();
    await site.gatehouse.patch(path, { backends: { [ids.first]: 1, [ids.second]: 1 } });
    const names = new Set<string | undefined>();
    // Each is drawn half of the time: that one is never drawn in 200 rounds has no chance.
    for (let round = 0; round < 200 && names.size < 2; round++) names.add((await site.askHttps()).echo?.name);
    assert.deepEqual(names, new Set(['upstream', 'other']));
  });

  test('a weighted one of failovers sends traffic past backends that cannot be reached, until they can', async () => {
    const port = await freePort();
    const dead = await newStatic(port);
    const agents = await create('tunnel_group', { labels: { app: 'nobody' } });
    const failover = await create('failover', { backends: [dead, agents, ids.second] });
    await use(await create('weighted', { backends: { [failover]: 100 } }));
    for (let round = 0; round < 3; round++) assert.deepEqual(await askBoth(), ['other', 'other']);
    const posted = await site.askHttps({ method: 'POST', body: 'x'.repeat(10_000) });
    assert.equal(posted.echo?.name, 'other', 'a body is not lost on the way');
    assert.equal((await site.gatehouse.patch(`/backends/failover/${failover}`, { backends: [dead] })).status, 200);
    const failed = await site.askHttps();
    assert.equal(failed.status, 502);
    await assert.rejects(site.askTcp());
    const server = await newServer(port);
    const socket = connect(site.tcpPort, '127.0.0.1');
    const [hello] = await once(socket, 'data');
    assert.equal(String(hello), 'hello');
    socket.destroy();
    server.close();
  });

  test('a fixed answer is given over HTTPS and TCP, to HEAD without its body, and its change at once', async () => {
    const { gatehouse } = site;
    const id = await create('http_response', { status_code: 503, headers: { 'X-Why': 'rest' }, body: 'Grüße' });
    await use(await create('failover', { backends: [id] }));
    for (const answer of [await site.askHttps(), await site.askTcp()]) {
      assert.deepEqual([answer.status, answer.headers['x-why'], answer.text], [503, 'rest', 'Grüße']);
      assert.equal(answer.headers['content-type'], 'text/plain; charset=utf-8');
    }
    for (const answer of [await site.askHttps({ method: 'HEAD' }), await site.askTcp({ method: 'HEAD' })])
      assert.deepEqual([answer.status, answer.headers['content-length'], answer.text], [503, '7', '']);
    const posted = await site.askHttps({ method: 'POST', body: 'x'.repeat(100_000) });
    assert.equal(posted.status, 503);
    await gatehouse.put(`${site.routePath}/response_headers`, { add: { 'x-more': '1' } });
    assert.equal((await site.askHttps()).headers['x-more'], '1', 'modules of the route hold for it');
    await gatehouse.patch(`/backends/http_response/${id}`, { status_code: 204 });
    assert.deepEqual([(await site.askHttps()).status, (await site.askTcp()).status], [204, 204]);
  });
});
