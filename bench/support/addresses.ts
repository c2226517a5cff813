/**
 * Returns the n-th of a million different CIDRs, scattered over the address space as rules of many sources are. None
 * contains 127.0.0.1 or lies in 0.0.0.0/8.
 */
export function cidrNumber(at: number): string {
  // Multiples of the golden ratio keep their distance from each other.
  const network = (Math.imul(at, 0x9e3779b1) & 0xfffffff0) >>> 0;
  const first = network >>> 24;
  const moved = first === 127 || first === 0 ? (network & 0x00ffffff) | 0x0b000000 : network;
  return `${formatIpv4(moved)}/28`;
}

/** Returns the n-th of a million different IPv6 CIDRs. */
export function ipv6CidrNumber(at: number): string {
  const scattered = Math.imul(at, 0x9e3779b1) >>> 0;
  return `2001:${(scattered >>> 16).toString(16)}:${(scattered & 0xffff).toString(16)}::/48`;
}

export function formatIpv4(value: number): string {
  return [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255].join('.');
}
