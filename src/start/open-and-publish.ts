import packageJson from '../../package.json' with { type: 'json' };
import type { Config } from '../config/config.ts';
import type { TrafficObserver } from '../gateway/engine.ts';
import type { ResilientGateway } from '../gateway/resilient-gateway.ts';
import { openContext } from './open-context.ts';
import { Publisher } from '../publisher/publisher.ts';
import type { Target } from '../publisher/publisher.ts';
import { accessInForce } from '../resources/access-in-force.ts';
import { inspections } from '../resources/inspections/service.ts';
import { keptDecisions } from '../resources/decisions/service.ts';
import { resources } from '../resources/index.ts';
import { unopenedPorts } from '../resources/edges/service.ts';
import { localCa } from '../resources/local-ca/service.ts';
import { processes } from '../resources/processes/service.ts';
import type { Registration } from '../resources/processes/service.ts';
import type { ResourceContext } from '../resources/resource.ts';
import { startNotices } from '../resources/start-notices.ts';
import type { Notice } from '../resources/start-notices.ts';
import { describeHeldNames } from './own-names.ts';
import { checkStoredSecrets } from '../resources/stored-secrets.ts';
import { seenBackends } from '../resources/static-backends/service.ts';
import { traffic } from '../resources/traffic/service.ts';
import { AccessTable } from '../snapshot/access.ts';
import type { SnapshotUpdate } from '../snapshot/contract.ts';
import { SetAsideEntries } from '../snapshot/set-aside.ts';
import { configuredListeners } from './listeners.ts';
import type { Observers } from './observers.ts';

/** Follows the configuration, and cannot fail to. */
interface UpdateFollower {
  follow(update: SnapshotUpdate): void;
}

/** The parts that are there without the database. */
interface Given extends Observers {
  readonly gateway: ResilientGateway | undefined;
  readonly followers: readonly UpdateFollower[];
}

/** The parts that need the database. */
export interface Opened {
  readonly context: ResourceContext;
  readonly access: AccessTable;
  readonly publisher: Publisher;
  readonly registration: Registration;
  readonly notices: readonly Notice[];
}

/** Opens the parts that need the database. A failure on the way closes all of them. */
export async function openAndPublish(config: Config, given: Given): Promise<Opened> {
  const { log, gateway, followers, observer, live, listenerFaults, backendHealth, decisions } = given;
  const context = await openContext(config, log, gateway?.startedFrom);
  const { services, store, sealer } = context;
  await using opened = new AsyncDisposableStack();
  opened.use(store);
  const access = new AccessTable();
  services.provide(accessInForce, access);
  services.provide(traffic, live);
  services.provide(inspections, given.inspections);
  if (decisions !== undefined) services.provide(keptDecisions, decisions);
  services.provide(seenBackends, backendHealth);
  services.provide(unopenedPorts, listenerFaults);
  // Before anything listens: gateways that run must know of it first.
  const registration = opened.use(
    await services.get(processes).register({
      listeners: configuredListeners(config),
      role: config.role,
      version: packageJson.version,
    }),
  );
  const secrets = await checkStoredSecrets(services, sealer, config.secretKey !== undefined);
  const notices = secrets === undefined ? [] : [secrets];
  for (const notice of [
    ...services.all(startNotices),
    () => describeHeldNames(store.queries, context.settings.ownNames),
  ]) {
    const message = await notice();
    if (message !== undefined) notices.push({ level: 'warn', message });
  }
  await gateway?.start(services.get(localCa));
  given.inspections.to((terms) => gateway?.engine?.inspect(terms));
  const publisher = await startPublisher(context, given, [
    followAccess(access, observer),
    async (update) => {
      for (const follower of followers) follower.follow(update);
    },
    ...(gateway === undefined ? [] : [(update: SnapshotUpdate) => gateway.apply(update)]),
  ]);
  opened.move();
  return { context, access, publisher, registration, notices };
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
  { metrics, log, gateway }: Given,
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
