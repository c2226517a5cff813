import { ipFromIpv4Word } from './address.ts';
import type { IpAddress } from './address.ts';

/** 127.0.0.0/8 and ::1. */
export function isLoopback({ family, word0, word1, word2, word3 }: IpAddress): boolean {
  if (family === 4) return word0 >>> 24 === 127;
  return word0 === 0 && word1 === 0 && word2 === 0 && word3 === 1;
}

/** 0.0.0.0/8 and ::, by which a system connects to itself. */
export function isUnspecified({ family, word0, word1, word2, word3 }: IpAddress): boolean {
  if (family === 4) return word0 >>> 24 === 0;
  return word0 === 0 && word1 === 0 && word2 === 0 && word3 === 0;
}

/** 169.254.0.0/16 and fe80::/10: the neighbours on one line, and the metadata services of clouds. */
export function isLinkLocal({ family, word0 }: IpAddress): boolean {
  return family === 4 ? word0 >>> 16 === 0xa9fe : word0 >>> 22 === 0x3fa;
}

/** The IPv4 address that a NAT64 translates the address to (64:ff9b::/96); undefined for any other address. */
export function translatedIpv4({ family, word0, word1, word2, word3 }: IpAddress): IpAddress | undefined {
  const isTranslated = family === 6 && word0 === 0x0064ff9b && word1 === 0 && word2 === 0;
  return isTranslated ? ipFromIpv4Word(word3) : undefined;
}
