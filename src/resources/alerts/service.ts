import { serviceKey } from '../services.ts';

/** Kinds of alerts, as the log of changes names them. */
export const alertKinds = [
  'agent_session_alert',
  'backend_alert',
  'certificate_alert',
  'quota_alert',
  'refusals_alert',
] as const;
export type AlertKind = (typeof alertKinds)[number];

/** Types of events by kind: when it begins or changes, and when it is over. */
const types: Readonly<Record<AlertKind, readonly [begun: string, over: string]>> = {
  agent_session_alert: ['agent_session_start.v0', 'agent_session_stop.v0'],
  backend_alert: ['backend_down.v0', 'backend_up.v0'],
  certificate_alert: ['certificate_expiring.v0', 'certificate_expiring_over.v0'],
  quota_alert: ['quota_nearly_used.v0', 'quota_nearly_used_over.v0'],
  refusals_alert: ['visitors_refused.v0', 'visitors_refused_over.v0'],
};

export const alertTypes: readonly string[] = Object.values(types).flat();

/** The type of the event of an alert that is `created`, `updated` or `deleted`; undefined for other kinds. */
export function typeOfAlert(kind: string, action: string): string | undefined {
  const known = alertKinds.find((each) => each === kind);
  return known && types[known][action === 'deleted' ? 1 : 0];
}

/** The kind of alert that a type of events is of. */
export function alertKindOf(type: string): AlertKind | undefined {
  return alertKinds.find((kind) => types[kind].includes(type));
}

/** Kinds of alerts that somebody is told of, by account. */
export interface WatchedAlerts {
  read(): Promise<ReadonlyMap<string, ReadonlySet<AlertKind>>>;
}

/** Who subscribes to alerts. */
export const watchedAlerts = serviceKey<WatchedAlerts>('watched alerts');
