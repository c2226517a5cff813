import type { DuckDBValue } from '@duckdb/node-api';

import type { AnyOf, Selection } from './messages.ts';

interface Conditions {
  readonly where: string;
  readonly values: Record<string, DuckDBValue>;
}

/** The condition of a query. What a caller has given is in its values only. */
export function conditionsOf(filter: Selection & { readonly before?: number | undefined }): Conditions {
  const { before, fromMs, toMs, edgeId, routeId, source, verdict, module, person, rule, host, status, requestId } =
    filter;
  const { backendId, anyOf } = filter;
  const conditions: string[] = ['true'];
  const values: Record<string, DuckDBValue> = {};
  const add = (condition: string, given: Record<string, DuckDBValue | undefined>): void => {
    if (Object.values(given).includes(undefined)) return;
    conditions.push(condition);
    Object.assign(values, given);
  };
  add('number < $before', { before: asWhole(before) });
  add('at_ms >= $fromMs', { fromMs: asWhole(fromMs) });
  add('at_ms < $toMs', { toMs: asWhole(toMs) });
  add('edge_id = $edgeId', { edgeId });
  add('route_id = $routeId', { routeId });
  add('verdict = $verdict', { verdict });
  add('(module = $module OR would_be_refused_by = $module)', { module });
  add('person = $person', { person });
  add("list_contains(string_split(rule, ' '), $rule)", { rule });
  add('lower(host) = $host', { host: host?.toLowerCase() });
  add('status = $status', { status });
  add('request_id = $requestId', { requestId });
  add('backend_id = $backendId', { backendId });
  if (anyOf !== undefined) {
    conditions.push(anyOf.length === 0 ? 'false' : `(${anyOf.map(conditionOfKey).join(' OR ')})`);
    for (const [at, { key }] of anyOf.entries()) values[`key${at}`] = key;
  }
  if (source !== undefined) {
    const { first, last } = source;
    const bounds = { firstHigh: first.high, firstLow: first.low, lastHigh: last.high, lastLow: last.low };
    // A network ends within the lower half, or has all of it.
    add('source_high BETWEEN $firstHigh AND $lastHigh AND source_low BETWEEN $firstLow AND $lastLow', bounds);
    conditions.push("source <> ''");
  }
  return { where: conditions.join(' AND '), values };
}

function conditionOfKey({ dimension }: AnyOf, at: number): string {
  if (dimension === 'restriction') return `list_contains(string_split(rule, ' '), $key${at})`;
  return `${dimension}_id = $key${at}`;
}

function asWhole(value: number | undefined): bigint | undefined {
  return value === undefined ? undefined : BigInt(Math.trunc(value));
}
