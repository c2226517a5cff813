import type { Socket } from 'node:net';

import { parseIp } from '../../lib/ip/address.ts';
import { isUnspecified } from '../../lib/ip/special-addresses.ts';
import { KeySets } from '../../lib/key-sets.ts';
import { canonicalAddress } from './own-addresses.ts';

/** Both ends of a connection as the side sees them that has accepted it; addresses are canonical. */
export interface Arrival {
  readonly peerAddress: string;
  readonly peerPort: number;
  readonly address: string;
  readonly port: number;
}

/** Undefined for a connection that is gone already. */
export function arrivalOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): Arrival | undefined {
  if (remoteAddress === undefined || remotePort === undefined) return undefined;
  if (localAddress === undefined || localPort === undefined) return undefined;
  return {
    peerAddress: canonicalAddress(remoteAddress),
    peerPort: remotePort,
    address: canonicalAddress(localAddress),
    port: localPort,
  };
}

interface OpenSocket {
  readonly socket: Socket;
  /** The address that it was told to connect to last. */
  address: string;
  /** Undefined until somebody asked for it. */
  localPort: number | undefined;
}

/** The sockets to one port of upstreams. */
interface PortSockets {
  readonly all: Set<OpenSocket>;
  /** Sockets that have called connect, but whose own port has not been asked for. */
  readonly unread: Set<OpenSocket>;
  readonly byLocalPort: KeySets<number, OpenSocket>;
}

/**
 * Our sockets to upstreams, by which an arrival is known that one of them has made. All four parts of a connection must
 * agree: the system gives one local port to several connections that lead to different places, so that our own port alone
 * may as well be that of a proxy on this machine.
 */
export class UpstreamSockets {
  readonly #ports = new Map<number, PortSockets>();

  /** Must be called before the socket connects. */
  track(socket: Socket, port: number): void {
    const sockets = this.#socketsTo(port);
    const open: OpenSocket = { socket, address: '', localPort: undefined };
    sockets.all.add(open);
    // Comes right before each call of connect, of which there are several where a name has several addresses.
    socket.on('connectionAttempt', (address: string) => {
      forgetPort(sockets, open);
      open.address = address;
      sockets.unread.add(open);
    });
    socket.on('close', () => {
      sockets.all.delete(open);
      forgetPort(sockets, open);
      if (sockets.all.size === 0) this.#ports.delete(port);
    });
  }

  /** True if one of the sockets made the connection. */
  made({ peerAddress, peerPort, address, port }: Arrival): boolean {
    const sockets = this.#ports.get(port);
    if (sockets === undefined) return false;
    for (const open of sockets.unread) readPort(sockets, open);
    for (const open of sockets.byLocalPort.of(peerPort) ?? []) {
      const localAddress = canonicalAddress(open.socket.localAddress ?? '');
      if (localAddress === peerAddress && leadsTo(open.address, address)) return true;
    }
    return false;
  }

  /** False: none is open to that port. */
  hasPort(port: number): boolean {
    return this.#ports.has(port);
  }

  /** The open sockets to ports that the test picks, with the address that each was told to connect to. */
  *to(picks: (port: number) => boolean): Generator<{ socket: Socket; address: string; port: number }> {
    for (const [port, { all }] of this.#ports) {
      if (picks(port)) for (const { socket, address } of all) yield { socket, address, port };
    }
  }

  #socketsTo(port: number): PortSockets {
    const known = this.#ports.get(port);
    if (known !== undefined) return known;
    const sockets: PortSockets = { all: new Set(), unread: new Set(), byLocalPort: new KeySets() };
    this.#ports.set(port, sockets);
    return sockets;
  }
}

function readPort({ unread, byLocalPort }: PortSockets, open: OpenSocket): void {
  const { localPort } = open.socket;
  unread.delete(open);
  if (localPort === undefined) return;
  open.localPort = localPort;
  byLocalPort.add(localPort, open);
}

function forgetPort({ unread, byLocalPort }: PortSockets, open: OpenSocket): void {
  unread.delete(open);
  if (open.localPort !== undefined) byLocalPort.delete(open.localPort, open);
  open.localPort = undefined;
}

/** True if a connect to the first address arrives at the second. */
function leadsTo(target: string, address: string): boolean {
  const ip = parseIp(target);
  return ip !== undefined && (isUnspecified(ip) || canonicalAddress(target) === address);
}
