import assert from 'node:assert/strict';
import { test } from 'node:test';

import { usualTimes } from './agent.ts';
import { Backoff } from './backoff.ts';
import { parseTarget } from './target.ts';
import type { TunnelKind } from './target.ts';

test('targets in every form', () => {
  const forms: readonly (readonly [TunnelKind, string, host: string, port: number, url: string])[] = [
    ['http', '3000', 'localhost', 3000, 'http://localhost:3000'],
    ['http', 'box:3000', 'box', 3000, 'http://box:3000'],
    ['http', 'http://box:3000', 'box', 3000, 'http://box:3000'],
    ['http', 'http://box/', 'box', 80, 'http://box'],
    ['http', 'https://box', 'box', 443, 'https://box'],
    ['http', 'HTTPS://Box:8443', 'box', 8443, 'https://box:8443'],
    ['http', '[::1]:3000', '::1', 3000, 'http://[::1]:3000'],
    ['http', 'https://[::1]', '::1', 443, 'https://[::1]'],
    ['tcp', '22', 'localhost', 22, 'tcp://localhost:22'],
    ['tcp', 'tcp://10.0.0.1:22', '10.0.0.1', 22, 'tcp://10.0.0.1:22'],
    ['tls', '8443', 'localhost', 8443, 'tls://localhost:8443'],
  ];
  for (const [kind, text, host, port, url] of forms) {
    assert.deepEqual(parseTarget(kind, text), { host, port, isTls: url.startsWith('https:'), url }, text);
  }
});

test('targets that are none', () => {
  const wrong: readonly (readonly [TunnelKind, string])[] = [
    ['http', ''],
    ['http', '0'],
    ['http', '65536'],
    ['http', '-1'],
    ['http', 'box'],
    ['http', 'tcp://box:1'],
    ['http', 'http://box:3000/path'],
    ['http', 'http://user@box:3000'],
    ['tcp', 'http://box:3000'],
    ['tcp', 'tcp://box'],
    ['tls', 'https://box'],
  ];
  for (const [kind, text] of wrong) assert.throws(() => parseTarget(kind, text), { name: 'UsageFault' }, text);
});

test('attempts are made at once, then each second for a while, then more and more seldom', () => {
  const longest = new Backoff(usualTimes.backoffMs, () => 1);
  const waits = Array.from({ length: 30 }, () => longest.next());
  assert.deepEqual(waits.slice(0, 4), [0, 100, 500, 1000]);
  assert.deepEqual(waits.slice(22, 27), [2000, 5000, 10_000, 30_000, 30_000]);
  assert.ok(waits.slice(0, 13).every((wait) => wait <= 1000));
  longest.reset();
  assert.equal(longest.next(), 0);
  const shortest = new Backoff([1000, 30_000], () => 0);
  assert.deepEqual([shortest.next(), shortest.next(), shortest.next(), shortest.next()], [0, 500, 15_000, 15_000]);
});
