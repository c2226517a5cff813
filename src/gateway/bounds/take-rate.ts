import { createHash } from 'node:crypto';

import { rateLimited } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import type { ConnectionServices, ConnectionVisit, RateLimit } from '../../modules/step.ts';
import { findOnlyHeader } from '../../lib/header-list.ts';
import type { RateCounts } from './rate-counts.ts';

/** Longer values are counted by a digest, so that memory is bounded. */
const longestKey = 64;

/** Counts visits, and refuses those beyond a limit. */
export function takeRates(counts: RateCounts): ConnectionServices['rates'] {
  return {
    take(visit, rule) {
      const owner = rule.scope === 'edge' ? visit.edgeId : visit.ownerId;
      const seconds = counts.take(visit.accountId, owner, rule, rateKey(rule, visit));
      if (seconds === true) {
        visit.warn(rule.by === 'key' ? 'rate-limit' : 'rate_limit');
        rule.exceeded?.();
      }
      if (typeof seconds !== 'number') return undefined;
      const values = { limit: rule.limit, window: rule.windowMs / 1000, seconds };
      return new UserError(rateLimited, values, { 'Retry-After': String(seconds) });
    },
  };
}

/** Who is counted. Without a certificate it is the source; without the header, or with several, all such are one. */
function rateKey(
  { by, header, key = '' }: RateLimit,
  { headers, certificate, countedSource }: ConnectionVisit,
): string {
  if (by === 'key') return `k ${bounded(key)}`;
  if (by === 'header') {
    const value = findOnlyHeader(headers, header) ?? '';
    return `h ${bounded(value)}`;
  }
  const at = by === 'certificate' ? (certificate?.facts.indexOf('X-Client-Cert-Fingerprint') ?? -1) : -1;
  return at < 0 ? `s ${countedSource}` : `c ${certificate?.facts[at + 1] ?? ''}`;
}

function bounded(value: string): string {
  return value.length > longestKey ? createHash('sha256').update(value).digest('base64') : value;
}
