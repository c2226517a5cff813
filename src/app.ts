import { setTimeout as sleep } from 'node:timers/promises';

import type { FastifyInstance } from 'fastify';

import { createApi } from './api/server.ts';
import { vendorWords } from './api/vendor-words.ts';
import type { Config } from './config/config.ts';
import type { TrafficObserver } from './gateway/engine.ts';
import type { ResilientGateway } from './gateway/resilient-gateway.ts';
import type { RunningEngine } from './gateway/start-engine.ts';
import { toTimestamp } from './lib/ids.ts';
import type { Logger } from './log.ts';
import { modules } from './modules/index.ts';
import { Ref } from './modules/module.ts';
import { measureEventLoopDelay } from './observe/event-loop-delay.ts';
import { serveMetrics } from './observe/metrics-server.ts';
import { Metrics } from './observe/metrics.ts';
import { createTrafficObserver, LateWarnings } from './observe/traffic-observer.ts';
import { openContext } from './open-context.ts';
import { Publisher } from './publisher/publisher.ts';
import type { Target } from './publisher/publisher.ts';
import { authenticator } from './resources/api-keys/service.ts';
import { resources } from './resources/index.ts';
import { ruleSweeper } from './resources/ip-policy-rules/service.ts';
import { warnings } from './resources/ip-restrictions/service.ts';
import { localCa } from './resources/local-ca/service.ts';
import { bootstrap } from './resources/principals/service.ts';
import type { ResourceContext } from './resources/resource.ts';
import { AccessTable } from './snapshot/access.ts';
import { createGateway } from './start-gateway.ts';
import { pruneChanges } from './store/change-log.ts';
import { StoreUnavailableError } from './store/database.ts';

const databaseRetryMs = 500;
const pruneEveryMs = 3_600_000;

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
  const observer = createTrafficObserver({ metrics, log, warnings: lateWarnings, accessLogShare: config.accessLog });
  const gateway = config.role === 'api' ? undefined : started.use(createGateway(config, observer, log));

  const open = () => openAndPublish(config, log, metrics, gateway);
  const { context, access, publisher } = await open().catch(async (error: unknown) => {
    if (!(error instanceof StoreUnavailableError) || !(await gateway?.startFromFile())) throw error;
    log.error({ err: error }, 'the database cannot be reached: the gateway serves the last configuration it knew');
    return untilAvailable(open, signal);
  });
  started.use(context.store);
  const { services } = context;
  lateWarnings.to(services.get(warnings));
  started.defer(() => services.get(warnings).flush());
  // Drained before the store closes, so that the warnings of its last traffic are kept.
  if (gateway !== undefined) started.defer(() => gateway.drain());

  // An address that is taken, or a configuration by a newer program: better not to start than to serve nothing.
  gateway?.checkServing();

  if (config.changeLogDays !== undefined) started.use(keepChangeLogShort(context, config.changeLogDays, log));

  let isStarted = false;
  const unready = () => {
    if (!isStarted) return 'it is starting';
    if (context.store.isStale) return 'its database has not answered lately';
    return publisher.lagging ? 'the newest change is not yet in force' : undefined;
  };
  const api = config.role === 'gateway' ? undefined : await buildApi(config, context, access, observer, unready, log);
  const apiUrl = await api?.listen(config.apiListen);
  if (api !== undefined) {
    log.info(`Server listening at ${apiUrl}`);
    started.defer(() => api.close());
  }
  if (api !== undefined) {
    const onFault = (error: unknown) => {
      log.error({ err: error }, 'rules that are in force no longer could not be deleted; trying again');
    };
    started.use(services.get(ruleSweeper).start(onFault));
  }
  if (config.metricsListen !== undefined) started.use(measureEventLoopDelay(metrics.registry));
  const metricsServer = config.metricsListen && started.use(await serveMetrics(metrics, config.metricsListen));

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

function buildApi(
  config: Config,
  context: ResourceContext,
  access: AccessTable,
  observer: TrafficObserver,
  unready: () => string | undefined,
  log: Logger,
): Promise<FastifyInstance> {
  return createApi({
    operations: resources.flatMap((resource) => resource.operations(context)),
    schemas: [
      Ref,
      ...modules.flatMap(({ input, view }) => [input, view]),
      ...resources.flatMap(({ schemas }) => schemas),
    ],
    authenticator: context.services.get(authenticator),
    access,
    warned: (restrictionIds, source) => {
      observer.warned(restrictionIds, source);
    },
    unready,
    localCaCertificate: async () => (await context.services.get(localCa).load())?.certificatePem,
    publicUrl: config.publicUrl,
    vendor: vendorWords(config.vendor),
    trustedProxies: config.trustedProxies,
    rateLimit: config.rateLimit,
    logger: log,
  });
}

function keepChangeLogShort({ store }: ResourceContext, days: number, log: Logger): AsyncDisposable {
  const stopped = new AbortController();
  let pruning = Promise.resolve();
  const prune = async () => {
    const before = toTimestamp(Date.now() - days * 86_400_000);
    try {
      // Many short transactions, so that no other write waits for all of it.
      while (!stopped.signal.aborted && (await store.writeUnlogged((notes) => pruneChanges(notes, before))) > 0);
    } catch (error) {
      log.error({ err: error }, 'old changes could not be deleted');
    }
  };
  const pruneNext = () => {
    pruning = pruning.then(prune);
  };
  pruneNext();
  const timer = setInterval(pruneNext, pruneEveryMs).unref();
  return {
    async [Symbol.asyncDispose]() {
      stopped.abort();
      clearInterval(timer);
      await pruning;
    },
  };
}

/** Opens the parts that need the database. A failure on the way closes all of them. */
async function openAndPublish(config: Config, log: Logger, metrics: Metrics, gateway: ResilientGateway | undefined) {
  const context = await openContext(config, log);
  try {
    const access = new AccessTable();
    await gateway?.start(context.services.get(localCa));
    const publisher = await startPublisher(context, metrics, log, [
      async (update) => access.prepare(update)(),
      ...(gateway === undefined ? [] : [(update: Parameters<Target>[0]) => gateway.apply(update)]),
    ]);
    return { context, access, publisher };
  } catch (error) {
    await context.store[Symbol.asyncDispose]();
    throw error;
  }
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

function startPublisher(
  context: ResourceContext,
  metrics: Metrics,
  log: Logger,
  targets: readonly Target[],
): Promise<Publisher> {
  return Publisher.start({
    store: context.store,
    compilers: resources.flatMap((resource) => resource.compilers?.(context) ?? []),
    targets,
    onFault: (error, version) => {
      metrics.publishFailed();
      log.error({ err: error, version }, 'a change is stored but not in force');
    },
    onPublished: (version, durationMs) => {
      metrics.published(version, durationMs);
    },
  });
}
