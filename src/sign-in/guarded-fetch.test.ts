import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { nextTurn } from '../lib/next-turn.ts';
import { createFetch } from './guarded-fetch.ts';
import type { Fetch } from './guarded-fetch.ts';

/** A server that answers so, and what asks it. `opened`: the sockets that it was asked over. */
async function serverOf(
  t: TestContext,
  answer: (socket: Socket) => unknown,
): Promise<{ readonly url: string; readonly fetch: Fetch; readonly opened: Socket[] }> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => void answer(socket));
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const opened: Socket[] = [];
  const fetch = createFetch((target, _options, established) => {
    const socket = connect(target.port, target.host, established);
    opened.push(socket);
    return socket;
  })('ac_1');
  return { url: `http://127.0.0.1:${port}/`, fetch, opened };
}

/** Outcome of a request to a server that sends this and closes the connection. */
async function ask(text: string, more: { readonly maxBytes?: number } = {}): Promise<number | string> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(text));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // It listens on a port.
  const { port } = server.address() as AddressInfo;
  const fetch = createFetch(({ host, port: wanted }, _options, established) => connect(wanted, host, established))(
    'ac_1',
  );
  const answered = fetch(`http://127.0.0.1:${port}/`, { method: 'GET', headers: {}, ...more });
  const outcome = await answered.then(
    ({ status }) => status,
    () => 'failed',
  );
  server.close();
  return outcome;
}

test('a server that answers with another protocol, or with no answer, is no answer, and nobody waits for one', async () => {
  const answers = [
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\n\r\n',
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 600 Unknown\r\nContent-Length: 0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nab',
    '',
  ];
  for (const answer of answers) assert.equal(await ask(answer), 'failed', JSON.stringify(answer));
  assert.equal(await ask('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'), 200);
  assert.equal(await ask('HTTP/1.1 200 OK\r\n\r\n{}'), 200, 'an answer that the end of the connection ends');
});

test('an answer whose status leaves no room for a body is one without it', async () => {
  assert.equal(await ask('HTTP/1.1 205 Reset Content\r\nContent-Length: 2\r\n\r\nab'), 205);
  for (const status of [204, 304]) assert.equal(await ask(`HTTP/1.1 ${status} Nothing\r\n\r\n`), status);
});

test('a status that HTTP does not have is told as such', async (t) => {
  for (const status of ['000', '600', '999']) {
    const { url, fetch } = await serverOf(t, (socket) => {
      socket.end(`HTTP/1.1 ${status} Unknown\r\nContent-Length: 0\r\n\r\n`);
    });
    await assert.rejects(fetch(url, { method: 'GET', headers: {} }), { message: /answers with the status \d+, which/ });
  }
});

test('interim answers and blank lines without end are refused as an answer that is too long', async (t) => {
  for (const text of ['HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n', 'HTTP/1.1 100 Continue\r\n\r\n', '\r\n']) {
    const { url, fetch } = await serverOf(t, (socket) => {
      // Ends after more than anybody reads, so that a test without a bound fails.
      socket.end(text.repeat(4_000_000 / text.length));
    });
    const answered = fetch(url, { method: 'GET', headers: {} });
    await assert.rejects(answered, { name: 'AnswerTooLarge' }, JSON.stringify(text));
  }
});

test('a head in thousands of pieces is refused as an answer that is too long', async (t) => {
  const head = `HTTP/1.1 200 OK\r\nContent-Length: 0\r\nx-long: ${'x'.repeat(5_000)}\r\n\r\n`;
  let sent = 0;
  const { url, fetch, opened } = await serverOf(t, async (socket) => {
    socket.setNoDelay();
    const [client] = opened;
    assert.ok(client);
    while (sent < head.length && !client.destroyed) {
      socket.write(head.charAt(sent));
      sent += 1;
      while (client.bytesRead < sent && !client.destroyed) await nextTurn();
    }
    socket.end();
  });
  await assert.rejects(fetch(url, { method: 'GET', headers: {} }), { name: 'AnswerTooLarge' });
  assert.ok(sent < 2_100, `${sent} pieces`);
});

test('an answer of 64 kB is read, and a longer one, or one in thousands of parts, is none', async () => {
  const ofLength = (length: number) => `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n${'x'.repeat(length)}`;
  assert.equal(await ask(ofLength(65_536)), 200);
  assert.equal(await ask(ofLength(65_537)), 'failed');
  assert.equal(await ask(ofLength(65_537), { maxBytes: 100_000 }), 200, 'where it may be longer');
  const inParts = (count: number) =>
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(count)}0\r\n\r\n`;
  assert.equal(await ask(inParts(1_500)), 200);
  assert.equal(await ask(inParts(2_500)), 'failed');
});

test('a request that was given up before it began opens no connection', async () => {
  let connections = 0;
  const fetch = createFetch(({ host, port }, _options, established) => {
    connections += 1;
    return connect(port, host, established);
  })('ac_1');
  const gone = fetch('http://127.0.0.1:9/', {
    method: 'GET',
    headers: {},
    signal: AbortSignal.abort(new Error('given up')),
  });
  await assert.rejects(gone, /given up/);
  assert.equal(connections, 0);
});

test('a server that answers without reading what it was sent is let go', async (t) => {
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => {}).write('HTTP/1.1 204 No Content\r\n\r\n');
    t.after(() => socket.destroy());
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const closed = Promise.withResolvers<undefined>();
  const fetch = createFetch(({ host }, _options, established) =>
    connect(port, host, established).once('close', () => closed.resolve(undefined)),
  )('ac_1');
  // More than lies in the buffers of both sides.
  const body = 'x'.repeat(20_000_000);
  assert.equal((await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers: {}, body })).status, 204);
  await closed.promise;
});
