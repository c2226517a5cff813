import type { FastifyInstance } from 'fastify';

import packageJson from '../../package.json' with { type: 'json' };
import { FailedAuthentications } from '../api/admission/failed-authentications.ts';
import { tooManyConnections, tooManySourceConnections } from '../api/errors.ts';
import { createApi } from '../api/server.ts';
import type { ApiOptions } from '../api/options.ts';
import { vendorWords } from '../api/http/vendor-words.ts';
import { builtDashboard } from './build-dashboard.ts';
import type { Config } from '../config/config.ts';
import { readOpenFilesLimit, reservedFiles } from '../gateway/bounds/default-bounds.ts';
import type { TrafficObserver } from '../gateway/engine.ts';
import type { ResilientGateway } from '../gateway/resilient-gateway.ts';
import { ServerConnections } from '../lib/server-connections.ts';
import type { Logger } from '../log.ts';
import { apiModules } from '../modules/index.ts';
import { Ref } from '../modules/module.ts';
import type { Metrics } from '../observe/metrics.ts';
import { authenticator } from '../resources/api-keys/service.ts';
import { dashboardSessions } from '../resources/dashboard-sessions/service.ts';
import { resources } from '../resources/index.ts';
import { localCa } from '../resources/local-ca/service.ts';
import type { Registration } from '../resources/processes/service.ts';
import type { ResourceContext } from '../resources/resource.ts';

/** Interval of the log line about connections that were refused. */
const refusalLogMs = 60_000;

/** Tells of connections that a gateway of the installation made and that have arrived here; in doubt it is one. */
export function ownConnections(
  gateway: ResilientGateway | undefined,
  registration: Pick<Registration, 'isLapsed'>,
  observer: TrafficObserver,
): ApiOptions['isOurs'] {
  return (socket) => {
    // Gateways in other processes may have let a connection through to here meanwhile.
    if (registration.isLapsed) return true;
    const ours = gateway?.engine?.isOurs(socket, socket.localPort ?? 0) ?? false;
    if (ours === false) return false;
    return Promise.resolve(ours)
      .catch(() => true)
      .then((isOurs) => {
        if (isOurs) observer.ownArrivalReset();
        return isOurs;
      });
  };
}

interface ApiParts extends Pick<
  ApiOptions,
  | 'access'
  | 'unready'
  | 'faultyEntries'
  | 'unopenedPorts'
  | 'isFull'
  | 'isOurs'
  | 'isBesideTraffic'
  | 'failures'
  | 'connections'
> {
  readonly config: Config;
  readonly context: ResourceContext;
  readonly observer: TrafficObserver;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** The API as the settings ask for it, over all resources. */
export function buildApi({ config, context, observer, metrics, log, ...given }: ApiParts): Promise<FastifyInstance> {
  return createApi({
    operations: resources.flatMap((resource) => resource.operations(context)),
    schemas: [
      Ref,
      ...apiModules.flatMap(({ input, view }) => [input, view]),
      ...resources.flatMap(({ schemas }) => schemas),
    ],
    authenticator: context.services.get(authenticator),
    sessions: context.services.get(dashboardSessions),
    programVersion: packageJson.version,
    dashboardFolder: config.dashboardFiles ?? builtDashboard,
    warned: (restrictionIds, source) => {
      observer.warned(restrictionIds, source);
    },
    ...given,
    localCaCertificate: rememberOnce(async () => (await context.services.get(localCa).load())?.certificatePem),
    publicUrl: config.publicUrl,
    vendor: vendorWords(config.vendor),
    trustedProxies: config.trustedProxies,
    rateLimit: config.rateLimit,
    accountCalls: config.accountCalls,
    filterRows: config.filterRows,
    maxWaitMs: config.maxWaitMs,
    stallSeconds: config.apiStallSeconds,
    observer: metrics,
    measured: config.metricsListen === undefined ? undefined : metrics,
    logger: log,
  });
}

/** Asks no more once there is a value: it never changes. Anybody may ask for it, and loading opens a private key. */
function rememberOnce<T>(load: () => Promise<T | undefined>): () => Promise<T | undefined> {
  let known: T | undefined;
  return async () => (known ??= await load());
}

/** Connections to the API and the metrics have part of the descriptors that the gateway leaves, or most where there is none. */
export function limitConnections(config: Config, metrics: Metrics, log: Logger): ServerConnections {
  const openFiles = readOpenFilesLimit();
  const share = config.role === 'api' ? Math.floor((openFiles * 3) / 4) : Math.floor(reservedFiles(openFiles) / 2);
  const all = config.apiConnections ?? Math.max(8, share);
  const bySource = config.apiSourceConnections ?? Math.ceil(all / 4);
  let loggedMs = Number.NEGATIVE_INFINITY;
  return new ServerConnections({
    all,
    bySource,
    trustedProxies: config.trustedProxies,
    refused: (limit, source) => {
      metrics.callRefused(limit === 'all' ? 'connections' : 'source_connections');
      if (performance.now() - loggedMs < refusalLogMs) return;
      loggedMs = performance.now();
      const { code, message } = limit === 'all' ? tooManyConnections : tooManySourceConnections;
      log.warn({ code, source, all, by_source: bySource }, message);
    },
  });
}

export function limitFailures(config: Config, metrics: Metrics, log: Logger): FailedAuthentications {
  const { authFailures, authFailuresSlowed: slowed, authFailuresHeld: held, authFailureSources: sources } = config;
  const limits = authFailures === undefined ? undefined : { prompt: authFailures, slowed, held, sources };
  return new FailedAuthentications(limits, {
    log,
    counted: (answer) => {
      metrics.authenticationFailed(answer);
    },
  });
}
