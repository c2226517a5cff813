import { Counter, Gauge, Histogram, Registry } from 'prom-client';

import { refusals } from '../errors/refusals.ts';
import type { BoundReport } from '../gateway/bounds/bound-reports.ts';
import type { HttpAnswered, TcpClosed, Verdict } from '../gateway/engine.ts';
import { countOne, idLimit, otherIds, requestKind, TrafficCounts } from './traffic-counts.ts';
import { createTrafficMetrics, readGauge } from './traffic-metrics.ts';

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
  readonly #failedAuthentications = this.#counter(
    'gatehouse_failed_authentications_total',
    'Calls without a valid credential, by how they were answered.',
    ['answer'],
  );
  readonly #faultyListeners = this.#gauge('gatehouse_faulty_listeners', 'Ports of TCP edges that cannot be opened.');
  readonly #faultyEntries = this.#gauge(
    'gatehouse_faulty_entries',
    'Entries of the configuration that cannot be loaded; what they decide about is closed.',
  );
  readonly #boundLimit = this.#gauge('gatehouse_bound_limit', 'Bounds, each for one process of the gateway.', [
    'bound',
  ]);
  readonly #boundInUse = this.#gauge(
    'gatehouse_bound_in_use',
    'Use of each bound, in the process and by the source, account or backend that uses most of it.',
    ['bound'],
  );
  readonly #boundRefusals = this.#counter(
    'gatehouse_bound_refusals_total',
    'Connections, requests and encoders that a bound has refused.',
    ['bound'],
  );
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
  readonly #inwardRefusals = this.#counter(
    'gatehouse_inward_refusals_total',
    'Connections refused because they lead to a listener of this installation, or to a link-local address.',
    ['leads_to'],
  );
  readonly #callsRefused = this.#counter(
    'gatehouse_api_calls_refused_total',
    'API calls refused for their number: overloaded, account_busy, principal_busy, bodies_too_large or rate_limited.',
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

  /** `leadsTo` is a kind of listener, `link_local`, or `arrival` for a connection that was reset on arrival. */
  inwardRefused(leadsTo: string): void {
    this.#inwardRefusals.inc({ leads_to: leadsTo });
  }

  /** `answer` is one of a few words. */
  authenticationFailed(answer: string): void {
    this.#failedAuthentications.inc({ answer });
  }

  boundsReported(reports: readonly BoundReport[]): void {
    for (const { bound, limit, inUse, refused } of reports) {
      this.#boundLimit.set({ bound }, limit);
      this.#boundInUse.set({ bound }, inUse);
      this.#boundRefusals.inc({ bound }, refused);
    }
  }

  setFaultyListeners(count: number): void {
    this.#faultyListeners.set(count);
  }

  watchStorage(isFull: () => boolean): void {
    const help = '1 while the disk of the database is full: writes are refused, reading goes on.';
    this.registry.registerMetric(readGauge('gatehouse_storage_full', help, () => (isFull() ? 1 : 0)));
  }

  setFaultyEntries(count: number): void {
    this.#faultyEntries.set(count);
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

  #gauge(name: string, help: string, labelNames: string[] = []): Gauge {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }
}

function bounded(known: Set<string>, id: string): string {
  if (known.has(id)) return id;
  if (known.size >= idLimit) return otherIds;
  known.add(id);
  return id;
}
