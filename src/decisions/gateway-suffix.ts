import { createHash } from 'node:crypto';

import { BoundedCache } from '../lib/bounded-cache.ts';

const digits = 8;
const known = new BoundedCache<string, string>(1_000);

/** Tells decisions of one gateway from those of others with the same number. */
export function gatewaySuffix(gateway: string): string {
  let suffix = known.get(gateway);
  if (suffix === undefined) {
    suffix = createHash('sha256').update(gateway).digest('hex').slice(0, digits);
    known.set(gateway, suffix);
  }
  return suffix;
}
