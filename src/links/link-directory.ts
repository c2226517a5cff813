import type { ListenAddress } from '../lib/host-port.ts';
import { parseIp } from '../lib/ip/address.ts';
import type { IpAddress } from '../lib/ip/address.ts';
import { isLinkLocal, isLoopback, isUnspecified } from '../lib/ip/special-addresses.ts';
import type { Listener, ProcessEntry, SnapshotUpdate } from '../snapshot/contract.ts';

/**
 * Where the processes of the installation listen for links. It follows snapshots, so that it needs no database to find
 * a process.
 */
export class LinkDirectory {
  readonly #networkId: string;
  readonly #processes = new Map<string, ProcessEntry>();
  #gone: (processId: string) => void = () => {};
  #changed: () => void = () => {};

  /** `networkId` is that of this machine, as in `Machine`. */
  constructor(networkId: string) {
    this.#networkId = networkId;
  }

  /** Calls back for each process that has ended or listens elsewhere. */
  onGone(gone: (processId: string) => void): void {
    this.#gone = gone;
  }

  /** Calls back whenever processes have come, gone or changed. */
  onChange(changed: () => void): void {
    this.#changed = changed;
  }

  follow({ full, set, removed }: SnapshotUpdate): void {
    const before = new Map(this.#processes);
    if (full) this.#processes.clear();
    for (const { kind, id } of removed) if (kind === 'running_process') this.#processes.delete(id);
    for (const entry of set) if (entry.kind === 'running_process') this.#processes.set(entry.id, entry);
    for (const [id, entry] of before) {
      if (listenerOf(entry) !== listenerOf(this.#processes.get(id))) this.#gone(id);
    }
    if (full || [...removed, ...set].some(({ kind }) => kind === 'running_process')) this.#changed();
  }

  /** Addresses at which the process may be reached from here; undefined for one that is not known. */
  addressesOf(processId: string): readonly ListenAddress[] | undefined {
    const entry = this.#processes.get(processId);
    const listener = entry?.listeners.find(({ kind }) => kind === 'links');
    if (entry === undefined) return undefined;
    if (listener === undefined || listener.port === 0) return [];
    if (listener.advertised !== undefined) return [listener.advertised];
    return this.#hostsOf(entry, listener).map((host) => ({ host, port: listener.port }));
  }

  /** True if agents may connect to another process than this one. */
  hasOtherHolder(ownId: string): boolean {
    return [...this.#processes.values()].some(
      ({ id, listeners }) => id !== ownId && listeners.some(({ kind }) => kind === 'agents'),
    );
  }

  /** The other processes that carry traffic. */
  otherGateways(ownId: string): readonly string[] {
    const others = [...this.#processes.values()].filter(({ id }) => id !== ownId);
    return others.filter(({ listeners }) => listeners.some(({ kind }) => kind === 'tcp')).map(({ id }) => id);
  }

  #hostsOf({ networkId, addresses }: ProcessEntry, { host }: Listener): readonly string[] {
    const ip = parseIp(host === 'localhost' ? '127.0.0.1' : host);
    if (ip === undefined || !(isLoopback(ip) || isUnspecified(ip))) return [host];
    const isHere = networkId === this.#networkId;
    // Where the system does not tell the machine, the loopback address is worth a try: whoever answers says who it is.
    const mayBeHere = isHere || networkId === '' || this.#networkId === '';
    const loopback = ip.family === 4 ? '127.0.0.1' : '::1';
    if (isLoopback(ip)) return mayBeHere ? [host] : [];
    if (isHere) return [loopback];
    const reachable = addresses.filter((address) => canReach(parseIp(address), ip));
    return mayBeHere ? [loopback, ...reachable] : reachable;
  }
}

/** True if a listener on the unspecified address `bound` is found at the address. */
function canReach(address: IpAddress | undefined, bound: IpAddress): boolean {
  if (address === undefined || isLinkLocal(address)) return false;
  return bound.family === 6 || address.family === 4;
}

/** The listener as text, to tell whether it has changed. */
function listenerOf(entry: ProcessEntry | undefined): string {
  const links = entry?.listeners.filter(({ kind }) => kind === 'links') ?? [];
  return JSON.stringify([links, entry?.addresses]);
}
