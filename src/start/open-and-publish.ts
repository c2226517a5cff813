import packageJson from '../../package.json' with { type: 'json' };
import type { Config } from '../config/config.ts';
import type { TrafficObserver } from '../gateway/engine.ts';
import type { ResilientGateway } from '../gateway/resilient-gateway.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../observe/metrics.ts';
import { openContext } from './open-context.ts';
import { Publisher } from '../publisher/publisher.ts';
import type { Target } from '../publisher/publisher.ts';
import { accessInForce } from '../resources/access-in-force.ts';
import { resources } from '../resources/index.ts';
import { localCa } from '../resources/local-ca/service.ts';
import { processes } from '../resources/processes/service.ts';
import type { ResourceContext } from '../resources/resource.ts';
import { startNotices } from '../resources/start-notices.ts';
import { checkStoredSecrets } from '../resources/stored-secrets.ts';
import { AccessTable } from '../snapshot/access.ts';
import type { SnapshotUpdate } from '../snapshot/contract.ts';
import { SetAsideEntries } from '../snapshot/set-aside.ts';
import { configuredListeners } from './start-gateway.ts';

/** Follows the configuration, and cannot fail to. */
interface UpdateFollower {
  follow(update: SnapshotUpdate): void;
}

/** Opens the parts that need the database. A failure on the way closes all of them. */
export async function openAndPublish(
  config: Config,
  log: Logger,
  metrics: Metrics,
  gateway: ResilientGateway | undefined,
  followers: readonly UpdateFollower[],
  observer: TrafficObserver,
) {
  const context = await openContext(config, log);
  await using opened = new AsyncDisposableStack();
  opened.use(context.store);
  // Before anything listens: gateways that run must know of it first.
  const registration = opened.use(
    await context.services.get(processes).register({
      listeners: configuredListeners(config),
      role: config.role,
      version: packageJson.version,
    }),
  );
  const access = new AccessTable();
  context.services.provide(accessInForce, access);
  const secrets = await checkStoredSecrets(context.services, context.sealer, config.secretKey !== undefined);
  if (secrets !== undefined) log[secrets.level](secrets.message);
  for (const notice of context.services.all(startNotices)) {
    const message = await notice();
    if (message !== undefined) log.warn(message);
  }
  await gateway?.start(context.services.get(localCa));
  const publisher = await startPublisher(context, metrics, log, gateway, [
    followAccess(access, observer),
    async (update) => {
      for (const follower of followers) follower.follow(update);
    },
    ...(gateway === undefined ? [] : [(update: Parameters<Target>[0]) => gateway.apply(update)]),
  ]);
  opened.move();
  return { context, access, publisher, registration };
}

/** Keeps the rules that the API itself obeys. */
function followAccess(access: AccessTable, observer: TrafficObserver): Target {
  const setAside = new SetAsideEntries((fault) => {
    observer.entryFault(fault);
  });
  return async (update) => {
    const faults = setAside.begin(update);
    access.prepare(update, faults.setAside)();
    faults.commit();
  };
}

function startPublisher(
  context: ResourceContext,
  metrics: Metrics,
  log: Logger,
  gateway: ResilientGateway | undefined,
  targets: readonly Target[],
): Promise<Publisher> {
  return Publisher.start({
    store: context.store,
    compilers: resources.flatMap((resource) => resource.compilers?.(context) ?? []),
    targets,
    onFault: (error, version) => {
      metrics.publishFailed();
      // A gateway that cannot begin ends the start, with the same fault.
      if (gateway !== undefined && !gateway.isServing) return;
      log.error({ err: error, version }, 'a change is stored but not in force');
    },
    onPublished: (version, durationMs) => {
      metrics.published(version, durationMs);
    },
  });
}
