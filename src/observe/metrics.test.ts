import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Metrics } from './metrics.ts';

test('beyond a thousand edges, and a thousand restrictions, the rest is counted together', async () => {
  const metrics = new Metrics();
  for (let at = 0; at < 1_500; at++) {
    metrics.tcpOpened(`edge ${at}`, 'allowed');
    metrics.warned([`restriction ${at}`]);
  }
  const lines = (await metrics.registry.metrics()).split('\n');
  assert.equal(lines.filter((line) => line.startsWith('gatehouse_tcp_connections_total{')).length, 1_001);
  assert.equal(lines.filter((line) => line.startsWith('gatehouse_warnings_total{')).length, 1_001);
  assert.ok(lines.includes('gatehouse_tcp_connections_total{edge="other",verdict="allowed"} 500'));
  assert.ok(lines.includes('gatehouse_warnings_total{restriction="other"} 500'));
});
