import type { Directive } from './caddy-blocks.ts';

/** How addresses share traffic and are watched, as a static backend has it. */
interface HealthSettings {
  readonly settings: object;
  /** Settings that are not taken over. */
  readonly left: readonly Directive[];
}

const policies: Readonly<Record<string, string>> = {
  random: 'round_robin',
  random_choose: 'least_connections',
  round_robin: 'round_robin',
  least_conn: 'least_connections',
  ip_hash: 'source',
  client_ip_hash: 'source',
  header: 'header',
};

/** Reads what stands in a `reverse_proxy` block about several upstreams. */
export function readCaddyHealth(block: readonly Directive[]): HealthSettings {
  const active: Record<string, unknown> = {};
  const passive: Record<string, unknown> = {};
  const other: Record<string, unknown> = {};
  const isLeft = ({ words, block: inner }: Directive): boolean => {
    const [name = '', ...args] = words;
    const [first = ''] = args;
    const put = (target: Record<string, unknown>, field: string, value: unknown): boolean => {
      if (value === undefined || inner !== undefined) return true;
      target[field] = value;
      return false;
    };
    switch (name) {
      case 'lb_policy': {
        const by = policies[first];
        if (by === 'round_robin') return false;
        const balance = by === 'header' ? { by, header: args[1] } : { by };
        return put(other, 'balance', by === undefined ? undefined : balance);
      }
      case 'lb_retries':
        return put(other, 'retries', count(first, 0, 5));
      case 'health_uri':
        return put(active, 'path', first.startsWith('/') ? first : `/${first}`);
      case 'health_interval':
        return put(active, 'interval_seconds', seconds(first, 3600));
      case 'health_timeout':
        return put(active, 'timeout_seconds', seconds(first, 60));
      case 'health_status':
        return put(active, 'statuses', statusesOf(args));
      case 'health_passes':
        return put(active, 'passes', count(first, 1, 100));
      case 'health_fails':
        return put(active, 'failures', count(first, 1, 100));
      case 'fail_duration':
        return put(passive, 'down_seconds', seconds(first, 3600));
      case 'max_fails':
        return put(passive, 'failures', count(first, 1, 100));
      case 'unhealthy_status':
        return put(passive, 'statuses', statusesOf(args));
      default:
        return true;
    }
  };
  const left = new Set(block.filter(isLeft));
  // Each begins with one of its words there, and says nothing without it.
  const isActive = 'path' in active;
  const isPassive = 'down_seconds' in passive;
  const interval = Number(active['interval_seconds'] ?? 30);
  const timeout_seconds = Math.min(interval, Number(active['timeout_seconds'] ?? 5));
  return {
    settings: {
      ...other,
      ...(isActive && { active_check: { failures: 1, passes: 1, ...active, timeout_seconds } }),
      ...(isPassive && { passive_check: { failures: 1, ...passive } }),
    },
    left: block.filter(
      (each) =>
        left.has(each) ||
        (!isActive && each.words[0]?.startsWith('health_') === true) ||
        (!isPassive && /^(?:max_fails|unhealthy_status)$/.test(each.words[0] ?? '')),
    ),
  };
}

function count(text: string, least: number, most: number): number | undefined {
  return /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined;
}

const units: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600 };

/** `1m30s` as whole seconds, at least one. */
function seconds(text: string, most: number): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/.test(text)) return undefined;
  let sum = 0;
  for (const [, amount, unit = ''] of text.matchAll(/([\d.]+)(ms|s|m|h)/gy)) sum += Number(amount) * (units[unit] ?? 0);
  return Math.min(most, Math.max(1, Math.round(sum)));
}

/** `2xx` and `503` as ranges and statuses. */
function statusesOf(words: readonly string[]): readonly string[] | undefined {
  const found = words.map((word) =>
    /^[1-5]xx$/.test(word) ? `${word[0]}00-${word[0]}99` : /^[1-5]\d\d$/.test(word) ? word : undefined,
  );
  return found.every((each) => each !== undefined) && found.length > 0 ? found : undefined;
}
