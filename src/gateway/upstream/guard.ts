import type { LookupFunction, Socket } from 'node:net';

import { parseIp } from '../../lib/ip/address.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import { isLinkLocal, translatedIpv4 } from '../../lib/ip/special-addresses.ts';
import type { BackendRefused } from '../engine.ts';
import type { UpstreamTarget } from './connect.ts';
import type { ListenerTable } from './listener-table.ts';
import { Names } from './names.ts';
import type { NameUser } from './names.ts';
import type { UpstreamSockets } from './upstream-sockets.ts';

/** A backend leads to a listener of the installation, or to a link-local address. */
export class InwardBackendError extends Error {
  override readonly name = 'InwardBackendError';
}

/** Shared by all guards of the process, as the threads are that look up names. */
const systemNames = new Names();

interface GuardParts {
  readonly listeners: ListenerTable;
  readonly sockets: UpstreamSockets;
  readonly allowLinkLocal: boolean;
  readonly refused: (event: BackendRefused) => void;
  /** Resolves names; default: the system's resolver. */
  readonly lookup?: LookupFunction;
}

/** The lookup of a name for one connection. */
export interface GuardedLookup {
  readonly lookup: LookupFunction;
  /** The connection is over: it waits for the name no more. */
  readonly leave: () => void;
}

/**
 * Keeps connections to upstreams from leading back to the installation. Addresses are checked, not names, and exactly
 * those that were checked are connected to.
 */
export class UpstreamGuard {
  readonly #parts: GuardParts;
  readonly #names: Names;

  constructor(parts: GuardParts) {
    this.#parts = parts;
    this.#names = parts.lookup === undefined ? systemNames : new Names(parts.lookup);
    parts.listeners.onGrowth(() => {
      this.#closeInward();
    });
  }

  /** The error of a target that is an address; a name is checked by `lookupFor`, once it is resolved. */
  check(target: UpstreamTarget): InwardBackendError | undefined {
    const ip = parseIp(target.host);
    return ip && this.#checkAddress(target, ip, target.host);
  }

  /** Resolves a name to those of its addresses that may be connected to. Fails where none is left. `begun`: its turn has come. */
  lookupFor(target: UpstreamTarget, begun: () => void): GuardedLookup {
    const { accountId = '', host } = target;
    let user: NameUser | undefined;
    return {
      lookup: (name, options, callback) => {
        const done: NameUser['done'] = (error, addresses) => {
          if (error !== null) {
            callback(error, []);
            return;
          }
          let refusal: InwardBackendError | undefined;
          const admitted = addresses.filter(({ address }) => {
            const ip = parseIp(address);
            const fault = ip === undefined ? undefined : this.#checkAddress(target, ip, address);
            refusal ??= fault;
            return ip !== undefined && fault === undefined;
          });
          const [first] = admitted;
          if (first === undefined) callback(refusal ?? new Error(`${name} has no address`), []);
          else if (options.all === true) callback(null, admitted);
          else callback(null, first.address, first.family);
        };
        user = { accountId, begun, done };
        this.#names.find(name, options, user);
      },
      leave: () => {
        if (user !== undefined) this.#names.leave(host, user);
      },
    };
  }

  /** Follows a socket that is about to connect, and returns it. */
  follow(socket: Socket, target: UpstreamTarget): Socket {
    const { sockets, listeners } = this.#parts;
    sockets.track(socket, target.port);
    if (!listeners.hasPort(target.port)) return socket;
    // Before anything is sent. Both ends have one address only on the machine itself, be it listed as its own or not: the
    // system leaves out those of an interface without a carrier.
    return socket.prependOnceListener('connect', () => {
      const { remoteAddress = '', localAddress } = socket;
      const leadsTo = remoteAddress === localAddress ? listeners.findHere(target.port) : undefined;
      if (leadsTo !== undefined) socket.destroy(this.#refuse(target, remoteAddress, leadsTo));
    });
  }

  #checkAddress(target: UpstreamTarget, ip: IpAddress, address: string): InwardBackendError | undefined {
    const leadsTo = this.#find(ip, target.port);
    return leadsTo === undefined ? undefined : this.#refuse(target, address, leadsTo);
  }

  #refuse(target: UpstreamTarget, address: string, leadsTo: string): InwardBackendError {
    const { id: backendId, accountId, host, port } = target;
    this.#parts.refused({ backendId, accountId, host, port, address, leadsTo });
    return new InwardBackendError(`${host}:${port} leads to ${address}, which is refused: ${leadsTo}`);
  }

  #find(ip: IpAddress, port: number): string | undefined {
    const { listeners, allowLinkLocal } = this.#parts;
    if (!allowLinkLocal && isLinkLocal(ip)) return 'link_local';
    const found = listeners.find(ip, port);
    if (found !== undefined) return found;
    const behindNat = translatedIpv4(ip);
    return behindNat && this.#find(behindNat, port);
  }

  /** Closes connections that were opened before the listener they lead to was known. */
  #closeInward(): void {
    const { sockets, listeners } = this.#parts;
    for (const { socket, address, port } of sockets.to((each) => listeners.hasPort(each))) {
      const ip = parseIp(address);
      const leadsTo = ip && this.#find(ip, port);
      if (leadsTo !== undefined) socket.destroy(new InwardBackendError(`${address}:${port} leads to ${leadsTo}`));
    }
  }
}
