import { connect as connectTcp, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls, createSecureContext, getCACertificates, TLSSocket } from 'node:tls';
import type { ConnectionOptions, SecureContext } from 'node:tls';

import type { BackendEntry } from '../../snapshot/contract.ts';

/** Starts a connection to a backend; `ready` is called once bytes can go out, after the handshake where there is TLS. */
export type ConnectUpstream = (backend: BackendEntry, ready: () => void) => Socket;

/** A TLS backend must show a certificate for its name, or its address, from an authority that is trusted. */
export function createUpstreamConnector(authorities: readonly string[] = []): ConnectUpstream {
  let context: SecureContext | undefined;
  return ({ host, port, tls }, ready) => {
    if (!tls) return connectTcp({ host, port, allowHalfOpen: true, noDelay: true }, ready);
    // Made at the first use: it holds every authority of the system.
    context ??= createSecureContext({ ca: [...getCACertificates('default'), ...authorities] });
    const name = isIP(host) === 0 ? { servername: host } : {};
    // A documented option that the type leaves out.
    const halfOpen: ConnectionOptions & { allowHalfOpen: boolean } = { allowHalfOpen: true };
    return connectTls({ host, port, secureContext: context, ...name, ...halfOpen }, ready).setNoDelay();
  };
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
