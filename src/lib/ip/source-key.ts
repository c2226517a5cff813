import { formatIp } from './address.ts';
import type { IpAddress } from './address.ts';

/** One source as far as limits count: an IPv4 address, or one /64 network of IPv6. */
export type SourceKey = number | string;

/** The key of all trusted proxies that do not say whom they forward for. It has no share of its own to keep to. */
export const proxiesKey = 'proxies';

/** The first half of an IPv6 address is the network of one customer, who can call from any address in it. */
export function sourceKey({ family, word0, word1 }: IpAddress): SourceKey {
  return family === 4 ? word0 : `${word0} ${word1}`;
}

export function formatSourceKey(key: SourceKey): string {
  if (key === proxiesKey) return key;
  if (typeof key === 'number') return formatIp({ family: 4, word0: key, word1: 0, word2: 0, word3: 0 });
  const [word0 = 0, word1 = 0] = key.split(' ').map(Number);
  return `${formatIp({ family: 6, word0, word1, word2: 0, word3: 0 })}/64`;
}
