import { connect as connectTcp, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls, createSecureContext, getCACertificates, TLSSocket } from 'node:tls';
import type { ConnectionOptions, SecureContext } from 'node:tls';

import type { BackendEntry } from '../../snapshot/contract.ts';
import { ReadMemory } from './read-memory.ts';

/** Who wants a connection to a backend. */
export interface UpstreamUser {
  /** Whom the bytes that come are for. */
  readonly client: Socket;
  /** Bytes can go out, after the handshake where there is TLS. None come before. */
  connected(): void;
  /** Takes bytes, which it must not keep once the client has written them. Answers whether more may come before the socket is resumed. */
  received(bytes: Buffer): boolean;
}

/** Starts a connection to a backend. */
export type ConnectUpstream = (backend: BackendEntry, user: UpstreamUser) => Socket;

/** A TLS backend must show a certificate for its name, or its address, from an authority that is trusted. */
export function createUpstreamConnector(authorities: readonly string[] = []): ConnectUpstream {
  let context: SecureContext | undefined;
  return (backend, user) => {
    if (!backend.tls) return connectPlain(backend, user);
    // Made at the first use: it holds every authority of the system.
    context ??= createSecureContext({ ca: [...getCACertificates('default'), ...authorities] });
    return connectSecure(backend, user, context);
  };
}

function connectPlain({ host, port }: BackendEntry, user: UpstreamUser): Socket {
  const memory = new ReadMemory(user.client);
  const onread = {
    buffer: () => memory.next(),
    callback: (length: number) => user.received(memory.bytes(length)),
  };
  return connectTcp({ host, port, allowHalfOpen: true, noDelay: true, onread }, () => {
    user.connected();
  });
}

function connectSecure({ host, port }: BackendEntry, user: UpstreamUser, secureContext: SecureContext): Socket {
  const name = isIP(host) === 0 ? { servername: host } : {};
  // A documented option that the type leaves out.
  const halfOpen: ConnectionOptions & { allowHalfOpen: boolean } = { allowHalfOpen: true };
  const socket = connectTls({ host, port, secureContext, ...name, ...halfOpen }, () => {
    user.connected();
    socket.on('data', (chunk) => {
      if (!user.received(chunk)) socket.pause();
    });
  }).setNoDelay();
  return socket;
}

/** Ends a connection so that the other end can tell it from an orderly close. */
export function resetSocket(socket: Socket): void {
  if (socket.destroyed) return;
  // TLS says it by the missing close_notify; on a socket that is still connecting a reset would wait for the connect.
  if (socket instanceof TLSSocket || socket.connecting || hasEndUnderWay(socket)) socket.destroy();
  else socket.resetAndDestroy();
}

/** The system refuses to reset such a socket, which would then stay open for ever, without another event. */
function hasEndUnderWay({ writableEnded, writableFinished, writableLength }: Socket): boolean {
  return writableEnded && !writableFinished && writableLength === 0;
}
