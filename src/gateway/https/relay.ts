import type { Socket } from 'node:net';

import { internalError, requestTimeout } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import type { ResponseFacts } from '../../modules/module.ts';
import { upstreamBroke, upstreamInvalidResponse, upstreamTimeout } from '../errors.ts';
import { answerError } from './answer-error.ts';
import type { AnswerLog } from './answer-log.ts';
import type { Exchange } from './client/exchange.ts';
import { EncodedBody } from './encoded-body.ts';
import type { EncodedBodyOwner } from './encoded-body.ts';
import type { Gate } from './gate.ts';
import { answerTrailers } from './headers/forward-headers.ts';
import type { Watched } from './idle-watch.ts';
import type { Journey } from './routing/decide.ts';
import { Tunnel } from './tunnel.ts';
import type { UpstreamConnection, UpstreamFault, UpstreamHandler } from './upstream/connection.ts';
import { hasBytes, RequestBodyPump } from './upstream/request-body-pump.ts';
import type { BodyWatcher } from './upstream/request-body-pump.ts';
import type { ResponseHead } from './upstream/response-head.ts';

const repeatable: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']);

/** Carries one request to its upstream and the answer back. */
export class Relay implements UpstreamHandler, BodyWatcher, EncodedBodyOwner, Watched {
  lastMove = 0;
  readonly limitMs: number;
  readonly #journey: Journey;
  readonly #exchange: Exchange;
  readonly #gate: Gate;
  readonly #log: AnswerLog;
  readonly #pump: RequestBodyPump | undefined;
  #connection: UpstreamConnection | undefined;
  /** Undefined where no module changes the body. */
  #encoded: EncodedBody | undefined;
  #giveUpOpening: (() => void) | undefined;
  #sentAt = 0;
  #ended = false;

  constructor(journey: Journey, gate: Gate, log: AnswerLog) {
    this.#journey = journey;
    this.#exchange = journey.exchange;
    this.#gate = gate;
    this.#log = log;
    this.limitMs = gate.idleMs;
    const { exchange, route } = journey;
    this.#pump = hasBytes(exchange.body) ? new RequestBodyPump(exchange, route.guard, this) : undefined;
  }

  start(): void {
    this.#gate.watch.add(this);
    this.#exchange.onClose = () => {
      this.#finish();
    };
    this.#exchange.onDrain = () => {
      this.onMove();
      if (this.#encoded === undefined) this.#connection?.resume();
      else this.#encoded.resume();
    };
    const idle = this.#journey.pool.takeIdle();
    if (idle === undefined) this.#open();
    else this.#send(idle);
  }

  onMove(): void {
    this.lastMove = this.#gate.watch.now;
  }

  /** The upstream must not take what follows a body of the wrong length for another request. */
  onMismatch(): void {
    this.onFault({ error: upstreamBroke, cause: new Error('request body of another length'), stale: false });
  }

  onInterim(head: ResponseHead): void {
    this.onMove();
    if (head.status === 100) this.#pump?.proceed();
    else this.#exchange.sendInterim(head.status, head.reason, head.headers);
  }

  onHead(head: ResponseHead): void {
    this.onMove();
    this.#log.upstreamMs = performance.now() - this.#sentAt;
    try {
      const { headers, contentLength } = this.#answerFacts(head);
      this.#exchange.sendHead({
        status: head.status,
        reason: head.reason,
        headers,
        contentLength,
        close: this.#gate.draining || this.#pump?.flowing === false,
      });
      this.#log.status = head.status;
    } catch (error) {
      const cause = error instanceof Error ? error : new Error(String(error));
      this.onFault({ error: upstreamInvalidResponse, cause, stale: false });
    }
  }

  onData(chunk: Buffer, last: boolean): void {
    this.onMove();
    if (this.#ended) return;
    if (last) this.#end(chunk, []);
    else if (!(this.#encoded ?? this.#exchange).write(chunk)) this.#connection?.pause();
  }

  onEnd(trailers: readonly string[]): void {
    if (!this.#ended) this.#end(undefined, answerTrailers(trailers));
  }

  onEncoderDrain(): void {
    this.onMove();
    this.#connection?.resume();
  }

  onEncoderFault(cause: Error): void {
    const { operationId } = this.#log;
    this.#gate.log.error({ err: cause, operationId, routeId: this.#journey.route.id }, 'response encoder failed');
    this.#connection?.abort();
    this.#connection = undefined;
    this.#fail(new UserError(internalError));
  }

  onUpgrade(head: ResponseHead, socket: Socket, rest: Buffer): void {
    const { watch, idleMs, tunnels, observer } = this.#gate;
    const { passage } = this.#journey;
    // The rules may have changed since the request was let in.
    if (!tunnels.admits(passage)) {
      socket.destroy();
      this.#exchange.abort();
      return;
    }
    this.#detach();
    this.#log.status = 101;
    this.#log.upstreamMs = performance.now() - this.#sentAt;
    const client = this.#exchange.switchProtocols([
      ...this.#rewritten(head),
      'Connection',
      'Upgrade',
      ...(head.upgrade === undefined ? [] : ['Upgrade', head.upgrade]),
    ]);
    const tunnel = new Tunnel(client.socket, socket, watch, idleMs, () => {
      forget();
      this.#log.tell(observer);
    });
    const forget = tunnels.add(passage, () => tunnel.abort());
    tunnel.start(client.rest, rest);
  }

  onFault({ error, cause, stale }: UpstreamFault): void {
    this.#connection?.abort();
    this.#connection = undefined;
    if (this.#ended) return;
    const { exchange, route } = this.#journey;
    if (stale && this.#pump === undefined && repeatable.has(exchange.method) && !exchange.headSent) {
      this.#open();
      return;
    }
    const { operationId } = this.#log;
    this.#gate.log.warn({ err: cause, operationId, routeId: route.id, code: error.code }, 'upstream failed');
    this.#fail(new UserError(error));
  }

  onDrain(): void {
    this.onMove();
    this.#pump?.resume();
  }

  /** Nothing moved: the client's fault while its body is awaited, else the upstream's, if it has not answered. */
  onIdle(): void {
    this.#giveUpOpening?.();
    this.#connection?.abort();
    this.#connection = undefined;
    this.#fail(this.#pump?.waiting === true ? new UserError(requestTimeout) : new UserError(upstreamTimeout));
  }

  #rewritten({ headers }: ResponseHead): readonly string[] {
    return this.#journey.route.pipeline.rewriteResponse?.(headers) ?? headers;
  }

  /** The head as the client gets it, with the encoder of the body in place if a module wants one. */
  #answerFacts(head: ResponseHead): ResponseFacts {
    const { status } = head;
    const facts = {
      status,
      headers: this.#rewritten(head),
      contentLength: status === 204 ? undefined : head.contentLength,
    };
    const encoded = this.#journey.route.pipeline.encodeResponse?.(this.#exchange, facts);
    if (encoded === undefined) return facts;
    const { headers, openTransform } = encoded;
    if (openTransform === undefined) return { ...facts, headers };
    if (hasBody(this.#exchange.method, status)) {
      this.#encoded = new EncodedBody(openTransform(), this.#exchange, this);
    }
    return { status, headers, contentLength: undefined };
  }

  #open(): void {
    this.#giveUpOpening = this.#journey.pool.open(
      (connection) => {
        this.#giveUpOpening = undefined;
        this.#send(connection);
      },
      (fault) => {
        this.#giveUpOpening = undefined;
        this.onFault(fault);
      },
    );
  }

  #send(connection: UpstreamConnection): void {
    const { head, exchange, expectsContinue } = this.#journey;
    this.#connection = connection;
    this.#sentAt = performance.now();
    this.onMove();
    const answerTo = { method: exchange.method, upgrade: exchange.upgrade !== undefined };
    connection.send(answerTo, head, this.#pump !== undefined, this);
    this.#pump?.start(connection, expectsContinue);
  }

  #end(chunk: Buffer | undefined, trailers: readonly string[]): void {
    this.#ended = true;
    this.#connection = undefined;
    this.#pump?.stop();
    if (this.#encoded === undefined) this.#exchange.end(chunk, trailers);
    else this.#encoded.end(chunk, () => this.#exchange.end(undefined, trailers));
  }

  #fail(error: UserError): void {
    this.#ended = true;
    this.#pump?.stop();
    this.#encoded?.destroy();
    if (this.#exchange.headSent) {
      this.#log.errorCode = error.code;
      this.#exchange.abort();
    } else {
      answerError(this.#exchange, error, this.#gate, this.#log);
    }
  }

  #detach(): void {
    this.#ended = true;
    this.#connection = undefined;
    this.#exchange.onClose = undefined;
    this.#exchange.onDrain = undefined;
    this.#gate.watch.delete(this);
  }

  #finish(): void {
    this.#giveUpOpening?.();
    this.#connection?.abort();
    this.#pump?.stop();
    this.#encoded?.destroy();
    this.#detach();
    this.#log.tell(this.#gate.observer);
  }
}

function hasBody(method: string, status: number): boolean {
  return method !== 'HEAD' && status !== 204 && status !== 304;
}
