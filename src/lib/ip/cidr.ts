import { formatIp, parseIp } from './address.ts';
import type { IpAddress } from './address.ts';

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
  if (ip === undefined) return malformed(addressReason(address));
  const isIpv6Text = address.includes(':');
  if (isIpv6Text && address.includes('%')) return malformed('names a zone, which no address range can have');
  if (slash < 0) return noMask(ip);
  const maxPrefix = isIpv6Text ? 128 : 32;
  const prefix = readPrefix(text, slash + 1, maxPrefix);
  if (prefix < 0) return malformed(`must have a mask length between 0 and ${maxPrefix}, in digits, after the slash`);
  // An IPv4 network has one spelling only, so the text is the canonical one.
  if (!isIpv6Text) return onNetwork(ip, prefix, text);
  if (ip.family === 6) return onNetwork(ip, prefix);
  return prefix >= 96
    ? mappedFault(ip, prefix - 96)
    : onNetwork({ family: 6, word0: 0, word1: 0, word2: 0xffff, word3: ip.word0 }, prefix);
}

export function formatCidr(cidr: Cidr): string {
  return `${formatIp(cidr)}/${cidr.prefix}`;
}

/** The range of that mask length in which the address lies. */
export function networkOf(ip: IpAddress, prefix: number): Cidr {
  return {
    family: ip.family,
    word0: keepBits(ip.word0, prefix),
    word1: keepBits(ip.word1, prefix - 32),
    word2: keepBits(ip.word2, prefix - 64),
    word3: keepBits(ip.word3, prefix - 96),
    prefix,
  };
}

/** Canonical text of every range that contains the address, widest first: 33 for IPv4, 129 for IPv6. */
export function cidrsContaining(ip: IpAddress): string[] {
  return Array.from({ length: bitsOf(ip.family) + 1 }, (_, prefix) => formatCidr(networkOf(ip, prefix)));
}

/** The range that holds only this address. */
export function cidrOfAddress(ip: IpAddress): Cidr {
  return networkOf(ip, bitsOf(ip.family));
}

function bitsOf(family: 4 | 6): number {
  return family === 4 ? 32 : 128;
}

function keepBits(word: number, bits: number): number {
  if (bits <= 0) return 0;
  return bits >= 32 ? word : word & (-1 << (32 - bits));
}

/** The mask length from `from` to the end, or -1. */
function readPrefix(text: string, from: number, max: number): number {
  let prefix = -1;
  for (let at = from; at < text.length; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9 || prefix === 0) return -1;
    prefix = prefix < 0 ? digit : prefix * 10 + digit;
    if (prefix > max) return -1;
  }
  return prefix;
}

/** `text`, if given, is the canonical one where the address is the first of the range. */
function onNetwork(ip: IpAddress, prefix: number, text?: string): CidrResult {
  const cidr = networkOf(ip, prefix);
  if (isSameAddress(cidr, ip)) return { ok: true, cidr, canonical: text ?? formatCidr(cidr) };
  const suggestion = formatCidr(cidr);
  const reason = `has bits set after the first ${prefix}; the range is ${suggestion}`;
  return { ok: false, fault: 'host-bits', suggestion, reason };
}

function isSameAddress(one: IpAddress, other: IpAddress): boolean {
  return (
    one.word0 === other.word0 && one.word1 === other.word1 && one.word2 === other.word2 && one.word3 === other.word3
  );
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

function addressReason(address: string): string {
  if (address === '') return 'is empty where an address belongs';
  if (/^(?:\d+\.){3}\d+$/.test(address) && /(?:^|\.)0\d/.test(address)) {
    return 'has a number with a leading zero, which some programs read as octal; write it without';
  }
  return 'is not an IPv4 or IPv6 address followed by a slash and a mask length';
}

function malformed(reason: string): CidrFault {
  return { ok: false, fault: 'malformed', reason };
}
