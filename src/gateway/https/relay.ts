import type { Duplex } from 'node:stream';

import { agentStreamsInUse, internalError, requestTimeout } from '../../errors/shared.ts';
import { retryLater, UserError } from '../../errors/user-error.ts';
import type { ErrorDefinition } from '../../errors/user-error.ts';
import type { OwnAnswer } from '../../modules/step.ts';
import {
  backendLeadsInwards,
  endpointOffline,
  upstreamBroke,
  upstreamInvalidResponse,
  upstreamTimeout,
} from '../errors.ts';
import { PieceJoiner } from '../turns/piece-joiner.ts';
import type { AccessLogEntry } from './access-log-entry.ts';
import { AnswerRun } from './answer-run.ts';
import { ConnectionSearch } from './connection-search.ts';
import type { RoutedRequest } from './decide.ts';
import { EncodedBody } from './encoded-body.ts';
import type { EncodedBodyOwner } from './encoded-body.ts';
import { sendErrorResponse } from './error-response.ts';
import type { Exchange } from './exchange.ts';
import { finishAnswer, withCookies } from './finish-answer.ts';
import type { AnswerOwner, ChangedAnswer } from './finish-answer.ts';
import { findHeader } from '../../lib/header-list.ts';
import { sendOwnAnswer } from './own-answer.ts';
import { answerTrailers, interimHeaders } from './headers/forward-headers.ts';
import type { RequestRecord } from './inspect-requests.ts';
import type { IdleTimeout } from './idle-watch.ts';
import { endsConnection } from './request-context.ts';
import type { RequestContext } from './request-context.ts';
import type { RequestVisit } from './request-visit.ts';
import { joinConverted, joinUpgraded, switchingProtocols } from './switch-protocols.ts';
import type { ProtocolSwitch } from './switch-protocols.ts';
import type { UpstreamConnection, UpstreamFault, UpstreamHandler } from './upstream/connection.ts';
import { hasBytes, RequestBodyPump } from './upstream/request-body-pump.ts';
import type { BodyOwner } from './upstream/request-body-pump.ts';
import type { ResponseHead } from './upstream/response-head.ts';

/** Methods whose requests may be sent once more after a stale connection (RFC 9110, 9.2.2). */
const repeatable: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/** Errors that are no news in the log: the guard reports the first once, and the others are for agents to mend. */
const unlogged: ReadonlySet<ErrorDefinition> = new Set([backendLeadsInwards, endpointOffline, agentStreamsInUse]);

/** Carries one request to its upstream and the answer back. */
export class Relay
  extends ConnectionSearch
  implements UpstreamHandler, BodyOwner, AnswerOwner, EncodedBodyOwner, IdleTimeout
{
  lastActivity = 0;
  readonly limitMs: number;
  readonly #head: string;
  readonly #exchange: Exchange;
  readonly #context: RequestContext;
  readonly #log: AccessLogEntry;
  readonly #pump: RequestBodyPump | undefined;
  /** Undefined unless its route is inspected. */
  readonly #record: RequestRecord | undefined;
  #connection: UpstreamConnection | undefined;
  /** Undefined unless a module changes the body. */
  #encoded: EncodedBody | undefined;
  /** Set while a step for the answer waits: what has come of the answer. */
  #held: (() => void)[] | undefined;
  /** A connection of another protocol, until it is joined with the client's. */
  #stream: Duplex | undefined;
  /** Undefined until a part of the answer's body comes that is not all of it. */
  #pieces: PieceJoiner | undefined;
  #sentAt = 0;
  /** Undefined unless the answer ends when rules say so, as streams of events do. */
  #forget: (() => void) | undefined;
  #ended = false;

  /** `goOn` decides on the request again once it has waited. */
  constructor(request: RoutedRequest, goOn: (visit: RequestVisit) => void) {
    super(request, goOn);
    const { visit } = request;
    const { exchange, context, log } = visit;
    this.#head = request.head;
    this.#exchange = exchange;
    this.#context = context;
    this.#log = log;
    this.limitMs = context.idleMs;
    this.#record = context.inspector.begin(visit);
    this.#pump = hasBytes(exchange.body) ? new RequestBodyPump(exchange, visit, this, visit.changedBody) : undefined;
  }

  start(): void {
    this.#context.watch.add(this);
    this.#exchange.onClose = () => {
      this.#finish();
    };
    this.#exchange.onDrain = () => {
      this.onActivity();
      if (this.#encoded === undefined) this.#connection?.resume();
      else this.#encoded.resume();
    };
    this.acquire(this.list.convertsWebsocket);
  }

  onConnection(connection: UpstreamConnection): void {
    const { method, isUpgrade, expectsContinue } = this.visit;
    this.reached();
    this.#connection = connection;
    this.#sentAt = performance.now();
    this.onActivity();
    if (this.list.convertsWebsocket) {
      this.#upgrade(switchingProtocols, [], connection.takeStream(), joinConverted);
      return;
    }
    connection.send({ method, upgrade: isUpgrade }, this.#head, this.#pump !== undefined, this);
    this.#pump?.start(connection, expectsContinue);
  }

  onActivity(): void {
    this.lastActivity = this.#context.watch.now;
  }

  onBody(bytes: Buffer): void {
    this.#record?.requestBody(bytes);
  }

  /** Fails the request: bytes behind a body of the wrong length must not reach the upstream as another request. */
  onMismatch(): void {
    const cause = new Error('request body of another length');
    this.onFault({ error: upstreamBroke, cause, stale: false }, false);
  }

  onInterim(head: ResponseHead): void {
    this.onActivity();
    if (head.status === 100) {
      this.#pump?.proceed();
    } else {
      const headers = interimHeaders(head.headers, this.visit.removedFromAnswers);
      this.#exchange.sendInterim(head.status, head.reason, headers);
    }
  }

  onHead(head: ResponseHead): void {
    this.onActivity();
    if (this.attempt !== undefined && this.asks(this.attempt.answered(head.status, this.#mayRepeat))) return;
    this.#log.upstreamMs = performance.now() - this.#sentAt;
    this.visit.answered(head.status);
    this.#record?.answered(head.status, head.headers);
    const { status, headers } = head;
    const contentLength = status === 204 ? undefined : head.contentLength;
    if (!this.visit.changesAnswers) {
      this.#sendHead(head, { headers: withCookies(headers, this.visit), contentLength, openTransform: undefined });
      return;
    }
    const run = new AnswerRun(this.visit, { status, headers, contentLength, isEncodable: true });
    finishAnswer(run, this.visit, this, (changed) => this.#sendHead(head, changed));
  }

  #sendHead({ status, reason, headers: sent }: ResponseHead, changed: ChangedAnswer): void {
    try {
      const { headers, contentLength } = changed;
      this.#openEncoder(status, changed);
      this.#exchange.sendHead({
        status,
        reason,
        headers,
        contentLength,
        close: endsConnection(this.#context, this.#exchange) || this.#pump?.flowing === false,
      });
      this.#log.status = status;
      this.#endInTime(sent);
    } catch (error) {
      const cause = error instanceof Error ? error : new Error(String(error));
      this.onFault({ error: upstreamInvalidResponse, cause, stale: false });
    }
  }

  get hasEnded(): boolean {
    return this.#ended;
  }

  onAnswerWaits(): void {
    this.#held ??= [];
    this.#connection?.pause();
  }

  onAnswerGoesOn(pass: () => void): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    pass();
    this.#connection?.resume();
    for (const each of held) each();
  }

  onAnswerReplaced({ status, headers, body, refusal }: OwnAnswer): void {
    this.#leaveUpstream();
    this.#ended = true;
    this.#pump?.stop();
    this.#log.status = status;
    this.#log.refuse(refusal);
    sendOwnAnswer(this.#exchange, this.#context, status, withCookies(headers, this.visit), Buffer.from(body));
  }

  onAnswerRefused(error: UserError): void {
    this.#leaveUpstream();
    this.fail(error);
  }

  onAnswerClosed(refusal: UserError): void {
    this.#leaveUpstream();
    this.#ended = true;
    this.#pump?.stop();
    this.#log.refuse(refusal);
    this.#exchange.abort();
  }

  /** The rest of the answer is not wanted. */
  #leaveUpstream(): void {
    this.#held = undefined;
    this.dropConnection();
    this.#stream?.destroy();
    this.#stream = undefined;
  }

  onData(chunk: Buffer, last: boolean): void {
    this.onActivity();
    if (this.#ended) return;
    if (this.#held !== undefined) {
      if (last) this.#connection = undefined;
      const kept = Buffer.from(chunk);
      this.#held.push(() => this.onData(kept, last));
      return;
    }
    this.#record?.answerBody(chunk);
    if (last && this.#pieces === undefined) {
      this.#end(chunk, []);
      return;
    }
    this.#pieces ??= new PieceJoiner((bytes, written) => this.#write(bytes, written));
    this.#pieces.push(chunk);
    if (last) this.#end(undefined, []);
  }

  #write(bytes: Buffer, written: () => void): void {
    if (!(this.#encoded ?? this.#exchange).write(bytes, written)) this.#connection?.pause();
  }

  onEnd(trailers: readonly string[]): void {
    if (this.#ended) return;
    if (this.#held !== undefined) {
      this.#connection = undefined;
      this.#held.push(() => this.onEnd(trailers));
      return;
    }
    this.#end(undefined, answerTrailers(trailers, this.visit.removedFromAnswers, this.#encoded !== undefined));
  }

  onUnfinished(): void {
    if (this.#held === undefined) this.#exchange.flushHead();
  }

  onEncoderDrain(): void {
    this.onActivity();
    this.#connection?.resume();
  }

  onEncoderFault(cause: Error): void {
    const { operationId } = this.#log;
    if (!(cause instanceof UserError))
      this.#context.log.error(
        { err: cause, operation_id: operationId, route_id: this.visit.route.id },
        'response encoder failed',
      );
    this.dropConnection();
    this.fail(cause instanceof UserError ? cause : new UserError(internalError));
  }

  onUpgrade({ status, headers, upgrade }: ResponseHead, firstBytes: Buffer): void {
    const socket = this.#connection?.takeStream();
    if (socket === undefined) return;
    this.#upgrade(status, headers, socket, (change, changed) => joinUpgraded(change, changed, upgrade, firstBytes));
  }

  /** Has the steps for answers change the headers of an answer that carries no body of HTTP. */
  #upgrade(
    status: number,
    headers: readonly string[],
    upstream: Duplex,
    join: (change: ProtocolSwitch, headers: readonly string[]) => void,
  ): void {
    this.#connection = undefined;
    this.#record?.answered(status, headers);
    this.#record?.whole();
    this.#record?.end();
    this.#stream = upstream;
    const visit = this.visit;
    finishAnswer(new AnswerRun(visit, { status, headers }), visit, this, (changed) => {
      this.#stream = undefined;
      const detach = (): void => this.#detach();
      join({ visit, attempt: this.attempt, upstream, sentAt: this.#sentAt, detach }, changed.headers);
    });
  }

  /** A stream of events or pictures may last for days, in which rules come that its route did not have. */
  #endInTime(headers: readonly string[]): void {
    if (!/^(?:text\/event-stream|multipart\/x-mixed-replace)\b/i.test(findHeader(headers, 'content-type') ?? ''))
      return;
    this.#forget = this.#context.openTunnels.add(this.visit, () => this.#exchange.abort());
  }

  /** `isOfUpstream`: false for a fault of the client. */
  onFault({ error, cause, stale }: UpstreamFault, isOfUpstream = true): void {
    this.dropConnection();
    if (this.#ended) return;
    const { exchange, route } = this.visit;
    const mayRepeat = this.#mayRepeat;
    if (stale && mayRepeat) {
      this.acquire(true);
      return;
    }
    // A kept connection that the upstream has closed is no failure of the address.
    const attempt = stale || !isOfUpstream ? undefined : this.attempt;
    if (attempt !== undefined && this.asks(attempt.broken(cause.message, mayRepeat))) return;
    if (!exchange.headSent) this.visit.answered(error.status);
    const { operationId } = this.#log;
    if (!unlogged.has(error))
      this.#context.log.warn(
        { err: cause, operation_id: operationId, route_id: route.id, code: error.code },
        'upstream failed',
      );
    if (error.status === 503) this.fail(new UserError(error, retryLater));
    else this.#break(new UserError(error));
  }

  onDrain(): void {
    this.onActivity();
    this.#pump?.resume();
  }

  /** Answers 408 if the client's body has not come, 504 if the upstream has not answered. */
  onIdle(): void {
    // A step for an answer has a limit of its own.
    if (this.#held !== undefined) {
      this.onActivity();
      return;
    }
    this.cancel();
    this.dropConnection();
    const isLateClient = this.#pump?.waiting === true;
    if (!isLateClient && !this.#exchange.headSent) this.attempt?.failed('it did not answer in time');
    if (!isLateClient && !this.#exchange.headSent) this.visit.answered(upstreamTimeout.status);
    if (isLateClient) this.fail(new UserError(requestTimeout));
    else this.#break(new UserError(upstreamTimeout));
  }

  /** Sets up the encoder of the body if a module wants one. */
  #openEncoder(status: number, { openTransform, isEncoded }: ChangedAnswer): void {
    if (openTransform === undefined || !hasBody(this.#exchange.method, status)) return;
    const transform = openTransform();
    if (isEncoded === true) this.#context.encoders.opened(this.visit.accountId, transform);
    this.#encoded = new EncodedBody(transform, this.#exchange, this);
  }

  #end(chunk: Buffer | undefined, trailers: readonly string[]): void {
    this.#record?.whole();
    this.#pieces?.flush();
    this.#ended = true;
    this.#connection = undefined;
    this.#pump?.stop();
    if (this.#encoded === undefined) this.#exchange.end(chunk, trailers);
    else this.#encoded.end(chunk, () => this.#exchange.end(undefined, trailers));
  }

  /** Fails where the upstream gave no whole answer. A rule that asks must not take that for an answer. */
  #break(error: UserError): void {
    this.fail(error, this.#exchange.own !== undefined);
  }

  protected fail(error: UserError, isCut = false): void {
    this.#ended = true;
    this.#pieces?.drop();
    this.#pump?.stop();
    this.#encoded?.destroy();
    if (isCut || this.#exchange.headSent) {
      this.#log.refuse(error);
      this.#exchange.abort();
    } else {
      sendErrorResponse(this.#exchange, error, this.#context, this.#log);
    }
  }

  /** Nothing of a body would be missing, and nothing of an answer has gone out. */
  get #mayRepeat(): boolean {
    const { method, headSent } = this.#exchange;
    return this.#pump === undefined && repeatable.has(method) && !headSent;
  }

  protected dropConnection(): void {
    this.#connection?.abort();
    this.#connection = undefined;
  }

  #detach(): void {
    this.#exchange.onClose = undefined;
    this.leave();
  }

  protected leave(): void {
    this.#record?.drop();
    this.#ended = true;
    this.#connection = undefined;
    this.#exchange.onDrain = undefined;
    this.#context.watch.delete(this);
  }

  #finish(): void {
    this.cancel();
    this.#leaveUpstream();
    this.#pump?.stop();
    this.#pieces?.drop();
    this.#encoded?.destroy();
    this.#forget?.();
    this.attempt?.end();
    this.#record?.end();
    this.#detach();
    this.#log.bytesIn = this.#pump?.bytes ?? 0;
    this.#log.report(this.#context.observer);
  }
}

function hasBody(method: string, status: number): boolean {
  return method !== 'HEAD' && status !== 204 && status !== 304;
}
