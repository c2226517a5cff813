import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { createAccount, createUser } from '../../support/people.ts';
import { dataFrame, headersFrame, openFrames } from './support/http2-frames.ts';
import { Site, siteHost } from './support/site.ts';
import { until } from './support/until.ts';
import { startUpstream } from './support/upstream.ts';
import type { Upstream } from './support/upstream.ts';

let site: Site;
before(async () => {
  site = await Site.start({ drainSeconds: '0', accessLog: '0' });
});
after(() => site[Symbol.asyncDispose]());

suite('HTTP/2 frames that would become other requests in HTTP/1.1', () => {
  /** Complete requests, as the upstream parses them. */
  const seen: { readonly url: string; readonly headers: readonly string[] }[] = [];
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream('frames', (request, response) => {
      request.resume().on('end', () => {
        seen.push({ url: request.url ?? '', headers: request.rawHeaders });
        response.end('seen');
      });
    });
    const { id } = await site.gatehouse.create('/backends/static', { address: `127.0.0.1:${upstream.port}` });
    const body = { match_type: 'path_prefix', match: '/frames', backend: { backend_id: id } };
    await site.gatehouse.create(`/edges/https/${site.edgeId}/routes`, body);
  });
  after(() => upstream[Symbol.asyncDispose]());

  const plain = [
    [':method', 'POST'],
    [':scheme', 'https'],
    [':path', '/frames'],
    [':authority', siteHost],
  ] as const;
  const smuggled = 'GET /frames/smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
  const refused: readonly [name: string, fields: readonly Field[]][] = [
    [
      'a line break in the path',
      [...plain.slice(0, 2), [':path', `/frames HTTP/1.1\r\n\r\n${smuggled}`], ...plain.slice(3)],
    ],
    ['a space in the path', [...plain.slice(0, 2), [':path', '/frames HTTP/1.1'], ...plain.slice(3)]],
    ['a line break in the method', [[':method', `GET /frames HTTP/1.1\r\n\r\n${smuggled}`], ...plain.slice(1)]],
    ['a space in the method', [[':method', 'GET /frames/smuggled'], ...plain.slice(1)]],
    ['a user name in the authority', [...plain.slice(0, 3), [':authority', `x@${siteHost}`]]],
    ['Transfer-Encoding', [...plain, ['transfer-encoding', 'chunked']]],
    ['Connection', [...plain, ['connection', 'x-forwarded-for']]],
    ['Upgrade', [...plain, ['upgrade', 'websocket']]],
    ['a length that is too short', [...plain, ['content-length', '1']]],
    ['a length that is too long', [...plain, ['content-length', '1000']]],
    ['two lengths', [...plain, ['content-length', String(smuggled.length)], ['content-length', '1']]],
    ['a name in upper case', [...plain, ['X-A', '1']]],
    ['a pseudo-header of its own', [...plain, [':forwarded', '1']]],
    ['two paths', [...plain, [':path', '/frames/smuggled']]],
    ['a second host', [...plain, ['host', 'other.test']]],
  ];
  /** Sends the frames, and waits until a request sent after them has been answered. */
  async function send(fields: readonly Field[]): Promise<void> {
    seen.length = 0;
    const socket = openFrames(site.httpsPort, siteHost);
    socket.resume().write(Buffer.concat([headersFrame(fields, false), dataFrame(smuggled)]));
    await once(socket, 'secureConnect');
    await sleep(20);
    assert.equal((await site.askHttps({ path: '/frames/next' })).text, 'seen');
    socket.destroy();
  }

  for (const [name, fields] of refused) {
    test(`${name} reaches nobody`, async () => {
      await send(fields);
      assert.deepEqual(
        seen.map(({ url }) => url),
        ['/frames/next'],
      );
    });
  }
  for (const [name, field] of [
    ['a line break in a value', ['x-a', `1\r\n\r\n${smuggled}`]],
    ['a line break in a name', ['x-a: 1\r\nx-b', '2']],
    ['nothing wrong', ['x-fine', '1']],
  ] as const) {
    test(`a header with ${name} brings in nothing else`, async () => {
      await send([...plain, field]);
      assert.deepEqual(
        seen.map(({ url }) => url),
        ['/frames', '/frames/next'],
      );
      const names = seen[0]?.headers.filter((_, at) => at % 2 === 0).map((each) => each.toLowerCase());
      assert.equal(
        names?.some((each) => each.startsWith('x-a') || each === 'x-b'),
        false,
      );
      assert.equal(names?.includes('x-fine'), name === 'nothing wrong');
    });
  }
});

type Field = readonly [name: string, value: string];

test('a backend can change its address under load without a failure, each time for the very next request', async () => {
  await using first = await startUpstream('first');
  await using second = await startUpstream('second');
  const { id } = await site.gatehouse.create('/backends/static', { address: `127.0.0.1:${first.port}` });
  await site.gatehouse.create('/edges/https', { hostports: ['swap.test:443'] }).then(({ id: edgeId }) =>
    site.gatehouse.create(`/edges/https/${edgeId}/routes`, {
      match_type: 'path_prefix',
      match: '/',
      backend: { backend_id: id },
    }),
  );
  const stopping = new AbortController();
  const clients = Array.from({ length: 8 }, async () => {
    let answered = 0;
    for (; !stopping.signal.aborted; answered++) {
      assert.equal((await site.askHttps({ method: 'POST', body: 'x' }, 'swap.test')).status, 200);
    }
    return answered;
  });
  for (let round = 0; round < 30; round++) {
    const upstream = round % 2 === 0 ? second : first;
    await site.gatehouse.patch(`/backends/static/${id}`, { address: `127.0.0.1:${upstream.port}` });
    assert.equal((await site.askHttps({}, 'swap.test')).echo?.name, upstream.name);
  }
  stopping.abort();
  const answered = await Promise.all(clients);
  assert.ok(Math.min(...answered) > 0);
});

test('a policy in use cannot be deleted from under its traffic', async () => {
  const policy = await site.policy('10.0.0.0/8');
  await site.gatehouse.put(`${site.routePath}/ip_restriction`, { ip_policy_ids: [policy] });
  assert.equal((await site.gatehouse.delete(`/ip_policies/${policy}`)).status, 409);
  assert.equal((await site.askHttps()).errorCode, 3203);
  await site.gatehouse.put(`${site.routePath}/ip_restriction`, { enabled: false, ip_policy_ids: [policy] });
  assert.equal((await site.askHttps()).status, 200);
  assert.equal((await site.gatehouse.delete(`/ip_policies/${policy}`)).status, 409, 'it could be enabled again');
  await site.gatehouse.delete(`${site.routePath}/ip_restriction`);
  assert.equal((await site.gatehouse.delete(`/ip_policies/${policy}`)).status, 204);
});

test('a wildcard and a name below it cannot belong to two accounts, whoever comes first', async () => {
  const { token } = await createUser(site.gatehouse, 'admin', await createAccount(site.gatehouse));
  await site.gatehouse.create('/edges/https', { hostports: ['*.shop.test:443'] });
  const below = await site.gatehouse.post('/edges/https', { hostports: ['pay.shop.test:443'] }, { token });
  assert.equal(below.status, 409);
  await site.gatehouse.create('/edges/https', { hostports: ['a.mall.test:443'] });
  const edge = await site.gatehouse.create('/edges/https', { hostports: ['mine.test:443'] }, { token });
  const above = await site.gatehouse.patch(`/edges/https/${edge.id}`, { hostports: ['*.mall.test:443'] }, { token });
  assert.equal(above.status, 409);
  await assert.rejects(site.askHttps({}, 'b.mall.test'), 'nothing of it is in force');
});

test('the port of a deleted TCP edge is free at once: for another account, and for another program', async () => {
  const { token } = await createUser(site.gatehouse, 'admin', await createAccount(site.gatehouse));
  await using other = await startUpstream('other');
  const { id: backendId } = await site.gatehouse.create(
    '/backends/static',
    { address: `127.0.0.1:${other.port}` },
    { token },
  );
  const open = connect(site.tcpPort, '127.0.0.1').on('error', () => {});
  await once(open, 'connect');
  const body = { hostports: [`localhost:${site.tcpPort}`], backend: { backend_id: backendId } };
  assert.equal((await site.gatehouse.post('/edges/tcp', body, { token })).status, 409);
  await site.gatehouse.delete(`/edges/tcp/${site.tcpEdgeId}`);
  await until(() => open.closed, 'the open connection of the old edge ends');
  const { id } = await site.gatehouse.create('/edges/tcp', body, { token });
  assert.equal((await site.askTcp()).echo?.name, 'other');
  await site.gatehouse.delete(`/edges/tcp/${id}`, { token });
  const server = createServer().listen(site.tcpPort, '::');
  await once(server, 'listening');
  server.close();
});

test('two thousand connections that say nothing, or next to nothing, leave room for others and are closed in time', async (t) => {
  const idle: Socket[] = [];
  for (let batch = 0; batch < 20; batch++) {
    const opened = Array.from({ length: 100 }, () => connect(site.httpsPort, '127.0.0.1').on('error', () => {}));
    await Promise.all(opened.map((socket) => once(socket, 'connect')));
    // Half of the connections begin a long handshake.
    for (const socket of opened.slice(50)) socket.write(Buffer.from([0x16, 3, 1, 0x10, 0, 1, 0, 0x0f, 0xfc]));
    idle.push(...opened);
  }
  for (const socket of idle) socket.resume();
  const dripping = setInterval(() => {
    for (const socket of idle.slice(50, 100)) socket.write('\0');
  }, 500);
  t.after(() => {
    clearInterval(dripping);
    for (const socket of idle) socket.destroy();
  });
  const metric = /^gatehouse_https_open_connections (\d+)$/m;
  await until(async () => Number(metric.exec(await site.metrics())?.[1]) >= 2000, 'all of them are open');
  for (let at = 0; at < 10; at++) assert.equal((await site.askHttps()).status, 200);
  await until(() => idle.every(({ closed }) => closed), 'all of them are closed');
  await until(async () => Number(metric.exec(await site.metrics())?.[1]) === 0, 'none is left');
});
