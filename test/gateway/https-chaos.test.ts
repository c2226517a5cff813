import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { connectClient, get, openHttp2, sendRaw } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import type { TestGateway } from './support/https-gateway.ts';
import { startRawUpstream } from './support/https-upstream.ts';

const answers = [
  'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc',
  `HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n${'a'.repeat(300_000)}`,
  'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc',
  'nonsense\r\n\r\n',
  '',
];

/** Generates random numbers, the same for the same seed. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

test('clients and upstreams that vanish at any moment leave nothing open and nobody else unserved', async () => {
  const random = numbers(7);
  const pick = (below: number): number => Math.floor(random.next().value * below);
  await using upstream = await startRawUpstream((socket, text) => {
    if (text.includes('/steady')) {
      socket.write(answers[0] ?? '');
      return;
    }
    const answer = answers[pick(answers.length)] ?? '';
    const cut = pick(3) === 0 ? pick(answer.length + 1) : answer.length;
    setTimeout(() => {
      socket.write(answer.slice(0, cut));
      const end = pick(3);
      if (end === 0) socket.resetAndDestroy();
      if (end === 1) socket.end();
    }, pick(8));
  });
  await using gateway = await startGateway(
    [backendEntry('b', upstream.port), edgeEntry('e', ['app.test'], [prefixRoute('/', toBackend('b'))])],
    // Long enough for a client that has connected to send its request on a busy machine.
    { timeouts: { idleMs: 5000, keepAliveMs: 2000 } },
  );
  const bursts = Array.from({ length: 30 }, (_, at) => (at % 2 === 0 ? burstOfHttp2 : burstOfHttp1)(gateway, pick));
  await Promise.all(bursts);
  assert.equal((await sendRaw(gateway.port, get('/steady'))).body, 'abc');
  // The limit is far beyond those above, so the drain ends in time only if nothing is left open.
  await gateway.drain(3_600_000);
  while (upstream.open > 0) await sleep(10);
});

async function burstOfHttp2({ port }: TestGateway, pick: (below: number) => number): Promise<void> {
  const session = openHttp2(port);
  session.on('error', () => {});
  const streams = Array.from({ length: 10 }, () => {
    const stream = session.request({
      ':path': '/',
      ':authority': 'app.test',
      ':method': pick(2) === 0 ? 'GET' : 'POST',
    });
    stream.on('error', () => {}).resume();
    setTimeout(() => stream.close(), pick(25));
    return stream;
  });
  await Promise.all(streams.map((stream) => new Promise((resolve) => stream.on('close', resolve))));
  if (pick(2) === 0) session.destroy();
  else session.close();
}

async function burstOfHttp1({ port }: TestGateway, pick: (below: number) => number): Promise<void> {
  const socket = await connectClient(port);
  socket.on('error', () => {}).resume();
  socket.write('POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 6\r\n\r\nabc');
  setTimeout(() => socket.write('def'), pick(10));
  setTimeout(() => socket.destroy(), 10 + pick(25));
  // `once` would reject with the reset of a gateway that has answered and closed before the rest of the request came.
  await new Promise((resolve) => socket.on('close', resolve));
}
