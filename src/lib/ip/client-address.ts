import { parseIp } from './address.ts';
import type { IpAddress } from './address.ts';
import { CidrSet, packCidrs } from './cidr-set.ts';
import type { FlaggedCidr } from './cidr-set.ts';
import { parseCidr } from './cidr.ts';
import type { CidrResult } from './cidr.ts';

export type TrustedProxies =
  | { readonly ok: true; readonly proxies: CidrSet }
  | { readonly ok: false; readonly faults: readonly string[] };

/**
 * The address of the client, from the peer of the connection and the `X-Forwarded-For` lines of the request. Each hop
 * appended the one before it, so the list is read from its end for as long as the hops are trusted: the first address
 * that is not trusted is the client. An entry that is no address ends the walk with the last address found.
 */
export function clientAddress(
  peer: IpAddress,
  forwardedFor: string | readonly string[] | undefined,
  trusted: CidrSet,
): IpAddress {
  let client = peer;
  if (forwardedFor === undefined) return client;
  const list = typeof forwardedFor === 'string' ? forwardedFor : forwardedFor.join(',');
  let end = list.length;
  while (end > 0 && trusted.lookup(client) !== 0) {
    const comma = list.lastIndexOf(',', end - 1);
    const hop = parseHop(list.slice(comma + 1, end).trim());
    if (hop === undefined) return client;
    client = hop;
    end = comma;
  }
  return client;
}

/** Reads a setting such as `10.0.0.0/8, ::1`, where an address without a mask means itself. */
export function parseTrustedProxies(text: string): TrustedProxies {
  const rules: FlaggedCidr[] = [];
  const faults: string[] = [];
  for (const entry of text.split(',').map((part) => part.trim())) {
    if (entry === '') continue;
    const result = parseEntry(entry);
    if (result.ok) rules.push({ cidr: result.cidr, flags: 1 });
    else faults.push(`"${entry}" ${result.reason}`);
  }
  return faults.length > 0 ? { ok: false, faults } : { ok: true, proxies: new CidrSet(packCidrs(rules)) };
}

function parseEntry(entry: string): CidrResult {
  const result = parseCidr(entry);
  return !result.ok && result.fault === 'no-mask' && result.suggestion !== undefined
    ? parseCidr(result.suggestion)
    : result;
}

/** An address, with or without a port; IPv6 with a port is in brackets. */
function parseHop(text: string): IpAddress | undefined {
  const ip = parseIp(text);
  if (ip !== undefined) return ip;
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([0-9.]+))(?::([0-9]{1,5}))?$/.exec(text) ?? [];
  if (port !== undefined && Number(port) > 65535) return undefined;
  if (bracketed !== undefined) return bracketed.includes(':') ? parseIp(bracketed) : undefined;
  return plain === undefined ? undefined : parseIp(plain);
}
