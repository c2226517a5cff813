import { connect as connectTcp, isIP } from 'node:net';
import type { OnReadOpts, Socket } from 'node:net';
import { connect as connectTls, createSecureContext, getCACertificates } from 'node:tls';
import type { ConnectionOptions, SecureContext } from 'node:tls';

export interface UpstreamTarget {
  readonly host: string;
  readonly port: number;
  /** True: TLS, with a certificate that is valid for the host. */
  readonly tls: boolean;
}

export interface ConnectOptions {
  /** True: the upstream's end does not end our side. */
  readonly allowHalfOpen?: boolean;
  /** True: TCP keep-alive probes tell when a silent upstream is gone. */
  readonly keepAlive?: boolean;
  /** Protocols offered in a TLS handshake. */
  readonly alpn?: readonly string[];
  /** Memory to read into, on a connection without TLS. */
  readonly onread?: OnReadOpts;
}

/**
 * Starts a connection to an upstream. `established` is called when bytes can go out: with TLS not before the certificate
 * is verified. Nothing must be written earlier. Errors and limits of time are left to the caller.
 */
export type ConnectUpstream = (target: UpstreamTarget, options: ConnectOptions, established: () => void) => Socket;

/** Certificates are verified by the authorities that Node trusts, and by those given here, in PEM. */
export function createConnector(authorities: readonly string[] = []): ConnectUpstream {
  let context: SecureContext | undefined;
  return (target, options, established) => {
    if (!target.tls) return connectPlain(target, options, established);
    // Made at the first use and shared by all connections: it holds every authority of the system.
    context ??= createSecureContext({ ca: [...getCACertificates('default'), ...authorities] });
    return connectSecure(target, options, context, established);
  };
}

function connectPlain({ host, port }: UpstreamTarget, options: ConnectOptions, established: () => void): Socket {
  const { allowHalfOpen = false, keepAlive = false, onread } = options;
  return connectTcp({ host, port, allowHalfOpen, keepAlive, noDelay: true, ...(onread && { onread }) }, established);
}

function connectSecure(
  { host, port }: UpstreamTarget,
  { allowHalfOpen = false, keepAlive = false, alpn }: ConnectOptions,
  secureContext: SecureContext,
  established: () => void,
): Socket {
  // A documented option that the type leaves out.
  const halfOpen: ConnectionOptions & { allowHalfOpen: boolean } = { allowHalfOpen };
  const socket = connectTls(
    {
      host,
      port,
      secureContext,
      ...(isIP(host) === 0 && { servername: host }),
      ...(alpn && { ALPNProtocols: [...alpn] }),
      ...halfOpen,
    },
    established,
  );
  return socket.setNoDelay().setKeepAlive(keepAlive);
}
