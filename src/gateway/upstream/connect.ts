import { constants } from 'node:crypto';
import { connect as connectTcp, isIP, Socket } from 'node:net';
import type { LookupFunction, NetConnectOpts, OnReadOpts } from 'node:net';
import { checkServerIdentity, connect as connectTls, createSecureContext, getCACertificates } from 'node:tls';
import type { ConnectionOptions, PeerCertificate, SecureContext } from 'node:tls';

import { connectThroughGate } from '../../lib/handshake-gate.ts';
import type { UpstreamGuard } from './guard.ts';
import { HandshakeTrust } from './handshake-trust.ts';

export interface UpstreamTarget {
  readonly id: string;
  /** Owner of the target, whose shares a connection counts for. */
  readonly accountId?: string | undefined;
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
  /** False, on a connection without TLS: what is written is one piece, and the system need not be told to send it at once. */
  readonly noDelay?: boolean;
  /** Protocols offered in a TLS handshake. */
  readonly alpn?: readonly string[];
  /** Memory to read into, on a connection without TLS. */
  readonly onread?: OnReadOpts;
  /** Called when the turn of its name has come, at once where there is none: until then a connection waits for other accounts. */
  readonly begun?: () => void;
}

/**
 * Starts a connection to an upstream. `established` is called when bytes can go out: with TLS not before the certificate
 * is verified. Nothing must be written earlier. Errors and limits of time are left to the caller. A target that the guard
 * refuses fails like any other, with an `InwardBackendError`.
 */
export type ConnectUpstream = (target: UpstreamTarget, options: ConnectOptions, established: () => void) => Socket;

/** Characters of the names of a certificate that are told. */
const longestNames = 200;

/** The guard decides on every target. Certificates are verified by the authorities that Node trusts, and by those given here, in PEM. */
export function createConnector(guard: UpstreamGuard, authorities: readonly string[] = []): ConnectUpstream {
  let context: SecureContext | undefined;
  const trust = new HandshakeTrust();
  return (target, options, established) => {
    const refusal = guard.check(target);
    if (refusal !== undefined) return new Socket().destroy(refusal);
    const { begun = ignore } = options;
    // An address has been checked, and is not looked up.
    const name = isIP(target.host) === 0 ? guard.lookupFor(target, begun) : undefined;
    if (name === undefined) begun();
    const lookup = name?.lookup;
    if (!target.tls) {
      const socket = guard.follow(connectPlain(target, options, lookup, established), target);
      return name === undefined ? socket : socket.once('close', name.leave);
    }
    // Made at the first use and shared by all connections: it holds every authority of the system.
    context ??= createSecureContext({
      ca: [...getCACertificates('default'), ...authorities],
      // An upstream that speaks TLS 1.2 could ask for one handshake after another.
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    });
    const owner = target.accountId ?? target.id;
    const isUngated = trust.begin(owner);
    const { tls, tcp } = (isUngated ? connectSecure : connectGated)({
      guard,
      target,
      options,
      lookup,
      context,
      established,
    });
    if (name !== undefined) tcp.once('close', name.leave);
    if (isUngated) onceOver(tls, () => trust.end(owner));
    watchHandshake(tls, tcp, owner, trust);
    return tls;
  };
}

function ignore(): void {}

function connectPlain(
  { host, port }: UpstreamTarget,
  options: ConnectOptions,
  lookup: LookupFunction | undefined,
  established: () => void,
): Socket {
  const { allowHalfOpen = false, keepAlive = false, noDelay = true, onread } = options;
  // Node takes an option that is undefined for one that is not given, which the types do not allow.
  const all = { host, port, lookup, allowHalfOpen, keepAlive, noDelay, onread } as NetConnectOpts;
  const socket = connectTcp(all, () => {
    // The guard may have closed it a moment before.
    if (!socket.destroyed) established();
  });
  return socket;
}

interface SecureParts {
  readonly guard: UpstreamGuard;
  readonly target: UpstreamTarget;
  readonly options: ConnectOptions;
  readonly lookup: LookupFunction | undefined;
  readonly context: SecureContext;
  readonly established: () => void;
}

interface SecureSocket {
  readonly tls: Socket;
  /** The socket that connects: itself, or the one below the gate. */
  readonly tcp: Socket;
}

function connectSecure(parts: SecureParts): SecureSocket {
  const { guard, target, options, lookup, established } = parts;
  const { host, port } = target;
  const socket = connectTls({ ...tlsOptions(parts), host, port, ...(lookup && { lookup }) }, established);
  guard.follow(socket.setNoDelay().setKeepAlive(options.keepAlive), target);
  return { tls: socket, tcp: socket };
}

/** The same through a gate, which ends a handshake that costs too much. */
function connectGated(parts: SecureParts): SecureSocket {
  const { guard, target, options, lookup, established } = parts;
  const { host, port } = target;
  const { allowHalfOpen = false, keepAlive = false } = options;
  const tcp = connectTcp({ host, port, allowHalfOpen, keepAlive, noDelay: true, ...(lookup && { lookup }) });
  const tls = connectThroughGate(guard.follow(tcp, target), { ...tlsOptions(parts), host });
  return { tls: tls.once('secureConnect', established), tcp };
}

function tlsOptions({ target: { host }, options: { allowHalfOpen = false, alpn }, context }: SecureParts) {
  // A documented option that the type leaves out.
  const halfOpen: ConnectionOptions & { allowHalfOpen: boolean } = { allowHalfOpen };
  return {
    secureContext: context,
    checkServerIdentity: checkNames,
    ...(isIP(host) === 0 && { servername: host }),
    ...(alpn && { ALPNProtocols: [...alpn] }),
    ...halfOpen,
  };
}

/** Calls back once the handshake has succeeded, or the connection is closed before. */
function onceOver(tls: Socket, done: () => void): void {
  const over = (): void => {
    tls.off('secureConnect', over).off('close', over);
    done();
  };
  tls.once('secureConnect', over).once('close', over);
}

/** Node's own error carries the certificate, with all of its names: logs and reports would repeat them for each connection. */
function checkNames(host: string, certificate: PeerCertificate): Error | undefined {
  const fault: NodeJS.ErrnoException | undefined = checkServerIdentity(host, certificate);
  if (fault === undefined) return undefined;
  const { subjectaltname: names = 'no name' } = certificate;
  const error = new Error(`the certificate is not for ${host}, but for ${names.slice(0, longestNames)}`);
  return Object.assign(error, { code: fault.code });
}

function watchHandshake(tls: Socket, tcp: Socket, owner: string, trust: HandshakeTrust): void {
  const onClose = () => {
    trust.failed(owner);
  };
  // An upstream that cannot be reached has shown nothing.
  tcp.once('connect', () => tls.once('close', onClose));
  tls.once('secureConnect', () => {
    tls.off('close', onClose);
    trust.succeeded(owner);
  });
}
