import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { suite, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import zlib from 'node:zlib';

import type { ModuleSettings } from '../../src/snapshot/contract.ts';
import { rounds } from '../support/long-form.ts';
import { connectClient, get, parseAnswer, readAll, sendRaw } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, responseHeaders, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { startRawUpstream } from './support/https-upstream.ts';
import { clients, readBody } from './support/https-versions.ts';
import { until } from './support/tcp-engine.ts';

const codings = {
  br: { decode: zlib.brotliDecompressSync, open: zlib.createBrotliDecompress },
  zstd: { decode: zlib.zstdDecompressSync, open: zlib.createZstdDecompress },
  gzip: { decode: zlib.gunzipSync, open: zlib.createGunzip },
};
const versions = Object.entries(clients);
const compression: ModuleSettings = { compression: { enabled: true } };

/** Starts a gateway that compresses everything except paths below `/plain`. */
function gatewayTo(port: number, more: ModuleSettings = {}) {
  const modules = { ...toBackend('b'), ...more };
  const routes = [prefixRoute('/', { ...modules, ...compression }), prefixRoute('/plain', modules)];
  return startGateway([backendEntry('b', port), edgeEntry('e', ['app.test'], routes)]);
}

/** Starts an upstream that gives every request the same response: a string, or the writes of the function. */
function startAnswering(answer: string | ((socket: Socket) => void)) {
  return startRawUpstream((socket) => {
    if (typeof answer === 'string') socket.write(answer, 'latin1');
    else answer(socket);
  });
}

function response(headers: readonly string[], body: string): string {
  return `${['HTTP/1.1 200 OK', ...headers, `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`;
}

/** Records the encoders that the gateway opens. */
function watchEncoders(t: TestContext): () => readonly Closable[] {
  const { mock } = t;
  const opened = [
    mock.method(zlib, 'createGzip'),
    mock.method(zlib, 'createBrotliCompress'),
    mock.method(zlib, 'createZstdCompress'),
  ];
  return () => opened.flatMap((each): Closable[] => each.mock.calls.flatMap(({ result }) => result ?? []));
}

interface Closable {
  readonly destroyed: boolean;
}

/** Base64 shrinks by a quarter only, so the amounts read and sent stay comparable. It repeats behind the reach of an encoder. */
const noise = Array.from({ length: 128 }, () => randomBytes(49_152).toString('base64'));

const page = `<p>${'Alles fließt. '.repeat(400)}</p>`;
const html = 'Content-Type: text/html; charset=utf-8';

for (const [version, ask] of versions) {
  suite(`compression for ${version}`, () => {
    for (const [coding, { decode, open }] of Object.entries(codings)) {
      test(`${coding}, with the headers that belong to it`, async () => {
        const body = Buffer.from(page).toString('latin1');
        await using upstream = await startAnswering(
          response([html, 'ETag: "v1"', 'Accept-Ranges: bytes', 'Vary: Origin', 'X-One: 1'], body),
        );
        await using gateway = await gatewayTo(upstream.port);
        const answer = await ask(gateway.port, { headers: { 'accept-encoding': `deflate, ${coding};q=0.9` } });
        const { bytes, whole } = await readBody(answer);
        assert.ok(whole);
        assert.equal(decode(bytes).toString(), page);
        assert.ok(bytes.length < page.length / 10, `${bytes.length} bytes`);
        const { headers } = answer;
        assert.equal(answer.status, 200);
        assert.equal(headers['content-encoding'], coding);
        assert.equal(headers['content-type'], 'text/html; charset=utf-8');
        assert.equal(headers['etag'], 'W/"v1"');
        assert.equal(headers['vary'], 'Origin, Accept-Encoding');
        assert.equal(headers['x-one'], '1');
        assert.equal(headers['content-length'], undefined);
        assert.equal(headers['accept-ranges'], undefined);
      });

      test(`${coding}, each piece as soon as the upstream has sent it`, async () => {
        const { promise: asked, resolve } = Promise.withResolvers<Socket>();
        await using upstream = await startAnswering((socket) => {
          socket.write(`HTTP/1.1 200 OK\r\n${html}\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n`);
          resolve(socket);
        });
        await using gateway = await gatewayTo(upstream.port);
        const answer = await ask(gateway.port, { headers: { 'accept-encoding': coding } });
        let decoded = '';
        const decoder = open().on('data', (chunk) => (decoded += String(chunk)));
        answer.body.pipe(decoder);
        const socket = await asked;
        await until(() => decoded === 'one', 'the first piece arrives');
        socket.write('3\r\ntwo\r\n');
        await until(() => decoded === 'onetwo', 'the second piece arrives');
        socket.write('0\r\n\r\n');
        await once(decoder, 'end');
        assert.equal(decoded, 'onetwo');
      });

      test(`${coding}, an upstream that breaks does not look like an end`, async (t) => {
        const encoders = watchEncoders(t);
        const { promise: asked, resolve } = Promise.withResolvers<Socket>();
        await using upstream = await startAnswering((socket) => {
          socket.write(`HTTP/1.1 200 OK\r\n${html}\r\nContent-Length: 100000\r\n\r\n${'half '.repeat(2000)}`);
          resolve(socket);
        });
        await using gateway = await gatewayTo(upstream.port);
        const answer = await ask(gateway.port, { headers: { 'accept-encoding': coding } });
        (await asked).end();
        const { bytes, whole } = await readBody(answer);
        if (version !== 'HTTP/1.0') assert.ok(!whole);
        assert.throws(() => decode(bytes));
        await until(() => encoders().every(({ destroyed }) => destroyed), 'the encoder is closed');
        assert.equal(encoders().length, 1);
      });
    }

    test('HEAD is answered with the headers of GET', async () => {
      await using upstream = await startRawUpstream((socket, received) => {
        const head = `HTTP/1.1 200 OK\r\n${html}\r\nETag: "v1"\r\nContent-Length: 2000\r\nDate: today\r\n\r\n`;
        socket.write(received.startsWith('HEAD') ? head : head + 'x'.repeat(2000));
      });
      await using gateway = await gatewayTo(upstream.port);
      const headers = { 'accept-encoding': 'gzip' };
      const got = await ask(gateway.port, { headers });
      const body = await readBody(got);
      assert.equal(zlib.gunzipSync(body.bytes).length, 2000);
      const head = await ask(gateway.port, { method: 'HEAD', headers });
      assert.deepEqual(await readBody(head), { bytes: Buffer.alloc(0), whole: true });
      const { 'transfer-encoding': _, ...expected } = got.headers;
      assert.deepEqual(head.headers, expected);
      assert.equal(head.headers['content-encoding'], 'gzip');
    });

    test('a client that accepts no coding gets the body as it is, with its length, and Vary', async () => {
      await using upstream = await startAnswering(response([html, 'ETag: "v1"', 'Accept-Ranges: bytes'], page));
      await using gateway = await gatewayTo(upstream.port);
      const answer = await ask(gateway.port, { headers: { 'accept-encoding': 'identity, *;q=0' } });
      const { bytes, whole } = await readBody(answer);
      assert.ok(whole);
      assert.equal(bytes.toString('latin1'), page);
      assert.equal(answer.headers['content-length'], String(page.length));
      assert.equal(answer.headers['content-encoding'], undefined);
      assert.equal(answer.headers['vary'], 'Accept-Encoding');
      assert.equal(answer.headers['etag'], '"v1"');
      assert.equal(answer.headers['accept-ranges'], 'bytes');
    });

    test('the client sets the pace, and gets every byte', async () => {
      const size = rounds(512, 1024) * 65_536;
      const digests = { sent: createHash('sha256'), received: createHash('sha256') };
      let sent = 0;
      await using upstream = await startAnswering((socket) => {
        socket.write(`HTTP/1.1 200 OK\r\n${html}\r\nContent-Length: ${size}\r\n\r\n`);
        const more = (): void => {
          while (sent < size) {
            const text = noise[(sent / 65_536) % noise.length]!;
            sent += text.length;
            digests.sent.update(text);
            if (!socket.write(text)) return;
          }
        };
        socket.on('drain', more);
        more();
      });
      await using gateway = await gatewayTo(upstream.port);
      const answer = await ask(gateway.port, { headers: { 'accept-encoding': 'zstd' } });
      answer.body.pause();
      for (let before = -1; before !== sent; await sleep(150)) before = sent;
      assert.ok(sent < size * 0.75, `${sent} bytes have left the upstream`);
      const decoder = zlib.createZstdDecompress().on('data', (chunk: Buffer) => digests.received.update(chunk));
      answer.body.pipe(decoder);
      await once(decoder, 'end');
      assert.equal(digests.received.digest('hex'), digests.sent.digest('hex'));
    });

    test('a client that leaves frees the encoder and the upstream', async (t) => {
      const encoders = watchEncoders(t);
      await using upstream = await startAnswering((socket) => {
        socket.write(`HTTP/1.1 200 OK\r\n${html}\r\nContent-Length: 100000\r\n\r\n${page}`, 'latin1');
      });
      await using gateway = await gatewayTo(upstream.port);
      const answer = await ask(gateway.port, { headers: { 'accept-encoding': 'br' } });
      assert.deepEqual(
        encoders().map(({ destroyed }) => destroyed),
        [false],
      );
      answer.body.on('error', () => {});
      answer.leave();
      await until(() => encoders().every(({ destroyed }) => destroyed), 'the encoder is closed');
      await until(() => upstream.open === 0, 'the upstream is free');
    });

    test('trailers come after the encoded body', async () => {
      await using upstream = await startAnswering(
        `HTTP/1.1 200 OK\r\n${html}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 5\r\n\r\n`,
      );
      await using gateway = await gatewayTo(upstream.port);
      const answer = await ask(gateway.port, { headers: { 'accept-encoding': 'gzip', te: 'trailers' } });
      const { bytes, whole } = await readBody(answer);
      assert.ok(whole);
      assert.equal(zlib.gunzipSync(bytes).toString(), 'hello');
      // HTTP/1.0 has no trailers.
      if (version !== 'HTTP/1.0') assert.equal(answer.trailers()['x-sum'], '5');
    });

    test('trailers that are true only of the bytes of the upstream are dropped', async () => {
      const trailers = 'Content-Digest: sha-256=:AAAA:\r\nRepr-Digest: sha-256=:AAAA:\r\nETag: "v1"\r\nX-Sum: 5\r\n';
      await using upstream = await startAnswering(
        `HTTP/1.1 200 OK\r\n${html}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n${trailers}\r\n`,
      );
      await using gateway = await gatewayTo(upstream.port);
      const answer = await ask(gateway.port, { headers: { 'accept-encoding': 'gzip', te: 'trailers' } });
      assert.ok((await readBody(answer)).whole);
      const names = Object.keys(answer.trailers()).filter((name) => !name.startsWith(':'));
      assert.deepEqual(names, version === 'HTTP/1.0' ? [] : ['x-sum']);
    });
  });
}

suite('what is not to be compressed passes as without the module, to the byte', () => {
  const long = 'x'.repeat(3000);
  const answers: Readonly<Record<string, string>> = {
    'a short body': response([html], 'x'.repeat(1023)),
    'no body': 'HTTP/1.1 204 No Content\r\nETag: "v1"\r\n\r\n',
    'not modified': `HTTP/1.1 304 Not Modified\r\nETag: "v1"\r\n${html}\r\n\r\n`,
    'a part': response([html, 'Content-Range: bytes 0-2999/9000'], long).replace('200 OK', '206 Partial Content'),
    'another coding': response([html, 'Content-Encoding: gzip', 'ETag: "v1"'], long),
    'what must not be transformed': response([html, 'Cache-Control: public, no-transform'], long),
    'a digest': response([html, 'Content-Digest: sha-256=:AAAA:'], long),
    'an image': response(['Content-Type: image/png', 'Accept-Ranges: bytes'], long),
    'a body of no type': response([], long),
    events: response(['Content-Type: text/event-stream'], long),
    'a remote call': response(['Content-Type: application/grpc+json'], long),
    'early hints, then an image': `HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n${response(['Content-Type: image/png'], long)}`,
  };
  for (const [name, bytes] of Object.entries(answers)) {
    test(name, async () => {
      await using upstream = await startAnswering(bytes);
      await using gateway = await gatewayTo(upstream.port);
      const texts = [];
      for (const path of ['/', '/plain']) {
        const { text } = await sendRaw(gateway.port, get(path, 'Accept-Encoding: gzip, br, zstd'));
        texts.push(text.replaceAll(/^Date: .*GMT\r$/gm, 'Date: now\r'));
      }
      assert.equal(texts[0], texts[1]);
      assert.match(texts[0] ?? '', /^HTTP\/1\.1 (?:200|103|20[46]|304) /);
    });
  }

  test('the length of the body that was not encoded is not in a 304 for the encoded one', async () => {
    const upstreamText = 'HTTP/1.1 304 Not Modified\r\nETag: "v1"\r\nContent-Length: 3000\r\n\r\n';
    await using upstream = await startAnswering(upstreamText);
    await using gateway = await gatewayTo(upstream.port);
    const request = get('/', 'Accept-Encoding: gzip\r\nIf-None-Match: W/"v1"');
    const { text } = await sendRaw(gateway.port, request);
    assert.match(text, /^HTTP\/1\.1 304 /);
    assert.match(text, /^etag: W\/"v1"\r$/im);
    assert.doesNotMatch(text, /content-length/i);
  });

  test('an upgraded connection', async () => {
    await using upstream = await startAnswering((socket) => {
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n${html}\r\n\r\n`);
      socket.end('x'.repeat(3000));
    });
    await using gateway = await gatewayTo(upstream.port);
    const socket = await connectClient(gateway.port);
    const all = readAll(socket);
    const lines = ['Host: app.test', 'Connection: Upgrade', 'Upgrade: other', 'Accept-Encoding: gzip'];
    socket.write(`GET / HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    const text = await all;
    assert.ok(text.endsWith(`\r\n\r\n${'x'.repeat(3000)}`));
    assert.doesNotMatch(text, /content-encoding|vary/i);
  });
});

test('clients of one account that do not read their answers do not take compression from another account', async (t) => {
  await using upstream = await startAnswering(
    (socket) => void socket.write(`HTTP/1.1 200 OK\r\n${html}\r\n\r\n${'x'.repeat(2000)}`),
  );
  const routes = [prefixRoute('/', { ...toBackend('b'), ...compression })];
  const edges = [edgeEntry('e', ['app.test'], routes), edgeEntry('f', ['other.test'], routes, 'acc_2')];
  await using gateway = await startGateway([backendEntry('b', upstream.port), ...edges], {
    bounds: { responseEncoders: 8 },
  });
  /** Asks for an answer that does not end, and returns its head. */
  const headOf = async (servername: string): Promise<string> => {
    const socket = await connectClient(gateway.port, { servername });
    t.after(() => socket.destroy());
    socket.write(get('/', `Host: ${servername}`, 'Accept-Encoding: gzip'));
    const [head] = await once(socket, 'data');
    return String(head);
  };
  for (let at = 0; at < 2; at++) assert.match(await headOf('app.test'), /content-encoding: gzip/i);
  assert.doesNotMatch(await headOf('app.test'), /content-encoding/i, 'it has a quarter of all');
  assert.match(await headOf('other.test'), /content-encoding: gzip/i);
  await until(() => gateway.refused.response_encoders === 1, 'it is counted');
  assert.equal(gateway.inUse.response_encoders, 3);
  const lines = gateway.logged.filter(({ fields }) => 'bound' in fields).map(({ fields }) => fields);
  assert.deepEqual(lines, [{ bound: 'response_encoders', limit: 8, code: 20122, refused: 1, accountId: 'acc_1' }]);
});

test('compression comes after changes of the response headers', async () => {
  await using upstream = await startAnswering(response(['Content-Encoding: gzip', html], 'x'.repeat(2000)));
  const changes = responseHeaders({ vary: 'Origin' }, ['content-encoding']);
  await using gateway = await gatewayTo(upstream.port, changes);
  const answer = await clients['HTTP/2'](gateway.port, { headers: { 'accept-encoding': 'zstd' } });
  assert.equal(answer.headers['content-encoding'], 'zstd');
  assert.equal(answer.headers['vary'], 'Origin, Accept-Encoding');
  assert.equal(zlib.zstdDecompressSync((await readBody(answer)).bytes).toString(), 'x'.repeat(2000));
});

test('a connection carries compressed and other answers in turn', async () => {
  let count = 0;
  await using upstream = await startAnswering((socket) => {
    count += 1;
    socket.write(response([html], String(count).repeat(count % 2 === 0 ? 10 : 2000)));
  });
  await using gateway = await gatewayTo(upstream.port);
  const socket = await connectClient(gateway.port);
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  for (const expected of ['1'.repeat(2000), '2'.repeat(10), '3'.repeat(2000), '4'.repeat(10)]) {
    text = '';
    socket.write('GET / HTTP/1.1\r\nHost: app.test\r\nAccept-Encoding: gzip\r\n\r\n');
    if (expected.length < 1000) {
      await until(() => text.endsWith(`\r\n\r\n${expected}`), 'the short answer arrives');
      assert.match(text, /^Content-Length: 10\r$/m);
    } else {
      await until(() => text.endsWith('\r\n0\r\n\r\n'), 'the compressed answer arrives');
      const { body } = parseAnswer(text);
      assert.equal(zlib.gunzipSync(Buffer.from(joinChunks(body), 'latin1')).toString(), expected);
    }
  }
  socket.destroy();
});

function joinChunks(body: string): string {
  const lineEnd = body.indexOf('\r\n');
  const size = Number.parseInt(body.slice(0, lineEnd), 16);
  const end = lineEnd + 2 + size;
  return size === 0 ? '' : body.slice(lineEnd + 2, end) + joinChunks(body.slice(end + 2));
}
