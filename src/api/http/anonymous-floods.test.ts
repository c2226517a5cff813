import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { onAnyGatehouse } from '../../../test/support/shared-gatehouse.ts';

const get = (path: string, head = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${head}\r\n`;

onAnyGatehouse('very many requests without a caller', (g) => {
  const open = async (context: TestContext): Promise<Socket> => {
    const { hostname, port } = new URL(g().url);
    const socket = connect(Number(port), hostname);
    context.after(() => socket.destroy());
    await once(socket, 'connect');
    return socket;
  };
  const ask = async (socket: Socket, request: string): Promise<void> => {
    socket.write(request);
    await once(socket, 'data');
  };
  const linesOf = (path: string) => g().logLines.filter((line) => line.includes(`"path":"${path}"`)).length;

  test('have a line each at first, then one a minute with their number', { timeout: 120_000 }, async (context) => {
    const socket = await open(context);
    for (let at = 0; at < 200; at++) await ask(socket, get('/nobody'));
    assert.ok(linesOf('/nobody') >= 1 && linesOf('/nobody') <= 60, String(linesOf('/nobody')));
    for (let at = 0; at < 5; at++) assert.equal((await g().get('/api_keys?limit=1')).status, 200);
    assert.equal(linesOf('/api_keys'), 5, 'every call of a caller has a line');
  });

  test('slow down their own connections, and no caller of the same source', { timeout: 300_000 }, async (context) => {
    const sockets = await Promise.all(Array.from({ length: 50 }, () => open(context)));
    const caller = await open(context);
    const token = `Authorization: Bearer ${g().token}\r\nService-Version: 2\r\n`;
    const flood = { asked: 0 };
    const floods = sockets.map(async (socket) => {
      for (; flood.asked < 12_000; flood.asked++) await ask(socket, get('/healthz'));
    });
    // Beyond what a source may make at once, 50 connections share 200 calls a second.
    let fewest = Infinity;
    while (fewest > 50 && flood.asked < 12_000) {
      const before = flood.asked;
      for (let at = 0; at < 20; at++) await ask(caller, get('/api_keys?limit=1', token));
      fewest = Math.min(fewest, flood.asked - before);
    }
    assert.ok(fewest <= 50, `${fewest} requests beside 20 calls`);
    for (const socket of sockets) socket.emit('data', '');
    flood.asked = 12_000;
    await Promise.allSettled(floods);
  });
});
