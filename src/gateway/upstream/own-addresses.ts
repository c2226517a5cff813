import { formatIp, parseIp } from '../../lib/ip/address.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import { isLoopback, isUnspecified } from '../../lib/ip/special-addresses.ts';
import { machineAddresses } from '../../lib/this-machine.ts';

/** The addresses that lead to this machine. */
export class OwnAddresses {
  #listed: readonly string[] = [];
  #known: ReadonlySet<string> = new Set();

  has(ip: IpAddress): boolean {
    if (isLoopback(ip) || isUnspecified(ip)) return true;
    const listed = machineAddresses();
    if (listed !== this.#listed) {
      this.#listed = listed;
      this.#known = new Set(listed.map(canonicalAddress));
    }
    return this.#known.has(formatIp(ip));
  }
}

/** One text for all spellings of an address; the text itself where it is none. */
export function canonicalAddress(text: string): string {
  const ip = parseIp(text);
  return ip === undefined ? text : formatIp(ip);
}
