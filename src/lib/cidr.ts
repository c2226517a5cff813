import { formatIp, parseIp } from './ip-address.ts';
import type { IpAddress } from './ip-address.ts';

/** `words` as in `IpAddress`; all bits after the first `prefix` are zero. */
export interface Cidr extends IpAddress {
  readonly prefix: number;
}

export interface CidrFault {
  readonly ok: false;
  readonly fault: 'no-mask' | 'host-bits' | 'malformed';
  /** Says what is wrong, to follow the text it is about: `"10.0.0.1/8" has bits set after ...`. */
  readonly reason: string;
  /** Canonical text of what was probably meant. */
  readonly suggestion?: string;
}

export type CidrResult = { readonly ok: true; readonly cidr: Cidr; readonly canonical: string } | CidrFault;

export function parseCidr(text: string): CidrResult {
  const slash = text.indexOf('/');
  const address = slash < 0 ? text : text.slice(0, slash);
  const ip = parseIp(address);
  if (ip === undefined) return malformed('is not an IPv4 or IPv6 address followed by a slash and a mask length');
  if (address.includes('%')) return malformed('names a zone, which no address range can have');
  if (slash < 0) return noMask(ip);
  const mapped = ip.family === 4 && address.includes(':');
  const maxPrefix = mapped ? 128 : bitsOf(ip.family);
  const prefix = readPrefix(text.slice(slash + 1), maxPrefix);
  if (prefix < 0) return malformed(`must have a mask length between 0 and ${maxPrefix}, in digits, after the slash`);
  if (mapped && prefix >= 96) return mappedFault(ip, prefix - 96);
  return onNetwork(mapped ? { family: 6, words: [0, 0, 0xffff, ...ip.words] } : ip, prefix);
}

export function formatCidr(cidr: Cidr): string {
  return `${formatIp(cidr)}/${cidr.prefix}`;
}

/** The range of that mask length in which the address lies. */
export function networkOf(ip: IpAddress, prefix: number): Cidr {
  return { family: ip.family, words: ip.words.map((word, at) => keepBits(word, prefix - at * 32)), prefix };
}

/** Canonical text of every range that contains the address, widest first: 33 for IPv4, 129 for IPv6. */
export function cidrsContaining(ip: IpAddress): string[] {
  return Array.from({ length: bitsOf(ip.family) + 1 }, (_, prefix) => formatCidr(networkOf(ip, prefix)));
}

/** The range that holds this address alone. */
export function cidrOfAddress(ip: IpAddress): Cidr {
  return networkOf(ip, bitsOf(ip.family));
}

function bitsOf(family: 4 | 6): number {
  return family === 4 ? 32 : 128;
}

function keepBits(word: number, bits: number): number {
  if (bits <= 0) return 0;
  return bits >= 32 ? word : (word & (-1 << (32 - bits))) >>> 0;
}

function readPrefix(text: string, max: number): number {
  if (!/^(?:0|[1-9][0-9]{0,2})$/.test(text)) return -1;
  const prefix = Number(text);
  return prefix <= max ? prefix : -1;
}

function onNetwork(ip: IpAddress, prefix: number): CidrResult {
  const cidr = networkOf(ip, prefix);
  const canonical = formatCidr(cidr);
  if (cidr.words.every((word, at) => word === ip.words[at])) return { ok: true, cidr, canonical };
  const reason = `has bits set after the first ${prefix}; the range is ${canonical}`;
  return { ok: false, fault: 'host-bits', suggestion: canonical, reason };
}

function noMask(ip: IpAddress): CidrFault {
  const suggestion = formatCidr(cidrOfAddress(ip));
  return { ok: false, fault: 'no-mask', suggestion, reason: `has no mask length; a single address is ${suggestion}` };
}

/** Addresses are unmapped before they meet a range, so a range of mapped ones would never match. */
function mappedFault(ip: IpAddress, prefix: number): CidrFault {
  const suggestion = formatCidr(networkOf(ip, prefix));
  const reason = `is an IPv4 range written as IPv6 and would never match; write ${suggestion}`;
  return { ok: false, fault: 'malformed', suggestion, reason };
}

function malformed(reason: string): CidrFault {
  return { ok: false, fault: 'malformed', reason };
}
