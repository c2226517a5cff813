import assert from 'node:assert/strict';
import { test } from 'node:test';

import { drawScreen, maxScreenLines } from './screen.ts';
import type { ScreenContent } from './screen.ts';

const content: ScreenContent = {
  state: { kind: 'online', address: 'https://a.test', target: 'http://localhost:3000' },
  address: 'https://a.test',
  target: 'http://localhost:3000',
  inspected: 'http://127.0.0.1:4040',
  requests: 40,
  connections: 0,
  lines: Array.from({ length: maxScreenLines }, (_, at) => ({
    time: '10:11:12',
    request: { method: 'GET', path: `/path/${at}`, status: 200, ms: 12, isWhole: true },
  })),
};

test('the view has the state, the address and the newest requests', () => {
  const lines = drawScreen(content, { columns: 80, rows: 40 });
  assert.ok(lines.includes('status    online'));
  assert.ok(lines.includes('address   https://a.test -> http://localhost:3000'));
  assert.ok(lines.includes('inspect   http://127.0.0.1:4040'));
  assert.match(lines.at(-1) ?? '', /^10:11:12 {2}GET +\/path\/19 +200 +12 ms$/);
  const down = drawScreen(
    { ...content, state: { kind: 'offline', reason: 'no network', retryMs: 3000 } },
    { columns: 80, rows: 40 },
  );
  assert.ok(down.includes('status    offline: no network; trying again in 3.0 s'));
});

test('the view fits every size of the terminal', () => {
  const long = {
    time: '10:11:12',
    request: { method: 'GET', path: `/${'x'.repeat(500)}`, status: 200, ms: 1, isWhole: true },
  };
  for (const columns of [1, 10, 40, 80, 300]) {
    for (const rows of [1, 2, 5, 8, 24, 100]) {
      const lines = drawScreen({ ...content, lines: [...content.lines, long] }, { columns, rows });
      assert.ok(lines.length < Math.max(2, rows), `${lines.length} lines in ${rows} rows`);
      assert.ok(
        lines.every((line) => line.length <= columns),
        `${columns} columns`,
      );
    }
  }
});

test('text of others cannot command the terminal', () => {
  const [first = ''] = drawScreen(
    { ...content, lines: [{ time: 't', text: 'a\u001B[2J\u009B1m\r\nb\u202Ec' }] },
    { columns: 80, rows: 24 },
  ).slice(-1);
  assert.equal(first, 't  a [2J 1m b c');
});
