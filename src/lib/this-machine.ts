import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, networkInterfaces } from 'node:os';

/** The machine that a process runs on, as far as addresses are concerned. */
export interface Machine {
  readonly hostname: string;
  /** Two processes with the same one share their loopback addresses. Empty where the system does not tell. */
  readonly networkId: string;
}

/** Addresses can appear and vanish at any time; reading them costs more than a connection does. */
const rereadAfterMs = 1_000;

let addresses: readonly string[] = [];
let readAtMs = -Infinity;

/** The addresses of all interfaces, as the system writes them, at most a second old. */
export function machineAddresses(): readonly string[] {
  const nowMs = performance.now();
  if (nowMs - readAtMs < rereadAfterMs) return addresses;
  readAtMs = nowMs;
  const fresh = Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address));
  // The same list while nothing changed, so that others can tell.
  if (fresh.join() !== addresses.join()) addresses = fresh;
  return addresses;
}

/** The boot and the network namespace: containers of one machine have loopback addresses of their own. */
export function thisMachine(): Machine {
  return { hostname: hostname(), networkId: readNetworkId() };
}

function readNetworkId(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/net')}`;
  } catch {
    return '';
  }
}
