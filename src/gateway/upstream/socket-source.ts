import type { Socket } from 'node:net';

import type { ErrorDefinition } from '../../errors/user-error.ts';
import {
  backendLeadsInwards,
  upstreamBroke,
  upstreamCertificateRefused,
  upstreamConnectTimeout,
  upstreamNameUnknown,
  upstreamRefused,
  upstreamTlsFailed,
} from '../errors.ts';
import type { ConnectOptions, ConnectUpstream, UpstreamTarget } from './connect.ts';
import { InwardBackendError } from './guard.ts';
import type { OpenOutcome, UpstreamSource } from './upstream-source.ts';

/** Use of a socket: requests of HTTP/1.1, or bytes that each side may end by itself. */
type SocketUse = 'requests' | 'bytes';

/** Connections to the address of a backend. */
export class SocketSource implements UpstreamSource {
  readonly id: string;
  readonly isShared = true;
  readonly silentEnd = upstreamBroke;
  readonly target: UpstreamTarget;
  readonly #connect: ConnectUpstream;
  readonly #connectMs: number;
  readonly #use: SocketUse;

  constructor(target: UpstreamTarget, connect: ConnectUpstream, connectMs: number, use: SocketUse = 'requests') {
    this.id = target.id;
    this.target = target;
    this.#connect = connect;
    this.#connectMs = connectMs;
    this.#use = use;
  }

  open(_visitor: unknown, _idleOf: unknown, outcome: OpenOutcome): () => void {
    const options: ConnectOptions =
      this.#use === 'bytes' ? { allowHalfOpen: true } : { keepAlive: true, alpn: ['http/1.1'] };
    const socket: Socket = this.#connect(this.target, options, () => {
      settle();
      outcome.opened(socket, '');
    });
    const onError = (error: Error): void => {
      fail(definitionFor(error), error);
    };
    const onClose = (): void => {
      fail(upstreamRefused, new Error('closed while connecting'));
    };
    const timer = setTimeout(() => {
      fail(upstreamConnectTimeout, new Error('connect timed out'));
    }, this.#connectMs);
    const settle = (): void => {
      clearTimeout(timer);
      socket.off('error', onError).off('close', onClose);
    };
    const close = (): void => {
      settle();
      socket.on('error', () => {});
      socket.destroy();
    };
    const fail = (error: ErrorDefinition<never>, cause: Error): void => {
      close();
      outcome.failed(error, cause);
    };
    socket.on('error', onError).on('close', onClose);
    return close;
  }
}

/** Tells DNS, TLS and a refusal apart: each has another remedy. */
function definitionFor(error: Error): ErrorDefinition<never> {
  if (error instanceof InwardBackendError) return backendLeadsInwards;
  const code = 'code' in error ? String(error.code) : '';
  if (/^(?:ENOTFOUND|ENODATA|EAI_\w+)$/.test(code)) return upstreamNameUnknown;
  if (/CERT|SIGNATURE|ISSUER|CRL/.test(code)) return upstreamCertificateRefused;
  return /^(?:ERR_SSL_|ERR_TLS_|EPROTO)/.test(code) ? upstreamTlsFailed : upstreamRefused;
}
