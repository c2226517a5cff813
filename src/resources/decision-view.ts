import type { DecisionRow } from '../decisions/columns.ts';
import { gatewaySuffix } from '../decisions/gateway-suffix.ts';
import { toTimestamp } from '../lib/ids.ts';

export const decisionPrefix = 'dec';
/** Digits of an id, so that ids sort in the order of decisions. */
const digits = 17;

export function decisionId({ number, suffix }: { readonly number: number; readonly suffix: string }): string {
  return `${decisionPrefix}_${String(number).padStart(digits, '0')}${suffix}`;
}

/** A decision as people read it. */
export function presentDecision({ row, gateway }: { readonly row: DecisionRow; readonly gateway: string }) {
  return {
    id: decisionId({ number: Number(row.number), suffix: gatewaySuffix(gateway) }),
    gateway,
    at: toTimestamp(Number(row.at_ms)),
    kind: row.kind,
    verdict: row.verdict,
    request_id: some(row.request_id),
    edge_id: row.edge_id,
    route_id: some(row.route_id),
    client_ip: row.source,
    host: some(row.host),
    port: some(row.port),
    method: some(row.method),
    path: some(row.path),
    protocol: some(row.protocol),
    status: some(row.status),
    code: some(row.code),
    module: some(row.module),
    restrictions: row.rule === '' ? undefined : row.rule.split(' '),
    would_be_refused_by: some(row.would_be_refused_by),
    reason: some(row.reason),
    person: some(row.person),
    upstream: some(row.backend_id),
    duration_ms: Number(row.duration_us) / 1000,
    upstream_ms: row.upstream_us < 0n ? undefined : Number(row.upstream_us) / 1000,
    bytes_in: Number(row.bytes_in),
    bytes_out: Number(row.bytes_out),
    configuration_version: Number(row.configuration_version),
    worker: some(row.worker),
  };
}

/** Empty texts and 0 stand for none. */
function some<Value extends string | number>(value: Value): Value | undefined {
  return value === '' || value === 0 ? undefined : value;
}
