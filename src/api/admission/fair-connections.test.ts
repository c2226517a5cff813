import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { ConnectionTurns } from './connection-turns.ts';

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const chunkedHead = 'POST /body HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';

/** A server whose connections take turns, and what it has seen. */
async function serve(context: TestContext, handle: Handle, restAfter = (_request: IncomingMessage) => 0) {
  const sockets: Socket[] = [];
  const turns = new ConnectionTurns({
    idle: () => {},
    answer: (_fault, socket) => socket.destroy(),
    ownerOf: ({ remotePort }) => String(remotePort),
    restAfter,
  });
  const server = createServer((request, response) => turns.enter(request, response, () => handle(request, response)));
  server.on('connection', turns.accept).on('connection', (socket) => sockets.push(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // A listening TCP server has an address of this form.
  const { port } = server.address() as AddressInfo;
  const clients: Socket[] = [];
  context.after(() => {
    for (const client of clients) client.destroy();
    server.close();
  });
  const open = async () => {
    const client = connect(port, '127.0.0.1');
    clients.push(client);
    client.on('error', () => {}).resume();
    await once(client, 'connect');
    return client;
  };
  return { open, sockets };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(2);
}

/** Resolves when a number has not changed for a while. */
async function untilSteady(read: () => number): Promise<void> {
  for (let steady = 0, last = -1; steady < 20; steady = read() === last ? steady + 1 : 0) {
    last = read();
    await sleep(5);
  }
}

describe('a connection that brings very much at once', { timeout: 240_000 }, () => {
  test('has its requests begun by turns: those of others come in between', async (context) => {
    const order: string[] = [];
    const { open } = await serve(context, ({ url = '' }, response) => {
      if (order.length === 0) other.write(get('/other'));
      order.push(url);
      response.end('fine');
    });
    const other = await open();
    const busy = await open();
    busy.write(get('/x').repeat(500));
    await until(() => order.length === 501);
    assert.ok(order.indexOf('/other') < 100, `it came after ${order.indexOf('/other')} requests`);
  });

  test('shares its turns with others that do', async (context) => {
    const order: string[] = [];
    const { open } = await serve(context, ({ url = '' }, response) => {
      order.push(url);
      response.end('fine');
    });
    const [one, two] = [await open(), await open()];
    one.write(get('/one').repeat(200));
    two.write(get('/two').repeat(100));
    await until(() => order.length === 300);
    const lastOfTwo = order.lastIndexOf('/two');
    assert.ok(lastOfTwo < 250, `it came after ${lastOfTwo} requests`);
  });

  test('is not read while its requests wait', async (context) => {
    let begun = 0;
    const { open, sockets } = await serve(context, () => {
      begun += 1;
    });
    const busy = await open();
    busy.write(get('/x').repeat(200_000));
    await until(() => begun === 1);
    await untilSteady(() => sockets[0]?.bytesRead ?? 0);
    assert.ok((sockets[0]?.bytesRead ?? 0) < 1_000_000, `${sockets[0]?.bytesRead} bytes were read`);
    assert.equal(begun, 1);
  });

  test('has nothing more done for it once it has left', async (context) => {
    let begun = 0;
    const { open, sockets } = await serve(context, (_request, response) => {
      begun += 1;
      if (begun === 3) busy.resetAndDestroy();
      response.end('fine');
    });
    const busy = await open();
    busy.write(get('/x').repeat(2_000));
    await until(() => sockets[0]?.destroyed === true);
    const atEnd = begun;
    await untilSteady(() => begun);
    assert.ok(begun < 500, `${begun} requests were begun`);
    assert.equal(begun, atEnd);
  });

  test('has the pieces of a body read some at a time, however small they are, and all of them', async (context) => {
    let turn = 0;
    let isOver = false;
    const tick = () => {
      turn += 1;
      if (!isOver) setImmediate(tick);
    };
    const pieces = new Map<number, number>();
    let bytes = 0;
    const { open } = await serve(context, (request, response) => {
      request.on('data', (piece: Buffer) => {
        pieces.set(turn, (pieces.get(turn) ?? 0) + 1);
        bytes += piece.length;
      });
      request.on('end', () => response.end('fine'));
    });
    const client = await open();
    tick();
    client.write(`${chunkedHead}${'1\r\nx\r\n'.repeat(50_000)}0\r\n\r\n`);
    const [answer] = await once(client, 'data');
    isOver = true;
    assert.match(String(answer), /^HTTP\/1\.1 200 /);
    assert.equal(bytes, 50_000);
    assert.ok(Math.max(...pieces.values()) < 5_000, `${Math.max(...pieces.values())} pieces in one turn`);
  });

  test('has no more of a body taken than somebody reads', async (context) => {
    const arrived = Promise.withResolvers<{ request: IncomingMessage; response: ServerResponse }>();
    const { open } = await serve(context, (request, response) => arrived.resolve({ request, response }));
    const client = await open();
    client.write(`${chunkedHead}${'1\r\nx\r\n'.repeat(50_000)}0\r\n\r\n`);
    const { request, response } = await arrived.promise;
    await untilSteady(() => request.readableLength);
    assert.ok(request.readableLength < 2_000, `${request.readableLength} pieces wait`);
    let bytes = 0;
    for await (const piece of request) bytes += piece.length;
    assert.equal(bytes, 50_000);
    response.end('fine');
    await once(client, 'data');
  });

  test('has a large body of usual pieces read whole', async (context) => {
    let bytes = 0;
    const { open } = await serve(context, (request, response) => {
      request.on('data', (piece: Buffer) => {
        bytes += piece.length;
      });
      request.on('end', () => response.end('fine'));
    });
    const client = await open();
    client.write(`POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n`);
    client.write(Buffer.alloc(10_000_000));
    await once(client, 'data');
    assert.equal(bytes, 10_000_000);
  });

  test('has its answers in full when it reads them late', async (context) => {
    const { open } = await serve(context, (_request, response) => response.end('x'.repeat(100_000)));
    const client = await open();
    client.pause();
    client.write(get('/x').repeat(100));
    await sleep(50);
    let bytes = 0;
    client.on('data', (piece) => {
      bytes += piece.length;
    });
    client.resume();
    await until(() => bytes > 100 * 100_000);
  });
});

test('a connection that rests has nothing begun or read, and others have', { timeout: 120_000 }, async (context) => {
  const order: string[] = [];
  const handle: Handle = ({ url = '' }, response) => {
    order.push(url);
    response.end('fine');
  };
  const { open, sockets } = await serve(context, handle, ({ url }) => (url === '/last' ? 100_000 : 0));
  const resting = await open();
  resting.write(get('/last') + get('/x'));
  await until(() => order.length === 1);
  resting.write(get('/x').repeat(100_000));
  await untilSteady(() => sockets[0]?.bytesRead ?? 0);
  assert.ok((sockets[0]?.bytesRead ?? 0) < 1_000_000, `${sockets[0]?.bytesRead} bytes were read`);
  const other = await open();
  other.write(get('/other').repeat(3));
  await until(() => order.length === 4);
  assert.deepEqual(order, ['/last', '/other', '/other', '/other']);
});

test('a connection that has rested goes on', { timeout: 120_000 }, async (context) => {
  const order: string[] = [];
  const handle: Handle = ({ url = '' }, response) => {
    order.push(url);
    response.end('fine');
  };
  const { open } = await serve(context, handle, () => 20);
  const client = await open();
  client.write(get('/a') + get('/b'));
  await until(() => order.length === 2);
  client.write(get('/c'));
  await until(() => order.length === 3);
  assert.deepEqual(order, ['/a', '/b', '/c']);
});

test(
  'a body that is whole before somebody reads it does not stop the connection',
  { timeout: 240_000 },
  async (context) => {
    const { open } = await serve(context, (request, response) => {
      setImmediate(() => request.on('end', () => response.end('fine')).resume());
    });
    const client = await open();
    for (let round = 0; round < 3; round++) {
      client.write('POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}');
      await once(client, 'data');
    }
  },
);
