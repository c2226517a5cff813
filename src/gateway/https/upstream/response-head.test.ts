import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseResponseHead } from './response-head.ts';

test('headers that Connection names end here, however many it names beside however many there are', () => {
  const named = 'HTTP/1.1 200 OK\r\nConnection: X-A, close, x-b\r\nx-a: 1\r\nX-B: 2\r\nX-C: 3\r\n';
  assert.deepEqual(parseResponseHead(named).headers, ['X-C', '3']);
  const headers = Array.from({ length: 480 }, (_, at) => `${at.toString(36)}:\r\n`).join('');
  const heads = [headers, '', headers].map(
    (lines, at) => `HTTP/1.1 200 OK\r\n${lines}Connection: ${'!,'.repeat(at === 0 ? 0 : 30_000)}\r\n`,
  );
  const ratios: number[] = [];
  for (let round = 0; round < 10; round++) {
    const [ofHeaders = 0, ofOptions = 0, ofBoth = 0] = heads.map((head) => costOf(() => parseResponseHead(head)));
    ratios.push(ofBoth / (ofHeaders + ofOptions));
  }
  // Comparing each header with each option costs some twenty times as much as reading both.
  assert.ok(
    Math.min(...ratios) < 4,
    `both cost ${ratios.map((each) => each.toFixed(1)).join(', ')} times what each does`,
  );
});

/** Microseconds of this thread, one at least. */
function costOf(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return Math.max(1, user + system);
}
