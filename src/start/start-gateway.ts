import { readFileSync } from 'node:fs';

import { vendorWords } from '../api/http/vendor-words.ts';
import type { Config } from '../config/config.ts';
import type { GatewayBounds } from '../gateway/bounds/bound.ts';
import { connectionBounds, readOpenFilesLimit } from '../gateway/bounds/default-bounds.ts';
import type { GatewayOptions, GatewayTimeouts } from '../gateway/engine.ts';
import { ResilientGateway } from '../gateway/resilient-gateway.ts';
import { startEngine } from '../gateway/start-engine.ts';
import { planWorkers } from '../gateway/workers/plan-workers.ts';
import type { WorkerPlan } from '../gateway/workers/plan-workers.ts';
import { describeDatabase, isSqlite } from '../lib/database-url.ts';
import { logFields } from '../lib/log-fields.ts';
import { createSealer } from '../lib/sealed-secret.ts';
import { thisMachine } from '../lib/this-machine.ts';
import type { OpenStream } from '../links/stream-request.ts';
import type { Logger } from '../log.ts';
import type { KeptLogins } from '../sign-in/kept-logins.ts';
import { SnapshotFile } from '../snapshot/snapshot-file.ts';
import { configuredListeners, publicPorts } from './listeners.ts';
import type { Observers } from './observers.ts';

/** Builds the gateway from the settings, without starting it. */
export function createGateway(
  config: Config,
  { observer, backendHealth, log }: Pick<Observers, 'observer' | 'backendHealth' | 'log'>,
  openStream: OpenStream,
  logins: KeptLogins,
): ResilientGateway {
  return new ResilientGateway({
    file: openFile(config, log),
    drainMs: config.drainSeconds * 1000,
    startEngine: (caStorage, file) => {
      logBounds(config, log);
      return startEngine({
        options: { ...gatewayOptions(config), bounds: chooseBounds(config) },
        workers: chooseWorkers(config, log),
        boundsOf: (workers, index) => chooseBounds(config, workers, index),
        logins,
        observer,
        health: backendHealth,
        log,
        openStream,
        caStorage,
        file,
        errorPrefix: vendorWords(config.vendor).errorPrefix.replace(/_$/, ''),
      });
    },
  });
}

/** Undefined for SQLite: that database is a file on the same machine, and as likely to be there. */
function openFile({ databaseUrl, snapshotFile, secretKey }: Config, log: Logger): SnapshotFile | undefined {
  if (snapshotFile === undefined || isSqlite(databaseUrl)) return undefined;
  return new SnapshotFile(snapshotFile, createSealer(secretKey), describeDatabase(databaseUrl), (error) => {
    log.error({ err: error }, 'the configuration in force could not be written to its file');
  });
}

function gatewayOptions(config: Config): Omit<GatewayOptions, 'bounds'> {
  return {
    tcpListenHost: config.tcpListenHost,
    https: config.httpsListen,
    http: config.httpListen,
    trustedProxies: config.trustedProxies,
    proxyProtocol: {
      tcp: config.proxyProtocol.includes('tcp'),
      https: config.proxyProtocol.includes('https'),
      http: config.proxyProtocol.includes('http'),
    },
    sharePorts: false,
    refusesPublicNames: config.certificateFallback === 'refuse',
    ...upstreamOptions(config),
    passwordFailures: config.passwordFailures,
    geoDatabase: config.geoDatabase,
    region: config.region,
    policyRequestHosts: config.policyRequestHosts,
    timeouts: gatewayTimeouts(config),
  };
}

/** Where connections to servers that accounts choose may lead, and whose certificates count. */
export function upstreamOptions(config: Config): Pick<GatewayOptions, 'upstreamAuthorities' | 'inward'> {
  return {
    ...(config.upstreamCa === undefined ? {} : { upstreamAuthorities: [readAuthorities(config.upstreamCa)] }),
    inward: {
      listeners: configuredListeners(config),
      publicPorts: publicPorts(config),
      ownAddresses: config.ownAddresses.data,
      allowLinkLocal: config.backendAllowLinkLocal === 'on',
      networkId: thisMachine().networkId,
    },
  };
}

export function readAuthorities(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`--upstream-ca ${JSON.stringify(path)} cannot be read: name a file in PEM that is there`, {
      cause: error,
    });
  }
}

export function gatewayTimeouts({ idleSeconds }: Config): GatewayTimeouts {
  return { headersMs: 10_000, upstreamConnectMs: 10_000, idleMs: idleSeconds * 1000, keepAliveMs: 75_000 };
}

/** A port that the system chooses would be another one for each worker. */
function chooseWorkers({ workers, httpsListen, httpListen }: Config, log: Logger): WorkerPlan | undefined {
  const hasFreePort = httpsListen?.port === 0 || httpListen?.port === 0;
  const plan = workers === 'auto' && hasFreePort ? undefined : planWorkers(workers);
  log.info(plan ?? {}, plan === undefined ? 'this process carries the traffic' : 'workers carry the traffic');
  return plan;
}

/** The bounds of one of several workers: they hold for all of them together. */
function chooseBounds(config: Config, workers = 1, index = 0): GatewayBounds {
  const part = (whole: number): number =>
    Math.max(Math.min(1, whole), Math.floor((whole + workers - 1 - index) / workers));
  const connections = connectionBounds(config, readOpenFilesLimit());
  return {
    clientConnections: part(connections.clientConnections),
    sourceConnections: part(connections.sourceConnections),
    upstreamConnections: part(connections.upstreamConnections),
    accountConnections: part(connections.accountConnections),
    backendConnections: part(connections.backendConnections),
    backendSourceConnections: part(connections.backendSourceConnections),
    backendQueue: part(config.backendQueue),
    backendSourceQueue: part(config.backendSourceQueue ?? Math.ceil(config.backendQueue / 4)),
    backendQueueMs: config.backendQueueSeconds * 1000,
    streamResets: config.streamResets,
    responseEncoders: part(config.responseEncoders),
    linkUnreadMib: config.linkUnreadMib,
    agentWaitMs: config.agentWait * 1000,
    agentWaiting: part(config.agentWaiting),
  };
}

function logBounds(config: Config, log: Logger): void {
  const openFiles = readOpenFilesLimit();
  const connections = connectionBounds(config, openFiles);
  const { clientConnections, upstreamConnections } = connections;
  log.info(logFields({ openFiles, ...connections }), 'bounds on connections');
  if (clientConnections + upstreamConnections >= openFiles) {
    log.warn(
      { openFiles, clientConnections, upstreamConnections },
      'the bounds on connections are beyond the limit of open files: lower them, or raise that limit',
    );
  }
}
