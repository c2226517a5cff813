import { Counter, Gauge } from 'prom-client';

import { readRequestKind } from './traffic-counts.ts';
import type { TrafficCounts } from './traffic-counts.ts';

type Add = (labels: Readonly<Record<string, string | number>>, value: number) => void;

/** Metrics that take their values from the counts whenever they are read. */
export function createTrafficMetrics(counts: TrafficCounts): readonly (Counter | Gauge)[] {
  return [
    counter('gatehouse_http_requests_total', 'HTTP requests answered.', ['edge', 'status', 'verdict'], (add) => {
      for (const { edge, requests } of counts.edges())
        for (const [kind, count] of requests) add({ edge, ...readRequestKind(kind) }, count);
    }),
    counter('gatehouse_tcp_connections_total', 'TCP connections.', ['edge', 'verdict'], (add) => {
      for (const { edge, connections } of counts.edges())
        for (const [verdict, count] of connections) add({ edge, verdict }, count);
    }),
    counter('gatehouse_tcp_bytes_total', 'Bytes through TCP edges.', ['edge', 'direction'], (add) => {
      for (const { edge, closed, bytesIn, bytesOut } of counts.edges()) {
        if (closed === 0) continue;
        add({ edge, direction: 'in' }, bytesIn);
        add({ edge, direction: 'out' }, bytesOut);
      }
    }),
    readGauge('gatehouse_tcp_open_connections', 'TCP connections open now.', () => counts.openTcp),
    readGauge(
      'gatehouse_https_open_connections',
      'Connections to the HTTPS listener open now.',
      () => counts.openHttps,
    ),
  ];
}

/** A counter whose values are read when it is asked for. */
export function counter(name: string, help: string, labelNames: string[], addAll: (add: Add) => void): Counter {
  return new Counter({
    name,
    help,
    labelNames,
    registers: [],
    collect() {
      this.reset();
      addAll((labels, value) => {
        this.inc(labels, value);
      });
    },
  });
}

export function readGauge(name: string, help: string, read: () => number): Gauge {
  return new Gauge({
    name,
    help,
    registers: [],
    collect() {
      this.set(read());
    },
  });
}
