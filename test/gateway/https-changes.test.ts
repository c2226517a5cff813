import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import type { RequestOptions } from 'node:https';
import { suite, test } from 'node:test';
import { text } from 'node:stream/consumers';

import { edgeCertificate } from './support/https-certificate.ts';
import { get, openHttp2, requestHttp2, sendRaw } from './support/https-client.ts';
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
import { headerValues, startHeldUpstream, startUpstream } from './support/https-upstream.ts';

/** Opens one connection for all requests, so that no difference comes from a new connection. */
function keptConnection(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const options: RequestOptions = {
    agent,
    port,
    host: '127.0.0.1',
    servername: 'app.test',
    ca: edgeCertificate.certificate,
    headers: { Host: 'app.test' },
  };
  return {
    async get(path: string): Promise<string> {
      const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
      const request = httpsRequest({ ...options, path }, (response) => {
        resolve(response);
      });
      request.on('error', reject).end();
      const response = await promise;
      const body = await text(response);
      const code = response.headers['gatehouse-error-code'];
      return `${response.statusCode} ${typeof code === 'string' ? code : body} ${request.reusedSocket}`;
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}

function markedRoute(mark: string) {
  return prefixRoute('/', { ...toBackend('b'), ...requestHeaders({ 'x-a': mark }, []) });
}

function simpleEdge(number: 1 | 2, ...hosts: readonly string[]) {
  return edgeEntry(`e${number}`, hosts, [prefixRoute('/', toBackend(`b${number}`))]);
}

function manyEdges(count: number) {
  const routes = [prefixRoute('/', toBackend('b'))];
  return Array.from({ length: count }, (_, at) => edgeEntry(`e${at}`, [`h${at}.many.test`], routes));
}

suite('a change is live for the next request of an open connection', async () => {
  test('over HTTP/1.1', async () => {
    await using one = await startUpstream((_, response) => response.end('one'));
    await using two = await startUpstream((_, response) => response.end('two'));
    const edge = edgeEntry('e', ['app.test'], [prefixRoute('/', toBackend('b'))]);
    await using gateway = await startGateway([backendEntry('b', one.port), edge]);
    using client = keptConnection(gateway.port);
    assert.equal(await client.get('/'), '200 one false');
    await gateway.set(backendEntry('b', two.port));
    assert.equal(await client.get('/'), '200 two true');
    await gateway.set(allowPolicy('p', '10.0.0.0/8'), restriction('r', true, 'p'));
    assert.equal(await client.get('/'), '403 ERR_GATEHOUSE_3205 true');
    await gateway.set(allowPolicy('p', '127.0.0.0/8'));
    assert.equal(await client.get('/'), '200 two true');
    await gateway.set(
      edgeEntry('e', ['app.test'], [prefixRoute('/', { ...toBackend('b'), ...ipRestriction('gone') })]),
    );
    assert.equal(await client.get('/'), '403 ERR_GATEHOUSE_3203 true');
    await gateway.set(edgeEntry('e', ['app.test'], [prefixRoute('/other', toBackend('b'))]));
    assert.equal(await client.get('/'), '404 ERR_GATEHOUSE_20100 true');
    await gateway.remove({ kind: 'https_edge', id: 'e' });
    assert.equal(await client.get('/'), '404 ERR_GATEHOUSE_3200 true');
    await gateway.set(edge);
    await gateway.remove({ kind: 'backend', id: 'b' });
    assert.equal(await client.get('/'), '503 ERR_GATEHOUSE_6528 true');
  });

  test('over HTTP/2', async () => {
    await using upstream = await startUpstream();
    await using gateway = await startGateway([
      backendEntry('b', upstream.port),
      edgeEntry('e', ['app.test'], [markedRoute('1')]),
    ]);
    const session = openHttp2(gateway.port);
    await requestHttp2(session, { ':path': '/' });
    await gateway.set(edgeEntry('e', ['app.test'], [markedRoute('2')]));
    await requestHttp2(session, { ':path': '/' });
    await gateway.remove({ kind: 'https_edge', id: 'e' });
    assert.equal((await requestHttp2(session, { ':path': '/' })).status, 404);
    session.close();
    assert.deepEqual(
      upstream.seen.map(({ headers }) => headerValues(headers, 'x-a')),
      [['1'], ['2']],
    );
  });
});

test('a host can move from one edge to another in one update, in any order', async () => {
  await using one = await startUpstream((_, response) => response.end('one'));
  await using two = await startUpstream((_, response) => response.end('two'));
  await using gateway = await startGateway([
    backendEntry('b1', one.port),
    backendEntry('b2', two.port),
    simpleEdge(1, 'app.test'),
    simpleEdge(2),
  ]);
  await gateway.set(simpleEdge(2, 'app.test'), simpleEdge(1));
  assert.equal((await sendRaw(gateway.port, get('/'))).body, 'two');
  await gateway.set(simpleEdge(2), simpleEdge(1, 'app.test'));
  assert.equal((await sendRaw(gateway.port, get('/'))).body, 'one');
  await gateway.apply({
    version: 9,
    full: false,
    set: [simpleEdge(2, 'app.test')],
    removed: [{ kind: 'https_edge', id: 'e1' }],
  });
  assert.equal((await sendRaw(gateway.port, get('/'))).body, 'two');
});

test('a host that is taken from its edge is served no more', async () => {
  await using gateway = await startGateway([simpleEdge(1, 'app.test', 'other.test')]);
  await gateway.set(simpleEdge(1, 'other.test'));
  assert.equal(gateway.accountOfHost('app.test'), undefined);
  assert.equal(gateway.accountOfHost('other.test'), 'acc_1');
});

test('a whole snapshot leaves nothing behind of the one before', async () => {
  await using upstream = await startUpstream();
  await using gateway = await startGateway([
    backendEntry('b', upstream.port),
    edgeEntry('e', ['app.test'], [prefixRoute('/', toBackend('b'))]),
  ]);
  const other = edgeEntry('e2', ['other.test'], [prefixRoute('/', toBackend('b'))]);
  await gateway.apply({ version: 5, full: true, set: [other], removed: [] });
  assert.equal((await sendRaw(gateway.port, get('/'))).status, 404);
  const answer = await sendRaw(gateway.port, get('/', 'Host: other.test'), { servername: 'other.test' });
  assert.equal(answer.headers['gatehouse-error-code'], 'ERR_GATEHOUSE_6528');
});

test('a request under way ends with the rules it began with', async () => {
  await using upstream = await startHeldUpstream('start ', 'end');
  await using gateway = await startGateway([
    backendEntry('b', upstream.port),
    edgeEntry('e', ['app.test'], [prefixRoute('/', toBackend('b'))]),
  ]);
  const answer = sendRaw(gateway.port, get('/'));
  while (upstream.seen.length === 0) await new Promise(setImmediate);
  await gateway.remove({ kind: 'https_edge', id: 'e' }, { kind: 'backend', id: 'b' });
  upstream.release();
  assert.match((await answer).body, /start [^]*end/);
});

test('one change among many edges costs what it costs among few', async () => {
  await using few = await startGateway(manyEdges(10));
  await using many = await startGateway(manyEdges(30_000));
  const cost = async (gateway: typeof few): Promise<number> => {
    const before = process.cpuUsage();
    for (let round = 0; round < 200; round++) await gateway.set(edgeEntry('e5', ['h5.many.test'], []));
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  const ratios: number[] = [];
  do {
    const small = await cost(few);
    ratios.push((await cost(many)) / small);
  } while (ratios.length < 5 && Math.min(...ratios) >= 20);
  // Copying or rebuilding 30,000 entries for each change would make the ratio some hundreds.
  assert.ok(Math.min(...ratios) < 20, `ratios ${ratios.join(', ')}`);
  assert.equal(many.accountOfHost('h29999.many.test'), 'acc_1');
});
