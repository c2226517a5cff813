import { parseIp } from '../../../src/lib/ip/address.ts';
import { cidrOfAddress, cidrsContaining, formatCidr } from '../../../src/lib/ip/cidr.ts';

/** Whether a text looks like an address or a CIDR; the server judges. */
export function looksLikeAddress(text: string): boolean {
  return parseIp(text.split('/')[0] ?? '') !== undefined;
}

/** The range of this address alone: `203.0.113.7/32`. */
export function rangeOfAddress(text: string): string | undefined {
  const ip = parseIp(text);
  return ip === undefined ? undefined : formatCidr(cidrOfAddress(ip));
}

/** Every range that contains the address, as rules write them; undefined where the text is no address. */
export function rangesContaining(text: string): ReadonlySet<string> | undefined {
  const ip = parseIp(text);
  return ip === undefined ? undefined : new Set(cidrsContaining(ip));
}
