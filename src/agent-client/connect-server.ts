import { isIP } from 'node:net';
import { connect } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';

import { findAuthority, formatFingerprint } from './pinned-authority.ts';
import type { Fingerprint } from './pinned-authority.ts';

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  /** Authorities that its certificate may come from, in PEM, or the fingerprint of one; undefined for those that Node trusts. */
  readonly ca: string | Fingerprint | undefined;
}

/** Authorities that were found by their fingerprint. */
const found = new WeakMap<ServerAddress, string>();

/** A connection that was not made, or that ended. */
export class ServerFault extends Error {
  override readonly name = 'ServerFault';
  /** `wrong server`: whatever listens there is not the server that was meant; trying again will not change that. */
  readonly kind: 'wrong server' | 'passing';

  constructor(kind: ServerFault['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Why a connection was not made, by the code of the error. */
export const connectReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name cannot be looked up now',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no network',
  ETIMEDOUT: 'it does not answer',
  ECONNRESET: 'it closed the connection',
};

/** Opens a TLS connection to the server and verifies its certificate. Rejects with a `ServerFault`. */
export async function connectServer(server: ServerAddress, timeoutMs: number, signal: AbortSignal): Promise<TLSSocket> {
  const { ca } = server;
  if (ca === undefined) return open(server, {}, timeoutMs, signal);
  if (typeof ca === 'string') return open(server, { ca }, timeoutMs, signal);
  const authority = found.get(server) ?? (await findByFingerprint(server, ca, timeoutMs, signal));
  found.set(server, authority);
  return open(server, { ca: authority }, timeoutMs, signal);
}

/** Looks at what the server shows, on a connection over which nothing else is sent. */
async function findByFingerprint(
  server: ServerAddress,
  fingerprint: Fingerprint,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<string> {
  const socket = await open(server, { rejectUnauthorized: false }, timeoutMs, signal);
  const { pem, shown } = findAuthority(socket, fingerprint);
  socket.destroy();
  if (pem !== undefined) return pem;
  throw new ServerFault(
    'wrong server',
    `the authority of ${nameOf(server)} is not the one that was given: ${formatFingerprint(fingerprint)} is expected, and ` +
      `${shown} is shown. Somebody may stand between, or the server has another authority now: compare it with the dashboard`,
  );
}

function nameOf({ host, port }: ServerAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function open(
  server: ServerAddress,
  trust: Pick<ConnectionOptions, 'ca' | 'rejectUnauthorized'>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const { host, port } = server;
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  const shown = nameOf(server);
  const socket = connect({ host, port, ...(isIP(host) === 0 ? { servername: host } : {}), ...trust });
  const fail = (fault: ServerFault): void => {
    reject(fault);
    socket.destroy();
  };
  const giveUp = (): void => {
    fail(new ServerFault('passing', 'the agent is stopping'));
  };
  const timer = setTimeout(() => {
    fail(new ServerFault('passing', `the server ${shown} cannot be reached: it does not answer`));
  }, timeoutMs);
  signal.addEventListener('abort', giveUp, { once: true });
  socket
    .setNoDelay(true)
    .on('error', (error: NodeJS.ErrnoException) => {
      fail(toFault(shown, socket, error));
    })
    .once('close', () => {
      fail(new ServerFault('passing', `the server ${shown} closed the connection`));
    })
    .once('secureConnect', () => {
      resolve(socket);
    });
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
  });
}

function toFault(shown: string, socket: TLSSocket, error: NodeJS.ErrnoException): ServerFault {
  // Set where the handshake itself went well and the certificate did not.
  if (socket.authorizationError)
    return new ServerFault('wrong server', `the certificate of ${shown} is not trusted: ${error.message}`);
  const { code = '', message } = firstError(error);
  if (code === 'EPROTO' || code.startsWith('ERR_SSL')) {
    // An alert is an answer in TLS: HTTPS listeners send one where no name, or none that they know, is asked for.
    const words = /ALERT|UNRECOGNIZED_NAME/i.test(`${code} ${message}`)
      ? `speaks TLS, but refuses the handshake (${code}): it is not the address for agents`
      : 'does not speak TLS';
    return new ServerFault('wrong server', `what listens at ${shown} ${words}`);
  }
  return new ServerFault('passing', `the server ${shown} cannot be reached: ${connectReasons[code] ?? message}`);
}

/** Node puts the faults of several addresses of one name into one error. */
export function firstError(error: NodeJS.ErrnoException): NodeJS.ErrnoException {
  if (!(error instanceof AggregateError)) return error;
  const first: unknown = error.errors[0];
  return first instanceof Error ? first : error;
}
