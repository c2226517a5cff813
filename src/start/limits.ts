import type { Socket } from 'node:net';

import { FailedAuthentications } from '../api/admission/failed-authentications.ts';
import { tooManyConnections, tooManySourceConnections } from '../api/errors.ts';
import type { Config } from '../config/config.ts';
import { readOpenFilesLimit, reservedFiles } from '../gateway/bounds/default-bounds.ts';
import type { ResilientGateway } from '../gateway/resilient-gateway.ts';
import { ready, valueNow } from '../lib/awaitable.ts';
import type { Awaitable } from '../lib/awaitable.ts';
import { ServerConnections } from '../lib/server-connections.ts';
import type { Registration } from '../resources/processes/service.ts';
import type { Observers } from './observers.ts';

/** Interval of the log line about connections that were refused. */
const refusalLogMs = 60_000;

/** The rules about who may connect to the API, the metrics and the listener of agents. */
export interface Limits extends Disposable {
  readonly failures: FailedAuthentications;
  readonly connections: ServerConnections;
  /** Tells of connections that a gateway of the installation made and that have arrived here; in doubt it is one. */
  readonly isOurs: (socket: Socket) => Awaitable<boolean>;
}

interface LimitParts extends Pick<Observers, 'metrics' | 'observer' | 'log'> {
  readonly gateway: ResilientGateway | undefined;
  readonly registration: Pick<Registration, 'isLapsed'>;
}

export function createLimits(config: Config, parts: LimitParts): Limits {
  const failures = limitFailures(config, parts);
  return {
    failures,
    connections: limitConnections(config, parts),
    isOurs: recogniseOwn(parts),
    [Symbol.dispose]: () => {
      failures[Symbol.dispose]();
    },
  };
}

function recogniseOwn({ gateway, registration, observer }: LimitParts): Limits['isOurs'] {
  return (socket) => {
    // Gateways in other processes may have let a connection through to here meanwhile.
    if (registration.isLapsed) return ready(true);
    const ours = gateway?.engine?.isOurs(socket, socket.localPort ?? 0) ?? ready(false);
    if (valueNow(ours) === false) return ours;
    return Promise.resolve(ours)
      .catch(() => true)
      .then((isOurs) => {
        if (isOurs) observer.ownArrivalReset();
        return isOurs;
      });
  };
}

/** Connections to the API and the metrics have part of the descriptors that the gateway leaves, or most where there is none. */
function limitConnections(config: Config, { metrics, log }: LimitParts): ServerConnections {
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

function limitFailures(config: Config, { metrics, log }: LimitParts): FailedAuthentications {
  const { authFailures, authFailuresSlowed: slowed, authFailuresHeld: held, authFailureSources: sources } = config;
  const limits = authFailures === undefined ? undefined : { prompt: authFailures, slowed, held, sources };
  return new FailedAuthentications(limits, {
    log,
    counted: (answer) => {
      metrics.authenticationFailed(answer);
    },
  });
}
