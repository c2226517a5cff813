import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { get, openHttp2, requestHttp2, sendRaw } from './support/https-client.ts';
import { backendEntry, edgeEntry, exactRoute, prefixRoute, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { startUpstream } from './support/https-upstream.ts';

suite('which route answers', async () => {
  const cases: readonly [path: string, backend: string | number][] = [
    ['/', 'root'],
    ['/other', 'root'],
    ['/blog', 'blog'],
    ['/blog/', 'blog'],
    ['/blog/a?x=/shop', 'blog'],
    ['/blogger', 'root'],
    ['/%62log/a', 'blog'],
    ['/blog/deep', 'deep'],
    ['/blog/deep/er', 'deep'],
    ['/blog/deeper', 'blog'],
    ['/blog/exact', 'exact'],
    ['/blog/exact/', 'blog'],
    ['/blog/exact?q', 'exact'],
    ['/slash/', 'slash'],
    ['/slash/a', 'slash'],
    ['/slash', 'root'],
    ['/caf%C3%A9/1', 'cafe'],
    ['/caf%c3%a9', 'cafe'],
    ['/BLOG', 'root'],
    ['/x//y', 'root'],
    ['/x;v=1/y', 'root'],
    ['/x//blog', 'root'],
    // An upstream that merges slashes or drops parameters would see another route's path here.
    ['/blog;v=1/a', 400],
    ['/blog//exact', 400],
    // So would one that decodes twice.
    ['/bl%256fg/a', 400],
    ['/x/%252e%252e/blog', 400],
    ['/x%2500', 400],
    ['/x%252fy', 'root'],
    ['/100%25', 'root'],
  ];
  for (const [path, expected] of cases) {
    test(`${path} is answered by ${expected}`, async () => {
      await using upstreams = await manyUpstreams('root', 'blog', 'deep', 'exact', 'slash', 'cafe');
      await using gateway = await startGateway([
        ...upstreams.entries,
        edgeEntry(
          'e',
          ['app.test'],
          [
            prefixRoute('/', toBackend('root')),
            prefixRoute('/blog', toBackend('blog')),
            prefixRoute('/blog/deep', toBackend('deep')),
            exactRoute('/blog/exact', toBackend('exact')),
            prefixRoute('/slash/', toBackend('slash')),
            prefixRoute('/café', toBackend('cafe')),
          ],
        ),
      ]);
      const answer = await sendRaw(gateway.port, get(path));
      if (typeof expected === 'number') assert.equal(answer.status, expected);
      else assert.equal(answer.body, expected);
    });
  }
});

suite('which edge answers', async () => {
  const cases: readonly { host: string; sni?: string; expected: string | number; code?: string }[] = [
    { host: 'app.test', expected: 'app' },
    { host: 'APP.Test', expected: 'app' },
    { host: 'app.test:443', expected: 'app' },
    { host: 'app.test.', expected: 'app' },
    { host: 'APP.test.:443', expected: 'app' },
    { host: 'app.test:8443', expected: 404, code: 'ERR_GATEHOUSE_3200' },
    { host: 'a.wild.test', sni: 'a.wild.test', expected: 'wild' },
    { host: 'exact.wild.test', sni: 'exact.wild.test', expected: 'exact' },
    { host: 'a.b.wild.test', sni: 'a.b.wild.test', expected: 404, code: 'ERR_GATEHOUSE_3200' },
    { host: 'wild.test', sni: 'wild.test', expected: 404, code: 'ERR_GATEHOUSE_3200' },
    { host: 'nobody.test', sni: 'nobody.test', expected: 404, code: 'ERR_GATEHOUSE_3200' },
    { host: 'a.wild.test', sni: 'app.test', expected: 421, code: 'ERR_GATEHOUSE_3003' },
    { host: 'app.test', sni: 'other.test', expected: 421, code: 'ERR_GATEHOUSE_3003' },
    { host: 'app.test..', expected: 400, code: 'ERR_GATEHOUSE_20102' },
    { host: '*.wild.test', sni: 'app.test', expected: 400, code: 'ERR_GATEHOUSE_20102' },
    { host: 'app.test:', expected: 400, code: 'ERR_GATEHOUSE_20102' },
    { host: 'app.test:443:443', expected: 400, code: 'ERR_GATEHOUSE_20102' },
    { host: `${'a.'.repeat(130)}test`, expected: 400, code: 'ERR_GATEHOUSE_20102' },
    { host: 'user@app.test', expected: 400, code: 'ERR_GATEHOUSE_20102' },
    { host: '127.0.0.1', expected: 421, code: 'ERR_GATEHOUSE_3003' },
  ];
  for (const { host, sni = 'app.test', expected, code } of cases) {
    test(`Host ${host} on a connection for ${sni} is answered by ${expected}`, async () => {
      await using upstreams = await manyUpstreams('app', 'wild', 'exact');
      await using gateway = await startGateway([
        ...upstreams.entries,
        edgeEntry('e1', ['app.test'], [prefixRoute('/', toBackend('app'))]),
        edgeEntry('e2', ['*.wild.test'], [prefixRoute('/', toBackend('wild'))]),
        edgeEntry('e3', ['exact.wild.test'], [prefixRoute('/', toBackend('exact'))]),
      ]);
      const answer = await sendRaw(gateway.port, get('/', `Host: ${host}`), { servername: sni });
      if (typeof expected === 'string') assert.equal(answer.body, expected);
      else assert.deepEqual([answer.status, answer.headers['gatehouse-error-code']], [expected, code]);
    });
  }
});

test('a Host with the port the gateway listens on is the edge', async () => {
  await using upstreams = await manyUpstreams('app');
  await using gateway = await startGateway([
    ...upstreams.entries,
    edgeEntry('e1', ['app.test'], [prefixRoute('/', toBackend('app'))]),
  ]);
  assert.equal((await sendRaw(gateway.port, get('/', `Host: app.test:${gateway.port}`))).body, 'app');
});

suite('an answer of our own says why', async () => {
  test('no route is 404 with code 20100, a route without a backend 503 with 6528', async () => {
    await using gateway = await startGateway([
      edgeEntry(
        'e',
        ['app.test'],
        [
          prefixRoute('/offline', {}),
          prefixRoute('/unknown', toBackend('nobody')),
          prefixRoute('/off', { backend: { enabled: false, backend_id: 'nobody' } }),
        ],
      ),
    ]);
    const codes = await Promise.all(
      ['/none', '/offline', '/unknown', '/off'].map(async (path) => {
        const { status, headers } = await sendRaw(gateway.port, get(path));
        return [status, headers['gatehouse-error-code']];
      }),
    );
    assert.deepEqual(codes, [
      [404, 'ERR_GATEHOUSE_20100'],
      [503, 'ERR_GATEHOUSE_6528'],
      [503, 'ERR_GATEHOUSE_6528'],
      [503, 'ERR_GATEHOUSE_6528'],
    ]);
  });

  test('as JSON of the API, with an operation id that the log has too', async () => {
    await using gateway = await startGateway([], { parts: { errorPrefix: 'ERR_VENDOR' } });
    const { headers, body } = await sendRaw(gateway.port, get('/'));
    const answer: unknown = JSON.parse(body);
    assert.deepEqual(answer, {
      error_code: 'ERR_VENDOR_3200',
      status_code: 404,
      msg: 'Nothing is served at "app.test".',
      details: { operation_id: gateway.answered[0]?.operationId },
    });
    assert.match(gateway.answered[0]?.operationId ?? '', /^op_[0-9A-Za-z]{27}$/);
    assert.equal(headers['content-type'], 'application/json; charset=utf-8');
    assert.equal(headers['cache-control'], 'no-store');
  });

  test('as a page for clients that accept HTML, with the values of the client escaped', async () => {
    await using gateway = await startGateway([edgeEntry('e', ['app.test'], [])]);
    const { headers, body } = await sendRaw(gateway.port, get("/<script>'", 'Accept: text/html,*/*;q=0.8'));
    assert.equal(headers['content-type'], 'text/html; charset=utf-8');
    assert.match(body, /ERR_GATEHOUSE_20100/);
    assert.doesNotMatch(body, /<script>/);
    const asJson = await sendRaw(gateway.port, get('/', 'Accept: application/json, text/html;q=0.5'));
    assert.equal(asJson.headers['content-type'], 'application/json; charset=utf-8');
  });

  test('over HTTP/2 too', async () => {
    await using gateway = await startGateway([edgeEntry('e', ['app.test'], [])]);
    const session = openHttp2(gateway.port);
    const answer = await requestHttp2(session, { ':path': '/a' });
    assert.equal(answer.status, 404);
    assert.equal(answer.headers['gatehouse-error-code'], 'ERR_GATEHOUSE_20100');
    const other = await requestHttp2(session, { ':path': '/a', ':authority': 'other.test' });
    assert.equal(other.headers['gatehouse-error-code'], 'ERR_GATEHOUSE_3003');
    session.close();
  });
});

/** Starts one upstream for each name, which answers with the name. */
async function manyUpstreams(...names: readonly string[]) {
  const others = await Promise.all(
    names.map(async (name) => [name, await startUpstream((_, response) => response.end(name))] as const),
  );
  return {
    entries: others.map(([name, { port }]) => backendEntry(name, port)),
    async [Symbol.asyncDispose]() {
      for (const [, other] of others) await other[Symbol.asyncDispose]();
    },
  };
}
