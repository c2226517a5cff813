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
    for (const half of ['high', 'low'] as const) {
      // The columns are signed, so that a range may begin above zero and go on below.
      const [from, to] = [BigInt.asIntN(64, source.first[half]), BigInt.asIntN(64, source.last[half])];
      add(`(source_${half} >= $${half}From ${from <= to ? 'AND' : 'OR'} source_${half} <= $${half}To)`, {
        [`${half}From`]: from,
        [`${half}To`]: to,
      });
    }
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
