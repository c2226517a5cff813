import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

import { refusals } from '../errors/refusals.ts';
import type { HttpAnswered, RateReport, TcpClosed, Verdict } from '../gateway/engine.ts';
import type { WorkerLoad } from '../gateway/workers/balance.ts';
import type { WorkersState } from '../gateway/workers/worker-engine.ts';
import type { BoundReport } from '../lib/bound-reports.ts';
import { PlainHistogram } from './plain-histogram.ts';
import { countOne, idLimit, otherIds, requestKind, TrafficCounts } from './traffic-counts.ts';
import { counter, createTrafficMetrics, readGauge } from './traffic-metrics.ts';

const refusalCodes: ReadonlySet<number> = new Set(refusals.map(({ code }) => code));

const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** All metrics of the process, for Prometheus. */
export class Metrics {
  readonly registry = new Registry();
  readonly #traffic = new TrafficCounts();
  readonly #restrictions = new Set<string>();
  readonly #upstream = new PlainHistogram({
    name: 'gatehouse_upstream_seconds',
    help: 'From sending a request upstream to the head of its response.',
    buckets: secondsBuckets,
  });
  readonly #warnings = this.#counter('gatehouse_warnings_total', 'Warnings of restrictions that are not enforced.', [
    'restriction',
  ]);
  readonly #failedAuthentications = this.#counter(
    'gatehouse_failed_authentications_total',
    'Calls without a valid credential, by how they were answered.',
    ['answer'],
  );
  readonly #wrongPasswords = this.#counter(
    'gatehouse_wrong_passwords_total',
    'Requests to endpoints with basic authentication whose password was wrong (checked), or was not looked at after too many (unchecked).',
    ['answer'],
  );
  readonly #addressFlips = this.#counter(
    'gatehouse_backend_flips_total',
    'Addresses of static backends that went down, or came back.',
    ['to'],
  );
  readonly #rateLimited = this.#counter(
    'gatehouse_rate_limited_total',
    'Requests and connections beyond a rate limit that were refused, or would have been if it were enforced (warned).',
    ['answer'],
  );
  readonly #notEnforced = this.#counter(
    'gatehouse_not_enforced_total',
    'Requests and connections that a module, or an action of a traffic policy, would have refused if it were enforced.',
    ['by'],
  );
  readonly #ratesShared = this.#counter(
    'gatehouse_rate_counts_total',
    'Requests and connections that rate limits let in here and other gateways were told of (told), that others have told of (heard), or that are not told because too many keys wait (dropped).',
    ['way'],
  );
  readonly #faultyListeners = this.#gauge('gatehouse_faulty_listeners', 'Ports of TCP edges that cannot be opened.');
  readonly #faultyEntries = this.#gauge(
    'gatehouse_faulty_entries',
    'Entries of the configuration that cannot be loaded; what they decide about is closed.',
  );
  readonly #boundLimit = this.#gauge('gatehouse_bound_limit', 'Bounds of this process and its workers.', ['bound']);
  readonly #boundInUse = this.#gauge(
    'gatehouse_bound_in_use',
    'Use of each bound, by the source, account, backend or agent that uses most of it.',
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
  readonly #failedHandshakes = this.#counter(
    'gatehouse_tls_handshakes_failed_total',
    'Connections to the HTTPS listener that ended before a request: unknown_name, no_certificate, no_name, plain_http, no_leaf or client.',
    ['reason'],
  );
  readonly #callsRefused = this.#counter(
    'gatehouse_api_calls_refused_total',
    'API calls refused for their number or what they cost: overloaded, account_busy, principal_busy, bodies_too_large, rate_limited or filter_rows.',
    ['reason'],
  );
  readonly #agentRefusals = this.#counter(
    'gatehouse_agent_refusals_total',
    'Agents that were not let in, and endpoints that they were refused, by the number of the error.',
    ['error'],
  );
  readonly #linkFaults = this.#counter(
    'gatehouse_link_faults_total',
    'Connections of visitors that could not be opened over a link, by reason: gone, full or unreachable.',
    ['reason'],
  );
  readonly #linkRefusals = this.#counter(
    'gatehouse_link_refusals_total',
    'Connections to the listener of links that did not prove to be of this installation.',
    [],
  );
  readonly #apiRequests = this.#counter(
    'gatehouse_api_requests_total',
    'API calls answered, by operation and status.',
    ['operation', 'status'],
  );
  readonly #apiSeconds = new Histogram({
    name: 'gatehouse_api_request_seconds',
    help: 'From the head of an API call to the end of its answer, by operation.',
    labelNames: ['operation'],
    buckets: secondsBuckets,
    registers: [this.registry],
  });
  readonly #callsWaiting = this.#gauge('gatehouse_api_calls_waiting', 'API calls that wait for their turn now.');
  readonly #sessionsBegun = this.#counter('gatehouse_dashboard_sign_ins_total', 'Sessions of the dashboard begun.', []);
  readonly #sessionsReplaced = this.#counter(
    'gatehouse_dashboard_sessions_replaced_total',
    'Sessions of the dashboard that ended because their user had too many.',
    [],
  );
  readonly #trafficStreams = this.#gauge('gatehouse_traffic_streams', 'Streams of live traffic that are open.');
  readonly #trafficStreamsRefused = this.#counter(
    'gatehouse_traffic_streams_refused_total',
    'Streams of live traffic that were refused, because their account had too many.',
    [],
  );
  readonly #trafficEventsDropped = this.#counter(
    'gatehouse_traffic_events_dropped_total',
    'Events that streams of live traffic left out, because there were too many at once.',
    [],
  );
  readonly #decisionsKept = this.#counter(
    'gatehouse_decisions_kept_total',
    'Decisions about visitors that were written to the store.',
    [],
  );
  readonly #decisionsDropped = this.#counter(
    'gatehouse_decisions_dropped_total',
    'Decisions about visitors that were not kept: they came faster than they could be written, or the disk was full.',
    [],
  );
  readonly #decisionsBytes = this.#gauge('gatehouse_decisions_bytes', 'Size of the store of decisions, each minute.');
  readonly #decisionsArchiveWaiting = this.#gauge(
    'gatehouse_decisions_archive_waiting',
    'Files of decisions that wait to be copied to the archive, each minute.',
  );
  readonly #decisionsArchiveAside = this.#gauge(
    'gatehouse_decisions_archive_set_aside',
    'Files of decisions that could not be copied to the archive and are tried again later, each minute.',
  );
  readonly #decisionsArchiveLost = this.#gauge(
    'gatehouse_decisions_archive_lost',
    'Files of decisions that were removed before the archive had them, since the start of their keeper.',
  );
  readonly #certificateOrders = this.#counter(
    'gatehouse_certificate_orders_total',
    'Orders of public certificates that this process has carried out, by outcome: issued, failed, or held up by the bound on orders an hour.',
    ['outcome'],
  );
  readonly #publishFaults = this.#counter(
    'gatehouse_publish_faults_total',
    'Changes that are stored but could not be put in force.',
    [],
  );

  constructor() {
    for (const metric of [this.#upstream, ...createTrafficMetrics(this.#traffic)]) this.registry.registerMetric(metric);
  }

  httpAnswered({ edgeId, status, errorCode, upstreamMs }: HttpAnswered): void {
    const isRefused = errorCode !== undefined && refusalCodes.has(errorCode);
    countOne(this.#traffic.of(edgeId ?? 'none').requests, requestKind(status, isRefused));
    if (upstreamMs !== undefined) this.#upstream.add(upstreamMs / 1000);
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

  /** `reason` is one of a few words. */
  handshakeFailed(reason: string): void {
    this.#failedHandshakes.inc({ reason });
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

  /** `answer` is one of two words. */
  passwordRefused(answer: string): void {
    this.#wrongPasswords.inc({ answer });
  }

  ratesCounted(reports: readonly RateReport[]): void {
    for (const { refused, warned } of reports) {
      if (refused > 0) this.#rateLimited.inc({ answer: 'refused' }, refused);
      if (warned > 0) this.#rateLimited.inc({ answer: 'warned' }, warned);
    }
  }

  /** `by` is the name of a module or an action. */
  notEnforced(by: string): void {
    this.#notEnforced.inc({ by });
  }

  /** `way` is one of three words. */
  ratesShared(way: string, requests: number): void {
    this.#ratesShared.inc({ way }, requests);
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

  /** Addresses that are up are only counted, so that the number of lines is bounded. */
  watchAddresses(seen: {
    all(): Iterable<{ readonly backendId: string; readonly address: string; readonly state: string }>;
  }): void {
    const counts = new Gauge({
      name: 'gatehouse_backend_addresses',
      help: 'Addresses of static backends that are watched, by what this gateway sees of them.',
      labelNames: ['state'],
      registers: [],
      collect() {
        const found = new Map([
          ['up', 0],
          ['down', 0],
          ['unchecked', 0],
        ]);
        for (const { state } of seen.all()) found.set(state, (found.get(state) ?? 0) + 1);
        for (const [state, count] of found) this.set({ state }, count);
      },
    });
    const down = new Gauge({
      name: 'gatehouse_backend_address_down',
      help: '1 for an address of a static backend that this gateway sends nothing to.',
      labelNames: ['backend', 'address'],
      registers: [],
      collect() {
        this.reset();
        let lines = 0;
        for (const { backendId: backend, address, state } of seen.all())
          if (state === 'down' && lines++ < idLimit) this.set({ backend, address }, 1);
      },
    });
    for (const metric of [counts, down]) this.registry.registerMetric(metric);
  }

  addressFlipped(to: 'up' | 'down'): void {
    this.#addressFlips.inc({ to });
  }

  watchWorkers(read: () => WorkersState | undefined): void {
    const gauge = (name: string, help: string, valueOf: (load: WorkerLoad) => number): Gauge =>
      new Gauge({
        name,
        help,
        labelNames: ['worker'],
        registers: [this.registry],
        collect() {
          this.reset();
          for (const [worker, load] of read()?.loads ?? []) if (load) this.set({ worker }, valueOf(load));
        },
      });
    gauge('gatehouse_worker_busy_ratio', 'Share of the last second in which a worker was busy.', ({ busy }) => busy);
    gauge('gatehouse_worker_client_connections', 'Connections of clients to a worker.', ({ clients }) => clients);
    gauge('gatehouse_worker_memory_bytes', 'Resident memory of a worker.', ({ memoryBytes }) => memoryBytes);
    const lost = 'Workers that have ended by themselves, and were replaced.';
    this.registry.registerMetric(
      counter('gatehouse_workers_lost_total', lost, [], (add) => {
        add({}, read()?.lost ?? 0);
      }),
    );
  }

  watchHistory(read: () => { readonly changes: number; readonly lostChanges: number }): void {
    const changes = 'Times that the database had another history than before, after a failover or a restore.';
    const lost = 'Changes that this process had seen and that were gone with a history, as far as it knows.';
    this.registry.registerMetric(
      counter('gatehouse_history_changes_total', changes, [], (add) => {
        add({}, read().changes);
      }),
    );
    this.registry.registerMetric(
      counter('gatehouse_lost_changes_total', lost, [], (add) => {
        add({}, read().lostChanges);
      }),
    );
  }

  certificateOrdered(outcome: 'issued' | 'failed' | 'held'): void {
    this.#certificateOrders.inc({ outcome });
  }

  /** Processor, memory, descriptors and garbage collection of this process, under the names that Prometheus has for them. */
  watchProcess(): void {
    collectDefaultMetrics({ register: this.registry });
    // `measureEventLoopDelay` says more, and these are no numbers before their first measurement.
    for (const { name } of this.registry.getMetricsAsArray()) {
      if (name.startsWith('nodejs_eventloop_lag')) this.registry.removeSingleMetric(name);
    }
  }

  watchCertificates(ends: {
    first(count: number): readonly (readonly [id: string, notAfterMs: number])[];
    soon(nowMs: number): readonly (readonly [id: string, source: string])[];
  }): void {
    const gauge = new Gauge({
      name: 'gatehouse_certificate_not_after_seconds',
      help: 'When a certificate ends, in seconds since 1970; of those that end first.',
      labelNames: ['certificate'],
      registers: [],
      collect() {
        this.reset();
        for (const [certificate, endMs] of ends.first(idLimit)) this.set({ certificate }, endMs / 1000);
      },
    });
    this.registry.registerMetric(gauge);
    const soon = new Gauge({
      name: 'gatehouse_certificate_ends_soon',
      help: '1 for a certificate that somebody has to look after: an uploaded one in its last 30 days, an issued one that is overdue.',
      labelNames: ['certificate', 'source'],
      registers: [],
      collect() {
        this.reset();
        for (const [certificate, source] of ends.soon(Date.now()).slice(0, idLimit))
          this.set({ certificate, source }, 1);
      },
    });
    this.registry.registerMetric(soon);
  }

  /** Only accounts that are near a quota have a line, so that their number is bounded. */
  watchQuotas(near: {
    list(count: number): Promise<readonly { accountId: string; quota: string; used: number; most: number }[]>;
  }): void {
    const gauge = new Gauge({
      name: 'gatehouse_quota_used_ratio',
      help: 'Share of a quota that an account has used, 0 to 1; of those that have used 0.8 or more.',
      labelNames: ['account', 'quota'],
      registers: [],
      async collect() {
        // Without the database the other metrics are still wanted.
        const all = await near.list(idLimit).catch(() => []);
        this.reset();
        for (const { accountId: account, quota, used, most } of all)
          this.set({ account, quota }, used / Math.max(most, 1));
      },
    });
    this.registry.registerMetric(gauge);
  }

  watchAgents(agents: { readonly sessions: number; readonly tunnels: number }): void {
    const sessions = readGauge('gatehouse_agent_sessions', 'Sessions of agents that are open.', () => agents.sessions);
    const tunnels = readGauge('gatehouse_agent_tunnels', 'Tunnels of these sessions.', () => agents.tunnels);
    for (const metric of [sessions, tunnels]) this.registry.registerMetric(metric);
  }

  watchRates(rates: { readonly unreachable: number }): void {
    const help = 'Other gateways that this one cannot reach to count rate limits together.';
    this.registry.registerMetric(readGauge('gatehouse_rate_peers_unreachable', help, () => rates.unreachable));
  }

  watchLinks(links: {
    readonly opened: () => number;
    readonly accepted: () => number;
    readonly streams: () => number;
  }): void {
    const { opened, accepted, streams } = links;
    for (const metric of [
      readGauge(
        'gatehouse_links_opened',
        'Links to other processes: those that hold sessions of agents, and gateways.',
        opened,
      ),
      readGauge('gatehouse_links_accepted', 'Links of other processes to this one.', accepted),
      readGauge('gatehouse_link_streams', 'Connections of visitors over the links that were opened.', streams),
    ])
      this.registry.registerMetric(metric);
  }

  /** `reason` is one of a few words. */
  linkFailed(reason: string): void {
    this.#linkFaults.inc({ reason });
  }

  linkRefused(): void {
    this.#linkRefusals.inc();
  }

  agentRefused(code: number): void {
    this.#agentRefusals.inc({ error: String(code) });
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

  /** `operation` is an operation id, or `other`. */
  apiAnswered(operation: string, status: number, durationMs: number): void {
    this.#apiRequests.inc({ operation, status });
    this.#apiSeconds.observe({ operation }, durationMs / 1000);
  }

  callsWaiting(count: number): void {
    this.#callsWaiting.set(count);
  }

  sessionBegun(replaced: number): void {
    this.#sessionsBegun.inc();
    this.#sessionsReplaced.inc(replaced);
  }

  trafficStreams(open: number): void {
    this.#trafficStreams.set(open);
  }

  trafficStreamRefused(): void {
    this.#trafficStreamsRefused.inc();
  }

  trafficEventsDropped(count: number): void {
    this.#trafficEventsDropped.inc(count);
  }

  decisionsKept(count: number): void {
    this.#decisionsKept.inc(count);
  }

  decisionsDropped(count: number): void {
    this.#decisionsDropped.inc(count);
  }

  decisionsSize(bytes: number): void {
    this.#decisionsBytes.set(bytes);
  }

  decisionsArchive({ waiting, aside, lost }: Record<'waiting' | 'aside' | 'lost', number>): void {
    this.#decisionsArchiveWaiting.set(waiting);
    this.#decisionsArchiveAside.set(aside);
    this.#decisionsArchiveLost.set(lost);
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
