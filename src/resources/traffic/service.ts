import type { LiveTraffic } from '../../observe/live-traffic.ts';
import { serviceKey } from '../services.ts';

/** Traffic through this process and its workers. */
export type Traffic = Pick<
  LiveTraffic,
  'isCarriedHere' | 'limit' | 'subscribe' | 'history' | 'health' | 'reportHealth'
>;

export const traffic = serviceKey<Traffic>('traffic');
