import { connect, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

import { connectReasons, firstError } from './connect-server.ts';
import type { Target } from './target.ts';

export interface DialOptions {
  /** True to accept any certificate of the target. */
  readonly insecure: boolean;
  readonly timeoutMs: number;
  /** Bytes that go before everything else, also before TLS. */
  readonly prefix: Buffer | undefined;
}

/** The target could not be reached; the message says why, without its address. */
class TargetFault extends Error {
  override readonly name = 'TargetFault';
}

const reasons: Readonly<Record<string, string>> = {
  ...connectReasons,
  EPROTO: 'it does not speak TLS',
  EMFILE: 'this agent has as many open files as it may have; raise the limit (ulimit -n)',
};

/** A connection under way. */
export interface Dialling {
  readonly socket: Promise<Socket>;
  /** Breaks it off. */
  cancel(): void;
}

/** Connects to the target. The promise rejects with a `TargetFault`. Faults that come later only close the socket. */
export function dialTarget(target: Target, options: DialOptions): Dialling {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const { host, port, isTls } = target;
  const plain = connect({ host, port, allowHalfOpen: true, noDelay: true });
  const fail = (reason: string): void => {
    reject(new TargetFault(reason));
    plain.destroy();
  };
  const timer = setTimeout(() => {
    fail('it does not answer');
  }, options.timeoutMs);
  const watch = (socket: Socket): Socket =>
    socket
      .on('error', (error: NodeJS.ErrnoException) => {
        fail(explain(error));
      })
      .once('close', () => {
        fail('it closed the connection');
      });
  watch(plain).once('connect', () => {
    if (options.prefix !== undefined) plain.write(options.prefix);
    if (!isTls) resolve(plain);
    else {
      const secured = watch(secure(plain, host, options.insecure));
      secured.once('secureConnect', () => {
        resolve(secured);
      });
    }
  });
  return {
    socket: promise.finally(() => {
      clearTimeout(timer);
    }),
    cancel: () => {
      fail('the visitor has left');
    },
  };
}

function secure(plain: Socket, host: string, insecure: boolean): Socket {
  return connectTls({
    socket: plain,
    ALPNProtocols: ['http/1.1'],
    ...(isIP(host) === 0 ? { servername: host } : { host }),
    // Only where the operator asks for it: `--upstream-insecure`.
    rejectUnauthorized: !insecure,
  });
}

function explain(error: NodeJS.ErrnoException): string {
  const { code = '', message } = firstError(error);
  const known = reasons[code];
  if (known !== undefined) return known;
  const isCertificate = /CERT|SIGNATURE|ISSUER|CRL/.test(code);
  return isCertificate
    ? `its certificate is not trusted (${message}); --upstream-insecure accepts any, NODE_EXTRA_CA_CERTS names more authorities`
    : message;
}
