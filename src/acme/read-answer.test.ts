import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { axios } from 'acme-client';

import { until } from '../../test/e2e/gateway/support/until.ts';
import { useFetch } from './authority-requests.ts';
import { OrderFault } from './order-fault.ts';
import { askRenewalInfo } from './renewal-info.ts';

/** An authority that answers all requests alike, and counts what it could send. */
async function startAuthority(t: TestContext, answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_, response) => answer(response)).listen(0, '127.0.0.1');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  // The server listens on a port.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/directory`;
}

const window = { suggestedWindow: { start: '2027-01-01T00:00:00Z', end: '2027-01-02T00:00:00Z' } };

test('an answer of an authority that does not end is left', { timeout: 30_000 }, async (t) => {
  let left = 0;
  const url = await startAuthority(t, (response) => {
    const piece = Buffer.alloc(65_536, ' ');
    const send = (): void => {
      while (!response.destroyed && response.write(piece));
    };
    response.on('drain', send).once('close', () => (left += 1));
    send();
  });
  await assert.rejects(askRenewalInfo(url, 'a.b'), /longer than 256 kB/);
  useFetch(url);
  await assert.rejects(axios.get(url), (error) => error instanceof OrderFault && /256 kB/.test(error.message));
  await until(async () => left === 2, 'both connections are left');
});

test('the longest answer that makes sense is read, in whatever pieces it comes', async (t) => {
  const text = JSON.stringify(window).padEnd(262_144);
  const url = await startAuthority(t, (response) => {
    for (let at = 0; at < 1_000; at++) response.write(text.slice(at, at + 1));
    response.end(text.slice(1_000));
  });
  assert.equal((await askRenewalInfo(url, 'a.b')).window.startMs, Date.parse('2027-01-01T00:00:00Z'));
  useFetch(url);
  assert.deepEqual((await axios.get(url)).data, window);
});
