import type { Cidr } from '../lib/ip/cidr.ts';
import { sourceHalves } from './decision-line.ts';
import type { SourceRange } from './messages.ts';

const halfBits = 64;
const all = (1n << BigInt(halfBits)) - 1n;

/** The first and last address of a network. */
export function sourceRange(cidr: Cidr): SourceRange {
  const { high, low } = sourceHalves(cidr);
  const prefix = cidr.family === 4 ? cidr.prefix + 96 : cidr.prefix;
  return {
    first: { high, low },
    last: { high: high | hostBits(prefix), low: low | hostBits(prefix - halfBits) },
  };
}

function hostBits(prefix: number): bigint {
  if (prefix <= 0) return all;
  return prefix >= halfBits ? 0n : all >> BigInt(prefix);
}
