import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { connectClient, get, readAll, sendRaw } from './support/https-client.ts';
import {
  allowPolicy,
  backendEntry,
  edgeEntry,
  ipRestriction,
  prefixRoute,
  toBackend,
} from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { startUpstream } from './support/https-upstream.ts';

/** Requests whose answer tells the client that the connection carries no further one. */
const first: Readonly<Record<string, [request: string, status: number]>> = {
  'a transfer coding that is not served': [
    'POST /first HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  'an expectation that is refused, with a body': [
    'POST /first HTTP/1.1\r\nHost: app.test\r\nExpect: x\r\nContent-Length: 1\r\n\r\na',
    417,
  ],
  'a body that waits for a route that lets nobody in': [
    'POST /closed HTTP/1.1\r\nHost: app.test\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\na',
    403,
  ],
  'a chunked body for a route that lets nobody in': [
    'POST /closed HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    403,
  ],
  'two hosts': ['GET /first HTTP/1.1\r\nHost: app.test\r\nHost: app.test\r\n\r\n', 400],
  'a line of another version': ['GET /first HTTP/2.0\r\nHost: app.test\r\n\r\n', 505],
  'the client’s own wish': ['GET /closed HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n', 403],
  'the client’s own wish, with a body': [
    'POST /closed HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\nContent-Length: 1\r\n\r\na',
    403,
  ],
  'HTTP/1.0': ['GET /closed HTTP/1.0\r\nHost: app.test\r\n\r\n', 403],
};

const after = 'POST /after HTTP/1.1\r\nHost: app.test\r\nContent-Length: 0\r\n\r\n';
const plain = 'GET /plain HTTP/1.1\r\nHost: app.test\r\n\r\n';

async function startClosing(upstreamPort: number) {
  const closed = { ...toBackend('b'), ...ipRestriction('nobody') };
  return startGateway([
    allowPolicy('nobody', '192.0.2.1/32'),
    backendEntry('b', upstreamPort),
    edgeEntry('e', ['app.test'], [prefixRoute('/', toBackend('b')), prefixRoute('/closed', closed)]),
  ]);
}

suite('no request behind one that was answered with Connection: close reaches the upstream', async () => {
  for (const [name, [request, status]] of Object.entries(first)) {
    for (const before of ['', plain]) {
      test(`${name}${before === '' ? '' : ', after a plain request'}`, async () => {
        await using upstream = await startUpstream();
        await using gateway = await startClosing(upstream.port);
        // Puts a connection into the pool, which takes the next request at once.
        await sendRaw(gateway.port, get('/before'));
        const socket = await connectClient(gateway.port);
        const all = readAll(socket);
        if (before !== '') {
          socket.write(before);
          await new Promise((resolve) => socket.once('data', resolve));
        }
        socket.write(`${request}${after}`);
        const text = await all;
        assert.match(text, new RegExp(`HTTP/1.1 ${status} [^]*\r\nConnection: close\r\n`));
        await sendRaw(gateway.port, get('/last'));
        const expected = before === '' ? ['/before', '/last'] : ['/before', '/plain', '/last'];
        assert.deepEqual(
          upstream.seen.map(({ url }) => url),
          expected,
        );
      });
    }
  }

  for (const method of ['GET', 'POST']) {
    test(`the client’s own wish, and the answer of an upstream to ${method}`, async () => {
      await using upstream = await startUpstream((request, response) => {
        setTimeout(() => response.end(request.url), 20);
      });
      await using gateway = await startClosing(upstream.port);
      const length = method === 'GET' ? '' : 'Content-Length: 0\r\n';
      const { text } = await sendRaw(
        gateway.port,
        `${method} /first HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n${length}\r\n${after}`,
      );
      assert.match(text, /^HTTP\/1\.1 200 OK\r\n[^]*\r\nConnection: close\r\n[^]*\/first/);
      await sendRaw(gateway.port, get('/last'));
      assert.deepEqual(
        upstream.seen.map(({ url }) => url),
        ['/first', '/last'],
      );
    });
  }

  test('bytes that are not HTTP behind such a request cost no answer', async () => {
    await using upstream = await startUpstream((request, response) => {
      setTimeout(() => response.end(request.url), 20);
    });
    await using gateway = await startClosing(upstream.port);
    const closing = 'GET /second HTTP/1.1\r\nHost: app.test\r\nHost: app.test\r\n\r\n';
    const { text } = await sendRaw(gateway.port, `${plain}${closing}not HTTP\r\n\r\n`);
    assert.match(text, /^HTTP\/1\.1 200 OK\r\n[^]*\/plain[^]*HTTP\/1\.1 400 [^]*\r\nConnection: close\r\n/);
    assert.deepEqual(
      upstream.seen.map(({ url }) => url),
      ['/plain'],
    );
  });
});
