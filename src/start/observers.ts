import type { Config } from '../config/config.ts';
import { SharedRates } from '../gateway/bounds/shared-rates.ts';
import type { TrafficObserver } from '../gateway/engine.ts';
import type { Logger } from '../log.ts';
import { BackendHealth } from '../observe/backend-health.ts';
import { EntryFaults } from '../observe/entry-faults.ts';
import { ListenerFaults } from '../observe/listener-faults.ts';
import { LiveTraffic } from '../observe/live-traffic.ts';
import { Metrics } from '../observe/metrics.ts';
import { createTrafficObserver, LateVisitors, LateWarnings } from '../observe/traffic-observer.ts';

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
  /** Takes the events of traffic, and hands them to the others. */
  readonly observer: TrafficObserver;
}

export function createObservers(
  { role, trafficStreams, accessLog = 1 }: Config,
  log: Logger,
  isQuiet: boolean,
): Observers {
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
  const told = {
    metrics,
    log,
    warnings: lateWarnings,
    visitors: lateVisitors,
    entryFaults,
    listenerFaults,
    live,
    rates,
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
    observer,
  };
}
