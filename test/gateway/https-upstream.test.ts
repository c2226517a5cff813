import assert from 'node:assert/strict';
import { createServer as createHttpsServer } from 'node:https';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { suite, test } from 'node:test';

import type { BackendEntry } from '../../src/snapshot/contract.ts';
import { makeCertificate } from './support/https-certificate.ts';
import { connectClient, get, openHttp2, requestHttp2, sendRaw } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import type { GatewaySettings } from './support/https-gateway.ts';
import { portOf, startRawUpstream, startUpstream } from './support/https-upstream.ts';
import { until } from './support/tcp-engine.ts';

function gatewayTo(port: number, settings?: GatewaySettings, over?: Partial<BackendEntry>) {
  return startGateway(
    [backendEntry('b', port, over), edgeEntry('e', ['app.test'], [prefixRoute('/', toBackend('b'))])],
    settings,
  );
}

/** Responses that are not HTTP, or that two parsers could frame differently. */
const bad: readonly [name: string, bytes: string][] = [
  ['not HTTP', 'SSH-2.0-OpenSSH\r\n\r\n'],
  ['HTTP/2', 'HTTP/2 200 OK\r\nContent-Length: 0\r\n\r\n'],
  ['HTTP/0.9', '<html>\r\n\r\n'],
  ['a status of two digits', 'HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n'],
  ['two Content-Lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok'],
  ['a list of Content-Lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok'],
  ['a negative Content-Length', 'HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok'],
  [
    'Content-Length and Transfer-Encoding',
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['an unknown transfer coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
  ['Transfer-Encoding in HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['a folded header', 'HTTP/1.1 200 OK\r\nX-A: 1\r\n b\r\nContent-Length: 0\r\n\r\n'],
  ['a bare line feed', 'HTTP/1.1 200 OK\r\nX-A: 1\nSet-Cookie: a=1\r\nContent-Length: 0\r\n\r\n'],
  ['a bare carriage return', 'HTTP/1.1 200 OK\r\nX-A: 1\rSet-Cookie: a=1\r\nContent-Length: 0\r\n\r\n'],
  ['a NUL', 'HTTP/1.1 200 OK\r\nX-A: 1\0\r\nContent-Length: 0\r\n\r\n'],
  ['a space before the colon', 'HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n'],
  ['a line without a colon', 'HTTP/1.1 200 OK\r\nhello\r\nContent-Length: 0\r\n\r\n'],
  ['a head that is too large', `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(70_000)}\r\nContent-Length: 0\r\n\r\n`],
  ['a head without an end', `HTTP/1.1 200 OK\r\n${'X-A: a\r\n'.repeat(10_000)}`],
  ['an unasked change of protocol', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n'],
  ['interim responses without end', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(100)],
  [
    'interim responses of many bytes',
    `${`HTTP/1.1 103 Early Hints\r\nLink: ${'x'.repeat(5000)}\r\n\r\n`.repeat(20)}HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`,
  ],
];

suite('an upstream that does not speak proper HTTP is 502 with code 3004', async () => {
  for (const [name, bytes] of bad) {
    test(name, async () => {
      await using upstream = await startRawUpstream((socket) => void socket.write(bytes, 'latin1'));
      await using gateway = await gatewayTo(upstream.port);
      // An HTTP/2 client does not mistake interim responses for the final one.
      const session = openHttp2(gateway.port);
      const answer = await requestHttp2(session, { ':path': '/' });
      session.close();
      assert.equal(answer.status, 502);
      assert.equal(answer.headers['gatehouse-error-code'], 'ERR_GATEHOUSE_3004');
      assert.doesNotMatch(answer.body, /127\.0\.0\.1|SSH|hello/);
    });
  }
});

/** Faults in a body whose head was already sent: the client must see that the response is incomplete. */
const broken: readonly [name: string, bytes: string][] = [
  ['a body shorter than its length', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'],
  ['chunks without an end', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'],
  ['a bad chunk size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n-1\r\n\r\n'],
  [
    'a chunk size with a bare line feed',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n33\nabc\r\n0\r\n\r\n',
  ],
  ['a chunk longer than its size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n'],
  ['an enormous chunk size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nfffffffffffffffff\r\n'],
];

suite('an answer that breaks off is not passed off as whole', async () => {
  for (const [name, bytes] of broken) {
    test(name, async () => {
      await using upstream = await startRawUpstream((socket) => void socket.end(bytes));
      await using gateway = await gatewayTo(upstream.port);
      const first = await sendRaw(gateway.port, 'GET / HTTP/1.1\r\nHost: app.test\r\n\r\n');
      assert.doesNotMatch(first.text, /0\r\n\r\n$/);
      const session = openHttp2(gateway.port);
      const stream = session.request({ ':path': '/', ':authority': 'app.test' });
      let ended = false;
      stream.on('end', () => {
        ended = true;
      });
      const [error] = await once(stream.resume(), 'error');
      assert.match(String(error), /INTERNAL_ERROR/);
      assert.equal(ended, false);
      session.close();
    });
  }
});

test('bytes behind an answer never become the answer to another request', async () => {
  const poison = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison';
  await using upstream = await startRawUpstream(
    (socket) => void socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok${poison}`),
  );
  await using gateway = await gatewayTo(upstream.port);
  for (let round = 0; round < 3; round++) assert.equal((await sendRaw(gateway.port, get('/'))).body, 'ok');
  assert.equal(upstream.connections, 3);
});

suite('an answer that nobody asked for never becomes the answer to another request', async () => {
  const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
  const poison = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison';
  const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n';
  const empty = 'HTTP/1.1 204 No Content\r\n\r\n';

  for (const [name, answer, surplus] of [
    ['a whole answer', ok, poison],
    ['a whole answer behind chunks', chunked, poison],
    ['a whole answer behind one without a body', empty, poison],
    ['an interim answer', ok, 'HTTP/1.1 103 Early Hints\r\nLink: </poison>\r\n\r\n'],
    ['a change of protocol', ok, 'HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'],
    ['an empty line', ok, '\r\n'],
    ['a single byte', ok, 'H'],
  ] as const) {
    test(`${name}, in the same read`, async () => {
      await using upstream = await startRawUpstream((socket) => void socket.write(`${answer}${surplus}`));
      await using gateway = await gatewayTo(upstream.port);
      for (let round = 0; round < 3; round++) {
        const { text } = await sendRaw(gateway.port, get('/'));
        assert.doesNotMatch(text, /poison|101/);
        assert.equal(text.match(/HTTP\/1\.1 20[04] /g)?.length, 1);
      }
      assert.equal(upstream.connections, 3);
    });

    test(`${name}, on an idle connection`, async () => {
      const sockets: Socket[] = [];
      await using upstream = await startRawUpstream((socket) => {
        sockets.push(socket);
        socket.write(answer);
      });
      await using gateway = await gatewayTo(upstream.port);
      for (let round = 0; round < 3; round++) {
        const { text } = await sendRaw(gateway.port, get('/'));
        assert.doesNotMatch(text, /poison|101/);
        const socket = sockets.at(-1);
        assert.ok(socket);
        socket.write(surplus);
        await until(() => socket.destroyed, 'the gateway closes the connection');
      }
      assert.equal(upstream.connections, 3);
    });
  }
});

suite('upstreams that cannot be reached', async () => {
  test('refused connection: 502 with code 3006', async () => {
    const unused = createServer().listen(0, '127.0.0.1');
    await once(unused, 'listening');
    const port = portOf(unused);
    unused.close();
    await once(unused, 'close');
    await using gateway = await gatewayTo(port);
    const { status, headers } = await sendRaw(gateway.port, get('/'));
    assert.deepEqual([status, headers['gatehouse-error-code']], [502, 'ERR_GATEHOUSE_3006']);
    assert.equal(gateway.logged.length, 1);
  });

  test('a name that DNS does not know, and TLS to a plain port, are told from a refusal', async () => {
    const codeOf = async (port: number, backend: object): Promise<unknown> => {
      await using gateway = await gatewayTo(port, {}, backend);
      const { status, headers } = await sendRaw(gateway.port, get('/'));
      assert.equal(status, 502);
      return headers['gatehouse-error-code'];
    };
    assert.equal(await codeOf(9, { host: 'nowhere.invalid' }), 'ERR_GATEHOUSE_20192');
    await using plain = await startRawUpstream((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    assert.equal(await codeOf(plain.port, { tls: true }), 'ERR_GATEHOUSE_20193');
  });

  test('no answer to the connection: 504 with code 3005', async () => {
    // The address is reserved for documentation: nothing answers, or the connection fails at once without a route.
    await using gateway = await gatewayTo(9, { timeouts: { upstreamConnectMs: 50 } }, { host: '192.0.2.1' });
    const { status, headers } = await sendRaw(gateway.port, get('/'));
    const seen = [status, headers['gatehouse-error-code']].join(' ');
    assert.ok(['504 ERR_GATEHOUSE_3005', '502 ERR_GATEHOUSE_3006'].includes(seen), seen);
  });

  test('no TLS handshake in time: 504 with code 3005', async () => {
    await using upstream = await startRawUpstream(() => {});
    await using gateway = await gatewayTo(upstream.port, { timeouts: { upstreamConnectMs: 100 } }, { tls: true });
    const { status, headers } = await sendRaw(gateway.port, get('/'));
    assert.deepEqual([status, headers['gatehouse-error-code']], [504, 'ERR_GATEHOUSE_3005']);
  });

  test('closed without an answer: 502 with code 3007', async () => {
    await using upstream = await startRawUpstream((socket) => void socket.end());
    await using gateway = await gatewayTo(upstream.port);
    const { status, headers } = await sendRaw(gateway.port, get('/'));
    assert.deepEqual([status, headers['gatehouse-error-code']], [502, 'ERR_GATEHOUSE_3007']);
  });

  test('no answer in time: 504 with code 3008', async () => {
    await using upstream = await startRawUpstream(() => {});
    await using gateway = await gatewayTo(upstream.port, { timeouts: { idleMs: 100 } });
    const { status, headers } = await sendRaw(gateway.port, get('/'));
    assert.deepEqual([status, headers['gatehouse-error-code']], [504, 'ERR_GATEHOUSE_3008']);
  });
});

suite('connections to an upstream', async () => {
  test('are kept and used again, by whoever comes next', async () => {
    await using upstream = await startUpstream();
    await using gateway = await gatewayTo(upstream.port);
    for (let round = 0; round < 5; round++) assert.equal((await sendRaw(gateway.port, get('/'))).status, 200);
    const session = openHttp2(gateway.port);
    await requestHttp2(session, { ':path': '/', ':method': 'POST' }, 'abc');
    session.close();
    assert.equal(upstream.connections, 1);
  });

  test('are not used again when the upstream says close', async () => {
    await using upstream = await startUpstream((_, response) => response.setHeader('Connection', 'close').end('x'));
    await using gateway = await gatewayTo(upstream.port);
    for (let round = 0; round < 3; round++) await sendRaw(gateway.port, get('/'));
    assert.equal(upstream.connections, 3);
  });

  test('are not used again after an answer that came before the whole request', async () => {
    await using upstream = await startRawUpstream((socket, text) => {
      if (text.startsWith('POST')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nearly');
      if (text.startsWith('GET')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    });
    await using gateway = await gatewayTo(upstream.port);
    const socket = await connectClient(gateway.port);
    socket.write('POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 50\r\n\r\nGET /smuggled HTTP/1.1\r\n');
    const [answer] = await once(socket, 'data');
    assert.match(String(answer), /early$/);
    assert.equal((await sendRaw(gateway.port, get('/'))).body, 'ok');
    assert.equal(upstream.connections, 2);
    socket.destroy();
  });

  test('are closed when they have waited too long', async () => {
    await using upstream = await startUpstream();
    await using gateway = await gatewayTo(upstream.port, { timeouts: { keepAliveMs: 60 } });
    await sendRaw(gateway.port, get('/'));
    await new Promise((resolve) => setTimeout(resolve, 400));
    await sendRaw(gateway.port, get('/'));
    assert.equal(upstream.connections, 2);
  });

  for (const [method, body, repeated] of [
    ['GET', '', true],
    ['DELETE', '', true],
    ['POST', '', false],
    ['PUT', 'abc', false],
  ] as const) {
    const what = `a ${method} with ${body === '' ? 'no' : 'a'} body`;
    test(`${what} is ${repeated ? '' : 'not '}repeated when a kept connection turns out dead`, async () => {
      let requests = 0;
      await using upstream = await startRawUpstream((socket, text) => {
        if (!/^[A-Z]+ /.test(text)) return;
        requests += 1;
        if (requests === 2) socket.resetAndDestroy();
        else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      });
      await using gateway = await gatewayTo(upstream.port);
      assert.equal((await sendRaw(gateway.port, get('/'))).body, 'ok');
      const length = body === '' && method !== 'POST' ? '' : `Content-Length: ${body.length}\r\n`;
      const request = `${method} / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n${length}\r\n${body}`;
      const answer = await sendRaw(gateway.port, request);
      assert.equal(answer.status, repeated ? 200 : 502);
      assert.equal(upstream.connections, repeated ? 2 : 1);
    });
  }

  test('a request is not repeated when a fresh connection dies', async () => {
    await using upstream = await startRawUpstream((socket) => void socket.resetAndDestroy());
    await using gateway = await gatewayTo(upstream.port);
    assert.equal((await sendRaw(gateway.port, get('/'))).status, 502);
    assert.equal(upstream.connections, 1);
  });
});

suite('an upstream with TLS', async () => {
  const certificate = makeCertificate('DNS:localhost', 'IP:127.0.0.1');

  async function startTlsUpstream() {
    const seen: (string | false | undefined)[] = [];
    const server = createHttpsServer({ cert: certificate.certificate, key: certificate.key }, (request, response) => {
      seen.push('servername' in request.socket ? String(request.socket.servername) : undefined);
      response.end('secure');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return {
      port: portOf(server),
      seen,
      async [Symbol.asyncDispose]() {
        server.closeAllConnections();
        server.close();
        await once(server, 'close');
      },
    };
  }

  for (const [name, host, trusted, expected] of [
    ['whose certificate is valid is asked', 'localhost', true, 200],
    ['whose certificate is valid for its address is asked', '127.0.0.1', true, 200],
    ['whose certificate nobody vouches for is not asked', 'localhost', false, 502],
  ] as const) {
    test(name, async () => {
      await using upstream = await startTlsUpstream();
      const upstreamAuthorities = trusted ? [certificate.certificate] : [];
      await using gateway = await gatewayTo(upstream.port, { upstreamAuthorities }, { tls: true, host });
      const answer = await sendRaw(gateway.port, get('/'));
      assert.equal(answer.status, expected);
      if (expected === 502) assert.equal(answer.headers['gatehouse-error-code'], 'ERR_GATEHOUSE_20194');
      assert.equal(upstream.seen.length, expected === 200 ? 1 : 0);
      if (expected === 200 && host === 'localhost') assert.deepEqual(upstream.seen, ['localhost']);
    });
  }
});
