import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

import { formatIp } from '../../../lib/ip/address.ts';
import type { ClientSource } from '../../../lib/ip/identify-client.ts';
import type { HandshakeFailed } from '../../engine.ts';
import { TlsHandshakes } from '../../tls/handshakes.ts';
import type { HandshakeOptions, HandshakeOutcome } from '../../tls/handshakes.ts';
import { readShownCertificate } from '../../tls/shown-certificate.ts';
import type { ClientConnection } from '../exchange.ts';
import { clientConnection } from './client-connection.ts';
import type { IdleConnection } from './idle-connection.ts';

/** Speaks one version of HTTP on connections that are handed to it. */
interface ConnectionHandler {
  accept(socket: TLSSocket, client: ClientConnection): void;
}

export interface TlsAcceptorOptions extends Omit<HandshakeOptions, 'alpn' | 'asksForCertificate'> {
  readonly h1: ConnectionHandler;
  readonly h2: ConnectionHandler;
  /** PEM of the authorities that clients must show a certificate of; undefined: they are not asked for one. */
  readonly clientCa?: string | undefined;
  readonly onFailed: (event: HandshakeFailed) => void;
}

/** Performs the TLS handshake on accepted sockets and hands them to the handler of the HTTP version that was agreed on. */
export class TlsAcceptor {
  readonly #handshakes: TlsHandshakes;
  readonly #options: TlsAcceptorOptions;

  constructor(options: TlsAcceptorOptions) {
    this.#options = options;
    const asksForCertificate = options.clientCa !== undefined;
    this.#handshakes = new TlsHandshakes({ ...options, alpn: ['h2', 'http/1.1'], asksForCertificate });
  }

  /** `asked` is the server name in the client's first message, in lower case. */
  accept(socket: Socket, client: ClientSource, asked: string | undefined): void {
    const outcome: HandshakeOutcome = {
      ready: (secure, servername) => {
        this.#onSecure(secure, servername, client);
      },
      failed: (reason, name) => {
        this.#options.onFailed({ reason, name, source: formatIp(client.source) });
      },
    };
    this.#handshakes.accept(socket, outcome, asked);
  }

  idleConnections(): Generator<IdleConnection> {
    return this.#handshakes.idleConnections();
  }

  #onSecure(socket: TLSSocket, servername: string, client: ClientSource): void {
    const { clientCa, h1, h2 } = this.#options;
    const connection = clientConnection(socket, client, {
      servername,
      certificate: clientCa === undefined ? undefined : readShownCertificate(socket, clientCa),
      isTls13: socket.getProtocol() === 'TLSv1.3',
    });
    if (socket.alpnProtocol === 'h2') h2.accept(socket, connection);
    else h1.accept(socket, connection);
  }
}
