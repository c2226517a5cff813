import { formatIp } from '../../lib/ip/address.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import { CidrSet } from '../../lib/ip/cidr-set.ts';
import type { Listener, ProcessEntry, SnapshotFollower, SnapshotUpdate } from '../../snapshot/contract.ts';
import type { InwardOptions } from '../engine.ts';
import { canonicalAddress } from './own-addresses.ts';
import type { OwnAddresses } from './own-addresses.ts';
import { TcpPorts } from './tcp-ports.ts';

/** Another machine of the installation. */
interface OtherMachine {
  readonly addresses: ReadonlySet<string>;
  readonly ports: ReadonlyMap<number, string>;
  /** True if a gateway there has the ports of TCP edges too. */
  readonly hasTcpEdges: boolean;
}

/**
 * Finds the listener of the installation that an address and port lead to. Which address a listener is bound to does not
 * count: its port is taken as its own on every address of its machine, which is simple and errs on the safe side.
 */
export class ListenerTable implements SnapshotFollower {
  readonly #options: InwardOptions;
  readonly #own: Pick<OwnAddresses, 'has'>;
  /** Addresses outside the machine that lead back to the installation. */
  readonly #fromOutside: CidrSet;
  readonly #tcpPorts = new TcpPorts();
  readonly #processes = new Map<string, ProcessEntry>();
  /** Listeners of this process, which may have been given their port by the system. */
  readonly #opened = new Map<number, string>();
  /** Listeners on this machine by port, without the ports of TCP edges. */
  #here: ReadonlyMap<number, string> = new Map();
  #others: readonly OtherMachine[] = [];
  /** Ports of listeners anywhere, and those that the world sees: any other port needs no further look. */
  #ports: ReadonlyMap<number, string> = new Map();
  #grown: () => void = () => {};

  constructor(options: InwardOptions, own: Pick<OwnAddresses, 'has'>) {
    this.#options = options;
    this.#own = own;
    this.#fromOutside = new CidrSet(options.ownAddresses);
    for (const { kind, port } of options.listeners) if (port !== 0) this.#opened.set(port, kind);
    this.#rebuild();
  }

  /** Calls back whenever there may be a listener that was not there before. */
  onGrowth(grown: () => void): void {
    this.#grown = grown;
  }

  /** Takes a listener of this process whose port the system has chosen. */
  add(kind: string, port: number): void {
    this.#opened.set(port, kind);
    this.#rebuild();
    this.#grown();
  }

  /** False: no address leads to a listener at this port. */
  hasPort(port: number): boolean {
    return this.#ports.has(port) || this.#tcpPorts.has(port);
  }

  /** The kind of listener that the address and port lead to. */
  find(ip: IpAddress, port: number): string | undefined {
    if (!this.hasPort(port)) return undefined;
    const here = this.#own.has(ip) ? this.findHere(port) : undefined;
    if (here !== undefined) return here;
    const tcpEdge = this.#tcpPorts.has(port) ? 'tcp' : undefined;
    if (this.#fromOutside.lookup(ip) !== 0) return this.#ports.get(port) ?? tcpEdge;
    const text = formatIp(ip);
    for (const { addresses, ports, hasTcpEdges } of this.#others) {
      const kind = addresses.has(text) ? (ports.get(port) ?? (hasTcpEdges ? tcpEdge : undefined)) : undefined;
      if (kind !== undefined) return kind;
    }
    return undefined;
  }

  /** The kind of listener at the port, whichever address of this machine is asked for. */
  findHere(port: number): string | undefined {
    return this.#here.get(port) ?? (this.#tcpPorts.has(port) ? 'tcp' : undefined);
  }

  /** Takes the ports of new TCP edges at once: they must be known before their listeners are open. */
  prepare(update: SnapshotUpdate): () => void {
    const swapPorts = this.#tcpPorts.prepare(update);
    if (update.set.some(({ kind }) => kind === 'tcp_edge')) this.#grown();
    return () => {
      swapPorts();
      this.#swapProcesses(update);
    };
  }

  #swapProcesses({ full, set, removed }: SnapshotUpdate): void {
    const before = this.#processes.size;
    if (full) this.#processes.clear();
    const added = set.filter((entry) => entry.kind === 'running_process');
    for (const entry of added) this.#processes.set(entry.id, entry);
    for (const { kind, id } of removed) if (kind === 'running_process') this.#processes.delete(id);
    if (added.length === 0 && before === this.#processes.size) return;
    this.#rebuild();
    this.#grown();
  }

  #rebuild(): void {
    const here = new Map(this.#opened);
    const ports = new Map<number, string>();
    const others: OtherMachine[] = [];
    for (const { listeners, addresses, networkId } of this.#processes.values()) {
      const byPort = new Map(listeners.flatMap(({ kind, port }) => (port === 0 ? [] : [[port, kind] as const])));
      const isHere = networkId === '' || this.#options.networkId === '' || networkId === this.#options.networkId;
      // One that may be here has addresses all the same: a process may see fewer of them than it has.
      if (isHere) for (const [port, kind] of byPort) here.set(port, kind);
      const hasTcpEdges = listeners.some(({ kind }) => kind === 'tcp');
      others.push({ addresses: new Set(addresses.map(canonicalAddress)), ports: byPort, hasTcpEdges });
      for (const machine of advertised(listeners)) {
        others.push(machine);
        for (const [port, kind] of machine.ports) ports.set(port, kind);
      }
      for (const [port, kind] of byPort) ports.set(port, kind);
    }
    for (const [port, kind] of here) ports.set(port, kind);
    for (const port of this.#options.publicPorts) if (!ports.has(port)) ports.set(port, 'public');
    this.#here = here;
    this.#others = others;
    this.#ports = ports;
  }
}

/** Addresses of somebody else, such as a NAT, that lead to a listener. */
function advertised(listeners: readonly Listener[]): readonly OtherMachine[] {
  return listeners.flatMap(({ kind, advertised: address }) =>
    address === undefined
      ? []
      : {
          addresses: new Set([canonicalAddress(address.host)]),
          ports: new Map([[address.port, kind]]),
          hasTcpEdges: false,
        },
  );
}
