type Json = Readonly<Record<string, unknown>>;

interface HealthSettings {
  /** As a static backend has them. */
  readonly settings: object;
  /** Settings that are not taken over, in words. */
  readonly left: readonly string[];
}

/** Reads how an upstream of Kong shares traffic and is watched. */
export function readKongHealth(upstream: Json, service: Json): HealthSettings {
  const left: string[] = [];
  const checks = objectOf(upstream['healthchecks']);
  const [active, passive] = [objectOf(checks['active']), objectOf(checks['passive'])];
  const retries = service['retries'];
  return {
    settings: {
      ...balanceOf(upstream, left),
      ...(typeof retries === 'number' && retries !== 1 ? { retries: Math.min(5, Math.max(0, retries)) } : {}),
      ...activeOf(active, left),
      ...passiveOf(passive),
    },
    left,
  };
}

function balanceOf({ algorithm, hash_on, hash_on_header }: Json, left: string[]): object {
  if (algorithm === 'least-connections') return { balance: { by: 'least_connections' } };
  if (algorithm === 'consistent-hashing') {
    if (hash_on === 'ip') return { balance: { by: 'source' } };
    if (hash_on === 'header' && typeof hash_on_header === 'string')
      return { balance: { by: 'header', header: hash_on_header } };
    left.push(`hashing by ${typeof hash_on === 'string' ? hash_on : 'none'}`);
  } else if (algorithm !== undefined && algorithm !== 'round-robin') left.push('algorithm');
  return {};
}

/** Checks are off there where their intervals are 0, which is the default of both. */
function activeOf(active: Json, left: string[]): object {
  const [healthy, unhealthy] = [objectOf(active['healthy']), objectOf(active['unhealthy'])];
  const intervals = [healthy['interval'], unhealthy['interval']].map(Number).filter((each) => each > 0);
  if (intervals.length === 0) {
    if (Object.keys(active).length > 0) left.push('active checks without an interval, which are off there');
    return {};
  }
  const isTcp = active['type'] === 'tcp';
  const interval_seconds = within(Math.min(...intervals), 1, 3600);
  const failures = [unhealthy['http_failures'], unhealthy['tcp_failures'], unhealthy['timeouts']].map(Number);
  const passes = Number(healthy['successes']);
  const least = Math.min(...failures.filter((each) => each > 0));
  const path = active['http_path'];
  const statuses = numbers(healthy['http_statuses']);
  return {
    active_check: {
      ...(isTcp ? { kind: 'tcp' } : { path: typeof path === 'string' && path.startsWith('/') ? path : '/' }),
      ...(isTcp || statuses.length === 0 ? {} : { statuses }),
      interval_seconds,
      timeout_seconds: within(Number(active['timeout']) || 1, 1, Math.min(60, interval_seconds)),
      ...(Number.isFinite(least) ? { failures: within(least, 1, 100) } : {}),
      ...(passes > 0 ? { passes: within(passes, 1, 100) } : {}),
    },
  };
}

function passiveOf(passive: Json): object {
  const unhealthy = objectOf(passive['unhealthy']);
  const byStatus = Number(unhealthy['http_failures']);
  const failures = [byStatus, Number(unhealthy['tcp_failures']), Number(unhealthy['timeouts'])].filter(
    (each) => each > 0,
  );
  if (failures.length === 0) return {};
  const statuses = byStatus > 0 ? numbers(unhealthy['http_statuses']) : [];
  const given = statuses.length === 0 && byStatus > 0 ? ['429', '500', '503'] : statuses;
  return { passive_check: { failures: within(Math.min(...failures), 1, 100), statuses: given } };
}

function numbers(value: unknown): readonly string[] {
  return (Array.isArray(value) ? value : [])
    .map(String)
    .filter((each) => /^[1-5]\d\d$/.test(each))
    .slice(0, 20);
}

function within(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, Math.round(value)));
}

function objectOf(value: unknown): Json {
  // Whatever else it may be has no fields that are read.
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}
