import { setTimeout as sleep } from 'node:timers/promises';

import type { FastifyInstance } from 'fastify';

import { ServedNames } from '../acme/served-names.ts';
import { vendorWords } from '../api/http/vendor-words.ts';
import { serveWaiting } from '../api/http/waiting-server.ts';
import type { Config } from '../config/config.ts';
import { hasApi, hasGateway } from '../config/roles.ts';
import { openLocalCa } from '../gateway/certificates/local-ca.ts';
import type { RunningEngine } from '../gateway/start-engine.ts';
import { thisMachine } from '../lib/this-machine.ts';
import { LinkDirectory } from '../links/link-directory.ts';
import type { OpenStream } from '../links/stream-request.ts';
import type { Logger } from '../log.ts';
import { Places, usePlaces } from '../modules/places.ts';
import { useRequestHosts } from '../modules/request-hosts.ts';
import { useRegion } from '../modules/region.ts';
import { measureEventLoopDelay } from '../observe/event-loop-delay.ts';
import { serveMetrics } from '../observe/metrics-server.ts';
import type { Metrics } from '../observe/metrics.ts';
import { backgroundTasks } from '../resources/background-tasks.ts';
import { sendReplay } from '../resources/inspections/service.ts';
import { otherProcesses } from '../resources/other-processes.ts';
import { localCa } from '../resources/local-ca/service.ts';
import { reportBackendHealth } from '../resources/static-backends/service.ts';
import { warnings } from '../resources/ip-restrictions/service.ts';
import { eventSend, takeMail } from '../resources/events/service.ts';
import { bootstrap } from '../resources/principals/service.ts';
import { nearQuotas } from '../resources/quotas/service.ts';
import type { ResourceContext } from '../resources/resource.ts';
import type { Notice } from '../resources/start-notices.ts';
import { certificateEnds } from '../resources/tls-certificates/service.ts';
import { keptLogins, visitors } from '../resources/visitors/service.ts';
import { StoreUnavailableError } from '../store/database.ts';
import { keepChangeLogShort } from '../store/write/keep-change-log-short.ts';
import { startAgents } from './agents/start-agents.ts';
import { sendReplays } from './agents/send-replays.ts';
import { startAsking } from './agents/start-links.ts';
import type { RunningAgents } from './agents/start-agents.ts';
import { buildApi } from './build-api.ts';
import { createLimits } from './limits.ts';
import type { Limits } from './limits.ts';
import { LateLogins } from './late-logins.ts';
import { announcePorts, checkPorts, openAgentPort } from './listeners.ts';
import { createObservers } from './observers.ts';
import { openAndPublish } from './open-and-publish.ts';
import type { Opened } from './open-and-publish.ts';
import { watchReadiness } from './readiness.ts';
import { startAcme } from './start-acme.ts';
import { EventRoads, startEvents } from './start-events.ts';
import { createGateway } from './start-gateway.ts';

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
  /** Notices about the stored configuration for the operator. The caller logs them, after its greeting. */
  readonly notices: readonly Notice[];
}

interface StartOptions {
  /** Ends the wait for a database that cannot be reached. */
  readonly signal?: AbortSignal;
  /** Descriptor that listens for agents already. */
  readonly agentSocket?: number | undefined;
  /** True: no line for each API call, and none for each request or connection through an edge. */
  readonly isQuiet?: boolean;
}

/**
 * Starts the parts of the role. Without its database, a gateway serves the last configuration from its file, and the
 * other parts wait for the database.
 */
export async function startApp(
  config: Config,
  log: Logger,
  { signal, agentSocket, isQuiet = false }: StartOptions = {},
): Promise<App> {
  // Stops in reverse order; a fault during the start stops the parts that are running.
  await using started = new AsyncDisposableStack();
  await checkPorts(config);
  // Open before and after everything else: agents that come back after a restart find it, and wait.
  const agentPort = started.use(await openAgentPort(config, agentSocket));
  useRegion(config.region);
  started.use(useRequestHosts(config.policyRequestHosts));
  if (config.geoDatabase !== undefined) started.use(usePlaces(await Places.open(config.geoDatabase, log)));
  const observers = await createObservers(config, log, isQuiet);
  if (observers.decisions !== undefined) started.use(observers.decisions);
  const { metrics, listenerFaults, live } = observers;
  const directory = new LinkDirectory(thisMachine().networkId);
  const served = config.acme === 'on' && config.role !== 'agents' ? new ServedNames() : undefined;
  const eventRoads = hasApi(config) ? new EventRoads(config, observers) : undefined;
  const followers = [directory, served, eventRoads].filter((each) => each !== undefined);
  // The way to agents is open later than the gateway; visitors who come before wait for it, within the limit of a dial.
  const toAgents = Promise.withResolvers<OpenStream>();
  const openStream: OpenStream = async (request, user) => (await toAgents.promise)(request, user);
  const lateLogins = new LateLogins();
  const gateway = hasGateway(config)
    ? started.use(createGateway(config, observers, openStream, lateLogins))
    : undefined;

  // Open until the API itself is.
  await using waiting = new AsyncDisposableStack();
  const opened = await openOrWait(config, { ...observers, gateway, followers }, signal, waiting);
  const { context, publisher, registration } = opened;
  const { services, store } = context;
  started.use(store);
  started.use(publisher);
  observers.lateWarnings.to(services.get(warnings));
  observers.lateVisitors.to(services.get(visitors));
  lateLogins.to(services.get(keptLogins));
  if (eventRoads !== undefined) {
    eventRoads.countMailWith(services.get(takeMail));
    services.provide(eventSend, eventRoads.send);
  }
  for (const task of services.all(backgroundTasks)) {
    if (!task.ofApi || hasApi(config)) started.use(await task.start(log));
  }
  if (config.changeLogDays !== undefined) started.use(keepChangeLogShort(store, config.changeLogDays, log));
  // Drained before the store closes, so that the warnings of its last traffic are kept.
  if (gateway !== undefined) started.defer(() => gateway.drain());
  // Removed when the API and the metrics are closed, and before the gateway stops taking changes.
  started.use(registration);
  // An address that is taken, or a configuration by a newer program: better not to start than to serve nothing.
  gateway?.checkServing();

  const parts = { ...observers, ...opened, gateway };
  const limits = started.use(createLimits(config, parts));
  const agents =
    config.role === 'api'
      ? undefined
      : started.use(await startAgents(config, { ...parts, ...limits, directory, agentPort }));
  if (agents !== undefined) toAgents.resolve(agents.openStream);
  const ask = agents?.ask ?? started.use(await openAsking(config, { ...parts, directory })).ask;
  services.provide(otherProcesses, ask);
  services.provide(sendReplay, sendReplays({ gateway, processId: registration.id, ask }));

  let isStarted = false;
  const readiness = watchReadiness(parts, () => isStarted);
  const api = hasApi(config) ? await buildApi(config, { ...parts, ...limits, ...readiness, isQuiet }) : undefined;
  // A token that the operator has chosen is good for the first call that is answered. Any other is made last, because it is
  // shown only once: a start that fails must not make one.
  const isChosen = config.bootstrapToken !== undefined;
  const chosenToken = api && isChosen ? await makeFirstKey(config, context, log) : undefined;
  await waiting.disposeAsync();
  const apiUrl = await api?.listen(config.apiListen);
  if (api !== undefined) {
    log.info(`Server listening at ${apiUrl}`);
    started.defer(() => api.close());
    metrics.watchCertificates(services.get(certificateEnds));
    metrics.watchQuotas(services.get(nearQuotas));
  }
  metrics.watchStorage(readiness.isFull);
  metrics.watchHistory(() => store.history);
  metrics.watchWorkers(() => gateway?.engine?.workersState());
  const metricsServer = config.metricsListen && (await startMetrics(config.metricsListen, metrics, limits, started));

  await announcePorts(registration, config, {
    api: apiUrl === undefined ? undefined : Number(new URL(apiUrl).port),
    metrics: metricsServer?.port,
    https: gateway?.engine?.httpsPort(),
    agents: agents?.port,
    links: agents?.linkPort,
  });
  registration.reportWith(() => ({
    configurationVersion: publisher.version,
    unopenedPorts: listenerFaults.list(),
    historyChange: store.history.last,
    health: live.isCarriedHere ? live.reportHealth() : undefined,
    decisions: observers.decisions?.gateway,
  }));
  if (gateway !== undefined) started.use(reportBackendHealth(store, registration.id, observers.backendHealth));
  if (served !== undefined) started.use(await startAcme(config, { ...parts, served }));
  if (eventRoads !== undefined) started.use(startEvents(context, eventRoads, observers));

  const firstToken = api && !isChosen ? await makeFirstKey(config, context, log) : undefined;
  isStarted = true;

  const running = started.move();
  return {
    context,
    api,
    apiUrl,
    engine: gateway?.engine,
    agents,
    metricsPort: metricsServer?.port,
    isNew: (chosenToken ?? firstToken) !== undefined,
    // A token that the operator has chosen is not printed.
    firstToken,
    notices: opened.notices,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** The way to other processes of one that serves the API alone. */
async function openAsking(
  config: Config,
  parts: Omit<Parameters<typeof startAsking>[1], 'localCa' | 'processId'> & Pick<Opened, 'context' | 'registration'>,
): Promise<ReturnType<typeof startAsking>> {
  const { context, registration } = parts;
  const authority = await openLocalCa(context.services.get(localCa));
  return startAsking(config, { ...parts, localCa: authority, processId: registration.id });
}

/** Without the database, the gateway serves the last configuration from its file while the others wait, and the API says so. */
async function openOrWait(
  config: Config,
  given: Parameters<typeof openAndPublish>[1],
  signal: AbortSignal | undefined,
  waiting: AsyncDisposableStack,
): Promise<Opened> {
  const open = () => openAndPublish(config, given);
  return open().catch(async (error: unknown) => {
    if (!(error instanceof StoreUnavailableError) || !(await given.gateway?.startFromFile())) throw error;
    given.log.error(
      { err: error },
      'the database cannot be reached: the gateway serves the last configuration it knew',
    );
    // Nobody would find a port that the system chooses.
    if (hasApi(config) && config.apiListen.port !== 0)
      waiting.use(await serveWaiting(config.apiListen, vendorWords(config.vendor), 'its database cannot be reached'));
    return untilAvailable(open, signal);
  });
}

function startMetrics(
  listen: NonNullable<Config['metricsListen']>,
  metrics: Metrics,
  limits: Limits,
  started: AsyncDisposableStack,
): Promise<AsyncDisposable & { readonly port: number }> {
  metrics.watchProcess();
  started.use(measureEventLoopDelay(metrics.registry));
  return serveMetrics(metrics, listen, limits).then((server) => started.use(server));
}

/** Returns the token of the first key, where this start has made one. */
async function makeFirstKey(
  { bootstrapToken }: Config,
  { services }: ResourceContext,
  log: Logger,
): Promise<string | undefined> {
  const firstToken = await services.get(bootstrap).run(bootstrapToken);
  if (firstToken === undefined && bootstrapToken !== undefined) {
    log.warn(
      'bootstrap_token is ignored: this database has accounts already, and the token counts at the first start only',
    );
  }
  return firstToken;
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
