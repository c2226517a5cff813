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

test('traffic is counted by edge, and what is read does not change by being read', async () => {
  const metrics = new Metrics();
  const answered = { operationId: 'op_1', routeId: undefined, source: '', protocol: '1.1', method: 'GET' } as const;
  const request = { ...answered, host: '', path: '', durationMs: 1, upstreamMs: undefined, errorCode: undefined };
  metrics.httpAnswered({ ...request, edgeId: 'a', status: 200 });
  metrics.httpAnswered({ ...request, edgeId: 'a', status: 200 });
  metrics.httpAnswered({ ...request, edgeId: 'a', status: 403, errorCode: 3205 });
  metrics.httpAnswered({ ...request, edgeId: 'a', status: 403 });
  metrics.httpAnswered({ ...request, edgeId: undefined, status: 404 });
  for (const verdict of ['allowed', 'allowed', 'refused_by_module'] as const) metrics.tcpOpened('b', verdict);
  const closed = { edgeId: 'b', source: '', durationMs: 1, reason: '' };
  metrics.tcpOpened('c', 'allowed');
  metrics.tcpClosed({ ...closed, bytesIn: 3, bytesOut: 50 });
  metrics.tcpClosed({ ...closed, bytesIn: 4, bytesOut: 0 });
  metrics.httpsOpened();
  metrics.httpsOpened();
  metrics.httpsClosed();

  const read = async () => {
    const lines = (await metrics.registry.metrics()).split('\n');
    return lines.filter((line) => /^gatehouse_(http_|tcp_|https_)/.test(line)).toSorted();
  };
  const first = await read();
  assert.deepEqual(first, [
    'gatehouse_http_requests_total{edge="a",status="200",verdict="allowed"} 2',
    'gatehouse_http_requests_total{edge="a",status="403",verdict="allowed"} 1',
    'gatehouse_http_requests_total{edge="a",status="403",verdict="refused"} 1',
    'gatehouse_http_requests_total{edge="none",status="404",verdict="allowed"} 1',
    'gatehouse_https_open_connections 1',
    'gatehouse_tcp_bytes_total{edge="b",direction="in"} 7',
    'gatehouse_tcp_bytes_total{edge="b",direction="out"} 50',
    'gatehouse_tcp_connections_total{edge="b",verdict="allowed"} 2',
    'gatehouse_tcp_connections_total{edge="b",verdict="refused_by_module"} 1',
    'gatehouse_tcp_connections_total{edge="c",verdict="allowed"} 1',
    'gatehouse_tcp_open_connections 1',
  ]);
  assert.deepEqual(await read(), first);
});
