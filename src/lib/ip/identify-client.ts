import type { Socket } from 'node:net';

import { valueNow } from '../awaitable.ts';
import type { Awaitable } from '../awaitable.ts';
import { parseIp } from './address.ts';
import type { IpAddress } from './address.ts';
import type { CidrSet } from './cidr-set.ts';
import { ProxyHeaderReader } from './proxy-protocol.ts';

/** The client at the other end of a connection. */
export interface ClientSource {
  readonly source: IpAddress;
  /**
   * True if `source` itself is a trusted proxy, so that its forwarding headers count. After a PROXY header `source` is
   * the address that the header names: the proxy in between does not vouch for what that address sends.
   */
  readonly peerTrusted: boolean;
  /** Port of `source`; 0 where it is not known. */
  readonly port: number;
}

export interface ClientRules {
  /** True for a connection that the gateway itself has made. */
  readonly isOurs: (socket: Socket, port: number) => Awaitable<boolean>;
  readonly ownArrivalReset: () => void;
  /** True on a listener where trusted peers must start with a PROXY header. */
  readonly proxyProtocol: boolean;
  readonly trustedProxies: CidrSet;
  /** Limit for the PROXY header. */
  readonly headersMs: number;
}

/**
 * Finds the source of a connection to a listener's port and calls `ready`: at once, or after the PROXY header of a trusted
 * peer, with the bytes behind it unshifted and no listener left on the socket. A malformed or late header closes the
 * connection, and `ready` is never called. Bytes of an untrusted peer are never read as a PROXY header. A connection that the
 * gateway has made to itself is reset.
 */
export function identifyClient(
  socket: Socket,
  port: number,
  rules: ClientRules,
  ready: (client: ClientSource) => void,
): void {
  const ours = rules.isOurs(socket, port);
  if (valueNow(ours) === false) {
    findSource(socket, rules, ready);
    return;
  }
  socket.on('error', ignore);
  // A question that fails is taken for a yes: a connection in doubt must not be trusted.
  void Promise.resolve(ours)
    .catch(() => true)
    .then((isOurs) => {
      if (!isOurs) findSource(socket, rules, ready);
      else resetOwn(socket, rules);
    });
}

function resetOwn(socket: Socket, { ownArrivalReset }: ClientRules): void {
  ownArrivalReset();
  socket.on('error', ignore).resetAndDestroy();
}

function findSource(socket: Socket, rules: ClientRules, ready: (client: ClientSource) => void): void {
  const peer = parseIp(socket.remoteAddress ?? '');
  if (peer === undefined) {
    // The client has left already.
    socket.destroy();
    return;
  }
  const peerTrusted = rules.trustedProxies.lookup(peer) !== 0;
  if (rules.proxyProtocol && peerTrusted) readProxyHeader(socket, peer, rules, ready);
  else ready({ source: peer, peerTrusted, port: socket.remotePort ?? 0 });
}

function readProxyHeader(
  socket: Socket,
  peer: IpAddress,
  { trustedProxies, headersMs }: ClientRules,
  ready: (client: ClientSource) => void,
): void {
  const reader = new ProxyHeaderReader();
  const overdue = setTimeout(refuse, headersMs);
  // Not `data`: leaving flowing mode takes `pause`, after which the next reader's `data` listener would not start it again.
  socket.on('readable', read).on('end', refuse).on('error', refuse).on('close', stop);

  function read(): void {
    // A socket without an encoding yields buffers.
    for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null) {
      const header = reader.push(chunk);
      if (header.state === 'more') continue;
      if (header.state === 'bad') {
        refuse();
        return;
      }
      stop();
      if (header.rest.length > 0) socket.unshift(header.rest);
      const source = header.source ?? peer;
      const port = header.source === undefined ? (socket.remotePort ?? 0) : 0;
      ready({ source, peerTrusted: trustedProxies.lookup(source) !== 0, port });
      return;
    }
  }

  function stop(): void {
    clearTimeout(overdue);
    socket.off('readable', read).off('end', refuse).off('error', refuse).off('close', stop);
  }

  function refuse(): void {
    stop();
    socket.destroy();
  }
}

function ignore(): void {}
