import { isIP } from 'node:net';
import { connect } from 'node:tls';
import type { TLSSocket } from 'node:tls';

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  /** PEM of the authorities that its certificate may come from; undefined for those that Node trusts. */
  readonly ca: string | undefined;
}

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
export function connectServer(
  { host, port, ca }: ServerAddress,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  const shown = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const socket = connect({
    host,
    port,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(ca === undefined ? {} : { ca }),
  });
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
