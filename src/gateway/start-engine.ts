import { randomBytes } from 'node:crypto';

import type { OpenStream } from '../links/stream-request.ts';
import type { KeptLogins } from '../sign-in/kept-logins.ts';
import type { CertificatePair, LocalCaStorage } from '../snapshot/local-ca.ts';
import type { SnapshotFile } from '../snapshot/snapshot-file.ts';
import { createCertificateSource } from './certificates/create-certificate-source.ts';
import { openLocalCa } from './certificates/local-ca.ts';
import type { GatewayBounds } from './bounds/bound.ts';
import type { Engine, GatewayLog, GatewayOptions, TrafficObserver } from './engine.ts';
import type { HealthObserver } from './health/health-board.ts';
import { createNodeEngine } from './node-engine.ts';
import { StreamDialer } from './tunnels/stream-dialer.ts';
import type { WorkerPlan } from './workers/plan-workers.ts';
import { createWorkerEngine } from './workers/worker-engine.ts';
import type { WorkersState } from './workers/worker-engine.ts';

export interface EngineParts {
  readonly options: GatewayOptions;
  /** Processes that carry traffic; undefined: the engine runs in this process. */
  readonly workers: WorkerPlan | undefined;
  /** As in `WorkerEngineParts`. */
  readonly boundsOf: (workers: number, index: number) => GatewayBounds;
  readonly logins: KeptLogins;
  readonly observer: TrafficObserver;
  /** Told what is decided about addresses of backends. */
  readonly health?: HealthObserver;
  readonly log: GatewayLog;
  readonly caStorage: LocalCaStorage;
  readonly errorPrefix: string;
  /** The way to agents, of this process; workers go through it too. */
  readonly openStream: OpenStream;
  /** The last snapshot on disk; undefined where there is to be none. */
  readonly file: SnapshotFile | undefined;
}

export interface RunningEngine extends Engine {
  /** PEM of the authority that clients must trust for names without an uploaded certificate. */
  readonly caCertificatePem: string;
  /** Port of the HTTPS front; undefined if workers listen. */
  httpsPort(): number | undefined;
  /** The workers that carry traffic now; undefined where this process does. */
  workersState(): WorkersState | undefined;
}

/** Starts the gateway in this process, or over workers, with the installation's own certificate authority. */
export async function startEngine(parts: EngineParts): Promise<RunningEngine> {
  const { options, workers, boundsOf, logins, observer, health, log, caStorage, errorPrefix, openStream, file } = parts;
  const localCa = await openLocalCa(caStorage);
  if (workers === undefined) {
    const certificates = createCertificateSource({ localCa, log, refusesPublicNames: options.refusesPublicNames });
    const engine = await createNodeEngine({
      options,
      logins,
      observer,
      health,
      log,
      certificates,
      errorPrefix,
      dialer: new StreamDialer(openStream),
      file,
    });
    return Object.assign(engine, {
      caCertificatePem: localCa.caCertificatePem,
      httpsPort: () => engine.addresses.https?.port,
      workersState: () => undefined,
    });
  }
  const pair = await storedPair(caStorage);
  const { trustedProxies, sharePorts: _sharePorts, ...plain } = options;
  const engine = await createWorkerEngine({
    workers,
    boundsOf,
    // A client that comes back may be given to another worker.
    options: { ...plain, trustedProxies: trustedProxies.data, ticketKeys: randomBytes(48) },
    localCa: pair,
    logins,
    observer,
    health,
    log,
    errorPrefix,
    openStream,
    file,
  });
  return Object.assign(engine, {
    caCertificatePem: localCa.caCertificatePem,
    httpsPort: () => undefined,
    workersState: () => engine.workers,
  });
}

async function storedPair(storage: LocalCaStorage): Promise<CertificatePair> {
  const pair = await storage.load();
  if (pair === undefined) throw new Error('the local CA was made but is not stored');
  return pair;
}
