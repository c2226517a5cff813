import { Counter, Gauge, Histogram, Registry } from 'prom-client';

import { refusals } from '../errors/refusals.ts';
import type { HttpAnswered, TcpClosed, Verdict } from '../gateway/engine.ts';
import { countOne, idLimit, otherIds, requestKind, TrafficCounts } from './traffic-counts.ts';
import { createTrafficMetrics } from './traffic-metrics.ts';

const refusalCodes: ReadonlySet<number> = new Set(refusals.map(({ code }) => code));

const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** All metrics of the process, for Prometheus. */
export class Metrics {
  readonly registry = new Registry();
  readonly #traffic = new TrafficCounts();
  readonly #restrictions = new Set<string>();
  readonly #upstream = new Histogram({
    name: 'gatehouse_upstream_seconds',
    help: 'From sending a request upstream to the head of its response.',
    buckets: secondsBuckets,
    registers: [this.registry],
  });
  readonly #warnings = this.#counter('gatehouse_warnings_total', 'Warnings of restrictions that are not enforced.', [
    'restriction',
  ]);
  readonly #faultyListeners = this.#gauge('gatehouse_faulty_listeners', 'Ports of TCP edges that cannot be opened.');
  readonly #version = this.#gauge('gatehouse_snapshot_version', 'Version of the configuration in force.');
  readonly #publishedAt = this.#gauge(
    'gatehouse_snapshot_timestamp_seconds',
    'When the configuration in force was put in force.',
  );
  readonly #compile = new Histogram({
    name: 'gatehouse_publish_seconds',
    help: 'From a commit to the change being in force.',
    buckets: secondsBuckets,
    registers: [this.registry],
  });
  readonly #callsRefused = this.#counter(
    'gatehouse_api_calls_refused_total',
    'API calls refused for their number: overloaded, account_busy or rate_limited.',
    ['reason'],
  );
  readonly #callsWaiting = this.#gauge('gatehouse_api_calls_waiting', 'API calls that wait for their turn now.');
  readonly #publishFaults = this.#counter(
    'gatehouse_publish_faults_total',
    'Changes that are stored but could not be put in force.',
    [],
  );

  constructor() {
    for (const metric of createTrafficMetrics(this.#traffic)) this.registry.registerMetric(metric);
  }

  httpAnswered({ edgeId, status, errorCode, upstreamMs }: HttpAnswered): void {
    const isRefused = errorCode !== undefined && refusalCodes.has(errorCode);
    countOne(this.#traffic.of(edgeId ?? 'none').requests, requestKind(status, isRefused));
    if (upstreamMs !== undefined) this.#upstream.observe(upstreamMs / 1000);
  }

  tcpOpened(edgeId: string, verdict: Verdict): void {
    countOne(this.#traffic.of(edgeId).connections, verdict);
    if (verdict === 'allowed') this.#traffic.openTcp++;
  }

  tcpClosed({ edgeId, bytesIn, bytesOut }: TcpClosed): void {
    const counts = this.#traffic.of(edgeId);
    counts.closed++;
    counts.bytesIn += bytesIn;
    counts.bytesOut += bytesOut;
    this.#traffic.openTcp--;
  }

  httpsOpened(): void {
    this.#traffic.openHttps++;
  }

  httpsClosed(): void {
    this.#traffic.openHttps--;
  }

  warned(restrictionIds: readonly string[]): void {
    for (const id of restrictionIds) this.#warnings.inc({ restriction: bounded(this.#restrictions, id) });
  }

  setFaultyListeners(count: number): void {
    this.#faultyListeners.set(count);
  }

  published(version: number, durationMs: number): void {
    this.#version.set(version);
    this.#publishedAt.set(Date.now() / 1000);
    this.#compile.observe(durationMs / 1000);
  }

  callRefused(reason: string): void {
    this.#callsRefused.inc({ reason });
  }

  callsWaiting(count: number): void {
    this.#callsWaiting.set(count);
  }

  publishFailed(): void {
    this.#publishFaults.inc();
  }

  #counter(name: string, help: string, labelNames: string[]): Counter {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  #gauge(name: string, help: string): Gauge {
    return new Gauge({ name, help, registers: [this.registry] });
  }
}

function bounded(known: Set<string>, id: string): string {
  if (known.has(id)) return id;
  if (known.size >= idLimit) return otherIds;
  known.add(id);
  return id;
}
