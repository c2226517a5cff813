import { setTimeout as sleep } from 'node:timers/promises';

import type { FastifyInstance } from 'fastify';

import { ServedNames } from '../acme/served-names.ts';
import { buildApi, limitConnections, limitFailures, ownConnections } from './build-api.ts';
import type { Config } from '../config/config.ts';
import { hasApi, hasGateway } from '../config/roles.ts';
import type { RunningEngine } from '../gateway/start-engine.ts';
import { thisMachine } from '../lib/this-machine.ts';
import { LinkDirectory } from '../links/link-directory.ts';
import type { OpenStream } from '../links/stream-request.ts';
import type { Logger } from '../log.ts';
import { EntryFaults } from '../observe/entry-faults.ts';
import { ListenerFaults } from '../observe/listener-faults.ts';
import { LiveTraffic } from '../observe/live-traffic.ts';
import { measureEventLoopDelay } from '../observe/event-loop-delay.ts';
import { serveMetrics } from '../observe/metrics-server.ts';
import { Metrics } from '../observe/metrics.ts';
import { createTrafficObserver, LateWarnings } from '../observe/traffic-observer.ts';
import { openAndPublish } from './open-and-publish.ts';
import { keyUses } from '../resources/api-keys/service.ts';
import { unopenedPorts } from '../resources/edges/service.ts';
import { ruleSweeper } from '../resources/ip-policy-rules/service.ts';
import { warnings } from '../resources/ip-restrictions/service.ts';
import { bootstrap } from '../resources/principals/service.ts';
import type { Registration } from '../resources/processes/service.ts';
import { certificateEnds } from '../resources/tls-certificates/service.ts';
import { traffic } from '../resources/traffic/service.ts';
import { startAcme } from './start-acme.ts';
import { startAgents } from './agents/start-agents.ts';
import type { RunningAgents } from './agents/start-agents.ts';
import type { ResourceContext } from '../resources/resource.ts';
import type { Listener } from '../snapshot/contract.ts';
import { configuredListeners, createGateway } from './start-gateway.ts';
import { StoreUnavailableError } from '../store/database.ts';
import { keepChangeLogShort } from '../store/write/keep-change-log-short.ts';

const databaseRetryMs = 500;

/** A running Gatehouse. Disposing of it drains and stops it. */
export interface App extends AsyncDisposable {
  readonly context: ResourceContext;
  readonly api: FastifyInstance | undefined;
  /** Base URL of the API; undefined if this process has none. */
  readonly apiUrl: string | undefined;
  readonly engine: RunningEngine | undefined;
  /** Undefined in a process of the API alone. */
  readonly agents: RunningAgents | undefined;
  /** Undefined where metrics are off. */
  readonly metricsPort: number | undefined;
  /** Token of the first API key, on the first start only. */
  readonly firstToken: string | undefined;
  /** True at the first start over this database. */
  readonly isNew: boolean;
}

/**
 * Starts the parts of the role. Without its database, a gateway serves the last configuration from its file, and the
 * other parts wait for the database until `signal` aborts.
 */
export async function startApp(config: Config, log: Logger, signal?: AbortSignal): Promise<App> {
  // Stops in reverse order; a fault during the start stops the parts that are running.
  await using started = new AsyncDisposableStack();
  const metrics = new Metrics();
  const lateWarnings = new LateWarnings();
  const entryFaults = new EntryFaults(metrics, log);
  const listenerFaults = new ListenerFaults();
  const live = new LiveTraffic({
    isCarriedHere: config.role !== 'api',
    limit: config.trafficStreams,
    observer: metrics,
  });
  const observed = { metrics, log, warnings: lateWarnings, entryFaults, listenerFaults, live };
  const observer = createTrafficObserver({ ...observed, accessLogShare: config.accessLog });
  const directory = new LinkDirectory(thisMachine().networkId);
  // The way to agents is open later than the gateway; visitors who come before wait for it, within the limit of a dial.
  const toAgents = Promise.withResolvers<OpenStream>();
  const gateway = hasGateway(config)
    ? started.use(
        createGateway(config, observer, log, async (request, user) => (await toAgents.promise)(request, user)),
      )
    : undefined;

  const served = config.acme === 'on' && config.role !== 'agents' ? new ServedNames() : undefined;
  const followers = served === undefined ? [directory] : [directory, served];
  const open = () => openAndPublish(config, log, metrics, gateway, followers, observer);
  const { context, access, publisher, registration } = await open().catch(async (error: unknown) => {
    if (!(error instanceof StoreUnavailableError) || !(await gateway?.startFromFile())) throw error;
    log.error({ err: error }, 'the database cannot be reached: the gateway serves the last configuration it knew');
    return untilAvailable(open, signal);
  });
  started.use(context.store);
  const { services } = context;
  lateWarnings.to(services.get(warnings));
  services.provide(traffic, live);
  services.provide(unopenedPorts, listenerFaults);
  started.defer(() => services.get(warnings).flush());
  started.defer(() => services.get(keyUses).flush());
  // Drained before the store closes, so that the warnings of its last traffic are kept.
  if (gateway !== undefined) started.defer(() => gateway.drain());
  // Removed when the API and the metrics are closed, and before the gateway stops taking changes.
  started.use(registration);

  // An address that is taken, or a configuration by a newer program: better not to start than to serve nothing.
  gateway?.checkServing();

  if (config.changeLogDays !== undefined) {
    const onFault = (error: unknown) => {
      log.error({ err: error }, 'old changes could not be deleted');
    };
    started.use(keepChangeLogShort(context.store, config.changeLogDays, onFault));
  }

  let isStarted = false;
  const unready = () => {
    if (!isStarted) return 'it is starting';
    if (context.store.isStale) return 'its database has not answered lately';
    return publisher.lagging ? 'the newest change is not yet in force' : undefined;
  };
  const { store } = context;
  metrics.watchStorage(() => store.isFull);
  const readiness = {
    unready,
    faultyEntries: () => entryFaults.count,
    unopenedPorts: () => listenerFaults.list().map(({ port }) => port),
    isFull: () => store.isFull,
  };
  const isOurs = ownConnections(gateway, registration, observer);
  const isBesideTraffic = () => (gateway?.engine?.clientCount ?? 0) > 0;
  const failures = started.use(limitFailures(config, metrics, log));
  const connections = limitConnections(config, metrics, log);
  const shared = { config, context, access, observer, failures, metrics, log };
  const agents =
    config.role === 'api'
      ? undefined
      : started.use(await startAgents({ ...shared, processId: registration.id, gateway, directory }));
  if (agents !== undefined) toAgents.resolve(agents.openStream);
  const api = hasApi(config)
    ? await buildApi({ ...readiness, ...shared, isOurs, isBesideTraffic, connections })
    : undefined;
  const apiUrl = await api?.listen(config.apiListen);
  if (api !== undefined) {
    log.info(`Server listening at ${apiUrl}`);
    started.defer(() => api.close());
    const onFault = (error: unknown) => {
      log.error({ err: error }, 'rules that are in force no longer could not be deleted; trying again');
    };
    started.use(services.get(ruleSweeper).start(onFault));
  }
  if (api !== undefined) {
    const ends = services.get(certificateEnds);
    started.use(await ends.start(log));
    metrics.watchCertificates(ends);
  }
  if (config.metricsListen !== undefined) {
    metrics.watchProcess();
    started.use(measureEventLoopDelay(metrics.registry));
  }
  const metricsServer =
    config.metricsListen && started.use(await serveMetrics(metrics, config.metricsListen, { isOurs, connections }));

  const openedPorts = {
    api: apiUrl === undefined ? undefined : Number(new URL(apiUrl).port),
    metrics: metricsServer?.port,
  };
  await announceOpened(registration, config, {
    ...openedPorts,
    https: gateway?.engine?.httpsPort(),
    agents: agents?.port,
    links: agents?.linkPort,
  });

  registration.reportWith(() => ({
    configurationVersion: publisher.version,
    unopenedPorts: listenerFaults.list(),
  }));

  if (served !== undefined) started.use(await startAcme({ config, context, served, metrics, log }));

  // Last, because the token is shown only once: a start that fails must not make one.
  const firstToken = api && (await services.get(bootstrap).run(config.bootstrapToken));
  if (api !== undefined && firstToken === undefined && config.bootstrapToken !== undefined) {
    log.info(
      'bootstrap_token is ignored: this database has accounts already, and the token counts at the first start only',
    );
  }
  isStarted = true;

  const running = started.move();
  return {
    context,
    api,
    apiUrl,
    engine: gateway?.engine,
    agents,
    metricsPort: metricsServer?.port,
    isNew: firstToken !== undefined,
    // A token that the operator has chosen is not printed.
    firstToken: config.bootstrapToken === undefined ? firstToken : undefined,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Tells the others which ports the system has chosen, where the settings leave it to the system. */
async function announceOpened(
  registration: Registration,
  config: Config,
  opened: Readonly<Partial<Record<Listener['kind'], number | undefined>>>,
): Promise<void> {
  const configured = configuredListeners(config);
  const actual = configured.map((listener) => ({ ...listener, port: listener.port || (opened[listener.kind] ?? 0) }));
  if (actual.some(({ port }, at) => port !== configured[at]?.port)) await registration.update(actual);
}

/** Retries until the database can be reached. Any other fault is thrown: waiting would not cure it. */
async function untilAvailable<T>(open: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  for (;;) {
    await sleep(databaseRetryMs, undefined, signal === undefined ? {} : { signal });
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
    }
  }
}
