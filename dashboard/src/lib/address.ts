import { parseIp } from '../../../src/lib/ip/address.ts';
import { cidrOfAddress, cidrsContaining, formatCidr, parseCidr } from '../../../src/lib/ip/cidr.ts';

/** Whether a text looks like an address or a CIDR; the server judges. */
export function looksLikeAddress(text: string): boolean {
  return parseIp(text.split('/')[0] ?? '') !== undefined;
}

/** The range of this address alone: `203.0.113.7/32`. */
export function rangeOfAddress(text: string): string | undefined {
  const ip = parseIp(text);
  return ip === undefined ? undefined : formatCidr(cidrOfAddress(ip));
}

/** Sorts by address and mask as numbers, IPv4 first: 10.0.9.0/24 stands before 10.0.10.0/24. */
export function sortByNetwork<Row extends { readonly cidr: string }>(rows: readonly Row[]): readonly Row[] {
  const keyed = rows.map((row) => [networkKey(row.cidr), row] as const);
  return keyed.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, row]) => row);
}

/** Digits of equal number, so that keys sort as texts. */
function networkKey(text: string): string {
  const parsed = parseCidr(text);
  if (!parsed.ok) return text;
  const { family, word0, word1, word2, word3, prefix } = parsed.cidr;
  const words = [word0, word1, word2, word3].map((word) => (word >>> 0).toString(16).padStart(8, '0'));
  return `${family}${words.join('')}${String(prefix).padStart(3, '0')}`;
}

/** Every range that contains the address, as rules write them; undefined where the text is no address. */
export function rangesContaining(text: string): ReadonlySet<string> | undefined {
  const ip = parseIp(text);
  return ip === undefined ? undefined : new Set(cidrsContaining(ip));
}
