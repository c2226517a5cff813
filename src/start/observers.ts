import { resolve } from 'node:path';

import type { Config } from '../config/config.ts';
import { hasGateway } from '../config/roles.ts';
import { SharedRates } from '../gateway/bounds/shared-rates.ts';
import { decisionObserver } from '../decisions/decision-observer.ts';
import { Decisions } from '../decisions/decisions.ts';
import type { TrafficObserver } from '../gateway/engine.ts';
import type { Logger } from '../log.ts';
import { BackendHealth } from '../observe/backend-health.ts';
import { EntryFaults } from '../observe/entry-faults.ts';
import { Inspections } from '../observe/inspections.ts';
import { ListenerFaults } from '../observe/listener-faults.ts';
import { LiveTraffic } from '../observe/live-traffic.ts';
import { Metrics } from '../observe/metrics.ts';
import { createTrafficObserver, LateVisitors, LateWarnings } from '../observe/traffic-observer.ts';

const mebibyte = 1024 * 1024;

/** The parts that watch all others. They need no database: a gateway may begin without one. */
export interface Observers {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly entryFaults: EntryFaults;
  readonly listenerFaults: ListenerFaults;
  readonly live: LiveTraffic;
  readonly backendHealth: BackendHealth;
  readonly lateWarnings: LateWarnings;
  readonly lateVisitors: LateVisitors;
  readonly rates: SharedRates;
  readonly inspections: Inspections;
  /** Undefined where decisions are not kept. */
  readonly decisions: Decisions | undefined;
  /** Takes the events of traffic, and hands them to the others. */
  readonly observer: TrafficObserver;
}

export async function createObservers(config: Config, log: Logger, isQuiet: boolean): Promise<Observers> {
  const { role, trafficStreams, accessLog = 1 } = config;
  const metrics = new Metrics();
  const lateWarnings = new LateWarnings();
  const lateVisitors = new LateVisitors();
  const entryFaults = new EntryFaults(metrics, log);
  const listenerFaults = new ListenerFaults();
  const backendHealth = new BackendHealth(metrics, log);
  metrics.watchAddresses(backendHealth);
  const live = new LiveTraffic({ isCarriedHere: role !== 'api', limit: trafficStreams, observer: metrics });
  const rates = new SharedRates({ log, observer: metrics });
  metrics.watchRates(rates);
  const inspections = new Inspections();
  const decisions = await openDecisions(config, log, metrics);
  const told = {
    metrics,
    log,
    warnings: lateWarnings,
    visitors: lateVisitors,
    entryFaults,
    listenerFaults,
    live,
    rates,
    inspections,
    decisions: decisions && decisionObserver(decisions),
  };
  const observer = createTrafficObserver({ ...told, accessLogShare: isQuiet ? 0 : accessLog });
  return {
    log,
    metrics,
    entryFaults,
    listenerFaults,
    live,
    backendHealth,
    lateWarnings,
    lateVisitors,
    rates,
    inspections,
    decisions,
    observer,
  };
}

async function openDecisions(config: Config, log: Logger, observer: Metrics): Promise<Decisions | undefined> {
  const { decisions: folder, decisionsDays: days, decisionsMaxSize, decisionsArchive } = config;
  if (folder === undefined || !hasGateway(config)) return undefined;
  const archive = decisionsArchive === undefined ? undefined : resolve(decisionsArchive);
  const options = { folder: resolve(folder), days, maxBytes: decisionsMaxSize * mebibyte, archive };
  return Decisions.open({ options, log, observer });
}
