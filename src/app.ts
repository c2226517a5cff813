import { setTimeout as sleep } from 'node:timers/promises';

import type { FastifyInstance } from 'fastify';

import { buildApi, limitConnections, limitFailures, ownConnections } from './build-api.ts';
import type { Config } from './config/config.ts';
import type { RunningEngine } from './gateway/start-engine.ts';
import type { Logger } from './log.ts';
import { EntryFaults } from './observe/entry-faults.ts';
import { measureEventLoopDelay } from './observe/event-loop-delay.ts';
import { serveMetrics } from './observe/metrics-server.ts';
import { Metrics } from './observe/metrics.ts';
import { createTrafficObserver, LateWarnings } from './observe/traffic-observer.ts';
import { openAndPublish } from './open-and-publish.ts';
import { keyUses } from './resources/api-keys/service.ts';
import { ruleSweeper } from './resources/ip-policy-rules/service.ts';
import { warnings } from './resources/ip-restrictions/service.ts';
import { bootstrap } from './resources/principals/service.ts';
import type { Registration } from './resources/processes/service.ts';
import type { ResourceContext } from './resources/resource.ts';
import type { Listener } from './snapshot/contract.ts';
import { configuredListeners, createGateway } from './start-gateway.ts';
import { StoreUnavailableError } from './store/database.ts';
import { keepChangeLogShort } from './store/keep-change-log-short.ts';

const databaseRetryMs = 500;

/** A running Gatehouse. Disposing of it drains and stops it. */
export interface App extends AsyncDisposable {
  readonly context: ResourceContext;
  readonly api: FastifyInstance | undefined;
  /** Base URL of the API; undefined if this process has none. */
  readonly apiUrl: string | undefined;
  readonly engine: RunningEngine | undefined;
  /** Undefined where metrics are off. */
  readonly metricsPort: number | undefined;
  /** Token of the first API key, on the first start only. */
  readonly firstToken: string | undefined;
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
  const observed = { metrics, log, warnings: lateWarnings, entryFaults };
  const observer = createTrafficObserver({ ...observed, accessLogShare: config.accessLog });
  const gateway = config.role === 'api' ? undefined : started.use(createGateway(config, observer, log));

  const open = () => openAndPublish(config, log, metrics, gateway, observer);
  const { context, access, publisher, registration } = await open().catch(async (error: unknown) => {
    if (!(error instanceof StoreUnavailableError) || !(await gateway?.startFromFile())) throw error;
    log.error({ err: error }, 'the database cannot be reached: the gateway serves the last configuration it knew');
    return untilAvailable(open, signal);
  });
  started.use(context.store);
  const { services } = context;
  lateWarnings.to(services.get(warnings));
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
  const readiness = { unready, faultyEntries: () => entryFaults.count, isFull: () => store.isFull };
  const isOurs = ownConnections(gateway, registration, observer);
  const failures = started.use(limitFailures(config, metrics, log));
  const connections = limitConnections(config, metrics, log);
  const api =
    config.role === 'gateway'
      ? undefined
      : await buildApi({
          ...readiness,
          config,
          context,
          access,
          observer,
          metrics,
          isOurs,
          failures,
          connections,
          log,
        });
  const apiUrl = await api?.listen(config.apiListen);
  if (api !== undefined) {
    log.info(`Server listening at ${apiUrl}`);
    started.defer(() => api.close());
    const onFault = (error: unknown) => {
      log.error({ err: error }, 'rules that are in force no longer could not be deleted; trying again');
    };
    started.use(services.get(ruleSweeper).start(onFault));
  }
  if (config.metricsListen !== undefined) started.use(measureEventLoopDelay(metrics.registry));
  const metricsServer =
    config.metricsListen && started.use(await serveMetrics(metrics, config.metricsListen, { isOurs, connections }));

  const openedPorts = {
    api: apiUrl === undefined ? undefined : Number(new URL(apiUrl).port),
    metrics: metricsServer?.port,
  };
  await announceOpened(registration, config, { ...openedPorts, https: gateway?.engine?.httpsPort() });

  // Last, because the token is shown only once: a start that fails must not make one.
  const firstToken = api && (await services.get(bootstrap).run(config.bootstrapToken));
  isStarted = true;

  const running = started.move();
  return {
    context,
    api,
    apiUrl,
    engine: gateway?.engine,
    metricsPort: metricsServer?.port,
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
