import { BoundReports } from '../../lib/bound-reports.ts';
import type { GatewayLog, TrafficObserver } from '../engine.ts';
import { boundErrors } from './bound.ts';
import type { GatewayBoundReports } from './bound.ts';

/** Tells the observer of bounds that are reached. */
export function reportBounds(observer: TrafficObserver, log: GatewayLog): GatewayBoundReports {
  return new BoundReports(
    boundErrors,
    (reported) => {
      observer.boundsReported(reported);
    },
    log,
  );
}
