import type { Duplex } from 'node:stream';

import { agentStreamsInUse, internalError, requestTimeout } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import type { ErrorDefinition } from '../../errors/user-error.ts';
import { parseIp } from '../../lib/ip/address.ts';
import { sourceKey } from '../../lib/ip/source-key.ts';
import type { Answering, OwnAnswer, Wait } from '../../modules/step.ts';
import { boundErrors } from '../bounds/bound.ts';
import type { UpstreamBound } from '../bounds/bound.ts';
import {
  backendLeadsInwards,
  endpointOffline,
  upstreamBroke,
  upstreamInvalidResponse,
  upstreamTimeout,
} from '../errors.ts';
import type { VisitorFacts } from '../tunnels/tunnel-backend.ts';
import { PieceJoiner } from '../turns/piece-joiner.ts';
import { TunnelSource } from '../upstream/tunnel-source.ts';
import type { AccessLogEntry } from './access-log-entry.ts';
import { AnswerRun } from './answer-run.ts';
import { choiceFacts } from './decide.ts';
import type { RoutedRequest } from './decide.ts';
import { EncodedBody } from './encoded-body.ts';
import type { EncodedBodyOwner } from './encoded-body.ts';
import { sendErrorResponse } from './error-response.ts';
import type { Exchange } from './exchange.ts';
import { comeBack } from './forwarded.ts';
import { findHeader } from './headers/header-list.ts';
import { sendOwnAnswer } from './own-answer.ts';
import { answerTrailers, interimHeaders } from './headers/forward-headers.ts';
import { withoutSetSession } from './headers/session-cookie.ts';
import type { IdleTimeout } from './idle-watch.ts';
import { endsConnection } from './request-context.ts';
import type { RequestContext } from './request-context.ts';
import type { RequestVisit } from './request-visit.ts';
import type { RequestList } from './routing/request-list.ts';
import { Tunnel } from './tunnel.ts';
import { acceptWebsocket } from './websocket-handshake.ts';
import { WebsocketStream } from './websocket-stream.ts';
import { waitForAgent } from './wait-for-agent.ts';
import type { UpstreamConnection, UpstreamFault, UpstreamHandler } from './upstream/connection.ts';
import type { ConnectionUser, Opening } from './upstream/opening.ts';
import type { UpstreamPool } from './upstream/pool.ts';
import { hasBytes, RequestBodyPump } from './upstream/request-body-pump.ts';
import type { BodyOwner } from './upstream/request-body-pump.ts';
import type { ResponseHead } from './upstream/response-head.ts';

/** Methods whose requests may be sent once more after a stale connection (RFC 9110, 9.2.2). */
const repeatable: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/** Errors that are no news in the log: the guard reports the first once, and the others are for agents to mend. */
const unlogged: ReadonlySet<ErrorDefinition> = new Set([backendLeadsInwards, endpointOffline, agentStreamsInUse]);

const nothing = Buffer.alloc(0);

/** Headers of an answer to a request that found no connection; in seconds. */
const retryLater = { 'Retry-After': '1' };

const switchingProtocols = 101;

type Changed = Pick<Answering, 'headers' | 'contentLength' | 'openTransform'> & { readonly isEncoded?: boolean };

/** Carries one request to its upstream and the answer back. */
export class Relay implements UpstreamHandler, ConnectionUser, BodyOwner, EncodedBodyOwner, IdleTimeout {
  lastActivity = 0;
  readonly limitMs: number;
  readonly #visit: RequestVisit;
  readonly #list: RequestList;
  readonly #head: string;
  readonly #goOn: (visit: RequestVisit) => void;
  readonly #exchange: Exchange;
  readonly #context: RequestContext;
  readonly #log: AccessLogEntry;
  readonly #pump: RequestBodyPump | undefined;
  #pool: UpstreamPool;
  #attempt: RoutedRequest['attempt'];
  #others: RoutedRequest['others'];
  #connection: UpstreamConnection | undefined;
  /** Undefined unless a module changes the body. */
  #encoded: EncodedBody | undefined;
  /** Set while a step for the answer waits: what has come of the answer. */
  #held: (() => void)[] | undefined;
  /** A connection of another protocol, until it is joined with the client's. */
  #stream: Duplex | undefined;
  /** Undefined until a part of the answer's body comes that is not all of it. */
  #pieces: PieceJoiner | undefined;
  #opening: Opening | undefined;
  #sentAt = 0;
  /** Undefined unless the answer ends when rules say so, as streams of events do. */
  #forget: (() => void) | undefined;
  #ended = false;

  /** `goOn` decides on the request again once it has waited. */
  constructor(request: RoutedRequest, goOn: (visit: RequestVisit) => void) {
    const { visit } = request;
    const { exchange, context, log, route } = visit;
    this.#visit = visit;
    this.#list = route.list;
    this.#head = request.head;
    this.#goOn = goOn;
    this.#exchange = exchange;
    this.#pool = request.pool;
    this.#attempt = request.attempt;
    this.#others = request.others;
    this.#context = context;
    this.#log = log;
    this.limitMs = context.idleMs;
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
    this.#acquire(this.#list.convertsWebsocket);
  }

  #acquire(fresh: boolean): void {
    this.#opening = this.#pool.acquire(this, this.#visit.countedSource, fresh);
  }

  get visitor(): VisitorFacts {
    const { exchange, source } = this.#visit;
    const { peer, peerPort, localAddress, localPort } = exchange.client;
    return {
      // A client that a trusted proxy speaks of has a port that nobody told.
      source: { ip: source, port: source === peer ? peerPort : 0 },
      destination: () => ({ ip: parseIp(localAddress) ?? source, port: localPort }),
      // Agents answer for a program of HTTP that does not listen; here nobody would understand that.
      proto: this.#list.convertsWebsocket ? 'tcp' : 'https',
      isTls: false,
    };
  }

  onConnection(connection: UpstreamConnection): void {
    const { method, isUpgrade, expectsContinue } = this.#visit;
    if (this.#others !== undefined) this.#context.backends.groups.reached(this.#pool.source.id);
    this.#connection = connection;
    this.#sentAt = performance.now();
    this.onActivity();
    if (this.#list.convertsWebsocket) {
      this.#convert(connection.takeStream());
      return;
    }
    connection.send({ method, upgrade: isUpgrade }, this.#head, this.#pump !== undefined, this);
    this.#pump?.start(connection, expectsContinue);
  }

  onConnectFault(fault: UpstreamFault): void {
    if (this.#asks(this.#attempt?.unreachable(fault.cause.message)) || this.#triesAnother()) return;
    if (fault.error === endpointOffline && this.#waitsForAgent()) this.#leave();
    else if (!this.#comesBack(fault.error)) this.onFault(fault, false);
  }

  onRefused(bound: UpstreamBound): void {
    this.#fail(new UserError(boundErrors[bound], retryLater));
  }

  onActivity(): void {
    this.lastActivity = this.#context.watch.now;
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
      const headers = interimHeaders(head.headers, this.#visit.removedFromAnswers);
      this.#exchange.sendInterim(head.status, head.reason, headers);
    }
  }

  onHead(head: ResponseHead): void {
    this.onActivity();
    if (this.#attempt !== undefined && this.#asks(this.#attempt.answered(head.status, this.#mayRepeat))) return;
    this.#log.upstreamMs = performance.now() - this.#sentAt;
    this.#visit.answered(head.status);
    const { status, headers } = head;
    const contentLength = status === 204 ? undefined : head.contentLength;
    if (!this.#visit.changesAnswers) {
      this.#sendHead(head, { headers: this.#withCookies(headers), contentLength, openTransform: undefined });
      return;
    }
    const run = new AnswerRun(this.#visit, { status, headers, contentLength, isEncodable: true });
    this.#finishAnswer(run, (changed) => this.#sendHead(head, changed));
  }

  #sendHead({ status, reason, headers: sent }: ResponseHead, changed: Changed): void {
    try {
      const { headers, contentLength } = this.#withTransform(status, changed);
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

  /** Goes on with what the steps for answers make of one; they may answer in its place, or wait. */
  #finishAnswer(run: AnswerRun, pass: (changed: Changed) => void): void {
    const outcome = this.#nextOf(run);
    const { own, answering } = run;
    if (outcome === undefined && own === undefined) {
      answering.headers = this.#withCookies(answering.headers);
      const { headers, contentLength, openTransform } = answering;
      pass({ headers, contentLength, openTransform, isEncoded: run.isEncoded });
    } else if (outcome === undefined) this.#answerInstead(own!);
    else if (outcome instanceof UserError) {
      this.#leaveUpstream();
      this.#fail(outcome);
    } else if (outcome.kind === 'close') {
      this.#leaveUpstream();
      this.#close(outcome.refusal);
    } else this.#holdAnswer(outcome, run, pass);
  }

  #nextOf(run: AnswerRun): ReturnType<AnswerRun['next']> {
    try {
      return run.next();
    } catch (error) {
      return this.#ofStep(error);
    }
  }

  /** The error to answer with, where a step for the answer failed. */
  #ofStep(error: unknown): UserError {
    if (error instanceof UserError) return error;
    const { operationId } = this.#log;
    this.#context.log.error({ err: error, operation_id: operationId }, 'a step for an answer failed');
    return new UserError(internalError);
  }

  /** Keeps what comes of the answer until the step goes on. */
  #holdAnswer({ start }: Wait, run: AnswerRun, pass: (changed: Changed) => void): void {
    this.#held ??= [];
    this.#connection?.pause();
    const goOn = (): void => {
      if (this.#ended) return;
      this.onActivity();
      this.#finishAnswer(run, (changed) => {
        const held = this.#held ?? [];
        this.#held = undefined;
        pass(changed);
        this.#connection?.resume();
        for (const each of held) each();
      });
    };
    start().then(
      (answer) => {
        if (answer !== undefined) run.replace(answer);
        goOn();
      },
      (error: unknown) => {
        if (this.#ended) return;
        this.#leaveUpstream();
        this.#fail(this.#ofStep(error));
      },
    );
  }

  #answerInstead({ status, headers, body, refusal }: OwnAnswer): void {
    this.#leaveUpstream();
    this.#ended = true;
    this.#pump?.stop();
    this.#log.status = status;
    this.#log.errorCode = refusal?.code;
    this.#log.reason = refusal?.logged;
    sendOwnAnswer(this.#exchange, this.#context, status, this.#withCookies(headers), Buffer.from(body));
  }

  #close({ code, logged }: UserError): void {
    this.#ended = true;
    this.#pump?.stop();
    this.#log.errorCode = code;
    this.#log.reason = logged;
    this.#exchange.abort();
  }

  /** The rest of the answer is not wanted. */
  #leaveUpstream(): void {
    this.#held = undefined;
    this.#connection?.abort();
    this.#connection = undefined;
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
    this.#end(undefined, answerTrailers(trailers, this.#visit.removedFromAnswers, this.#encoded !== undefined));
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
        { err: cause, operation_id: operationId, route_id: this.#visit.route.id },
        'response encoder failed',
      );
    this.#connection?.abort();
    this.#connection = undefined;
    this.#fail(cause instanceof UserError ? cause : new UserError(internalError));
  }

  onUpgrade({ status, headers, upgrade }: ResponseHead, socket: Duplex, firstBytes: Buffer): void {
    this.#connection = undefined;
    this.#upgrade(status, headers, socket, (changed) => {
      const named = upgrade === undefined ? [] : ['Upgrade', upgrade];
      const client = this.#switchProtocols([...changed, 'Connection', 'Upgrade', ...named], socket);
      if (client !== undefined) this.#join(client.socket, socket, client.firstBytes, firstBytes);
    });
  }

  /** Joins the bytes of a WebSocket's messages with a stream that knows nothing of HTTP. */
  #convert(stream: Duplex): void {
    this.#connection = undefined;
    this.#upgrade(switchingProtocols, [], stream, (changed) => {
      const client = this.#switchProtocols([...changed, ...acceptWebsocket(this.#exchange)], stream);
      if (client === undefined) return;
      const messages = new WebsocketStream(client.socket, sourceKey(this.#exchange.client.peer), this.limitMs);
      this.#join(messages, stream, nothing, nothing);
      messages.receive(client.firstBytes);
    });
  }

  /** Has the steps for answers change the headers of an answer that carries no body of HTTP. */
  #upgrade(
    status: number,
    headers: readonly string[],
    stream: Duplex,
    pass: (headers: readonly string[]) => void,
  ): void {
    this.#stream = stream;
    const run = new AnswerRun(this.#visit, { status, headers });
    this.#finishAnswer(run, (changed) => {
      this.#stream = undefined;
      pass(changed.headers);
    });
  }

  /** Undefined if the rules, which may have changed since the request was let in, refuse it now: then both are closed. */
  #switchProtocols(headers: readonly string[], upstream: Duplex): ReturnType<Exchange['switchProtocols']> | undefined {
    this.#visit.answered(switchingProtocols);
    this.#attempt?.answered(switchingProtocols, false);
    if (!this.#context.openTunnels.admits(this.#visit)) {
      upstream.destroy();
      this.#exchange.abort();
      return undefined;
    }
    this.#detach();
    this.#log.status = switchingProtocols;
    this.#log.upstreamMs = performance.now() - this.#sentAt;
    return this.#exchange.switchProtocols(headers);
  }

  #join(client: Duplex, upstream: Duplex, fromClient: Buffer, fromUpstream: Buffer): void {
    const { watch, idleMs, observer } = this.#context;
    const tunnel = new Tunnel(client, upstream, sourceKey(this.#exchange.client.peer), watch, idleMs, () => {
      forget();
      this.#attempt?.end();
      this.#log.report(observer);
    });
    const forget = this.#context.openTunnels.add(this.#visit, () => tunnel.abort());
    tunnel.start(fromClient, fromUpstream);
  }

  /** A stream of events or pictures may last for days, in which rules come that its route did not have. */
  #endInTime(headers: readonly string[]): void {
    if (!/^(?:text\/event-stream|multipart\/x-mixed-replace)\b/i.test(findHeader(headers, 'content-type') ?? ''))
      return;
    this.#forget = this.#context.openTunnels.add(this.#visit, () => this.#exchange.abort());
  }

  /** `isOfUpstream`: false for a fault of the client. */
  onFault({ error, cause, stale }: UpstreamFault, isOfUpstream = true): void {
    this.#connection?.abort();
    this.#connection = undefined;
    if (this.#ended) return;
    const { exchange, route } = this.#visit;
    const mayRepeat = this.#mayRepeat;
    if (stale && mayRepeat) {
      this.#acquire(true);
      return;
    }
    // A kept connection that the upstream has closed is no failure of the address.
    const attempt = stale || !isOfUpstream ? undefined : this.#attempt;
    if (attempt !== undefined && this.#asks(attempt.broken(cause.message, mayRepeat))) return;
    if (!exchange.headSent) this.#visit.answered(error.status);
    const { operationId } = this.#log;
    if (!unlogged.has(error))
      this.#context.log.warn(
        { err: cause, operation_id: operationId, route_id: route.id, code: error.code },
        'upstream failed',
      );
    if (error.status === 503) this.#fail(new UserError(error, retryLater));
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
    this.#opening?.cancel();
    this.#connection?.abort();
    this.#connection = undefined;
    const isLateClient = this.#pump?.waiting === true;
    if (!isLateClient && !this.#exchange.headSent) this.#attempt?.failed('it did not answer in time');
    if (!isLateClient && !this.#exchange.headSent) this.#visit.answered(upstreamTimeout.status);
    if (isLateClient) this.#fail(new UserError(requestTimeout));
    else this.#break(new UserError(upstreamTimeout));
  }

  /** Sets up the encoder of the body if a module wants one. */
  #withTransform(status: number, answer: Changed): Changed {
    if (answer.openTransform !== undefined && hasBody(this.#exchange.method, status)) {
      const transform = answer.openTransform();
      if (answer.isEncoded === true) this.#context.encoders.opened(this.#visit.accountId, transform);
      this.#encoded = new EncodedBody(transform, this.#exchange, this);
    }
    return answer;
  }

  /** The steps for answers come first: they can add a cookie as well as the upstream. */
  #withCookies(headers: readonly string[]): readonly string[] {
    const kept = withoutSetSession(headers);
    const { cookies } = this.#visit;
    return cookies.length === 0 ? kept : [...kept, ...cookies.flatMap((cookie) => ['Set-Cookie', cookie])];
  }

  #end(chunk: Buffer | undefined, trailers: readonly string[]): void {
    this.#pieces?.flush();
    this.#ended = true;
    this.#connection = undefined;
    this.#pump?.stop();
    if (this.#encoded === undefined) this.#exchange.end(chunk, trailers);
    else this.#encoded.end(chunk, () => this.#exchange.end(undefined, trailers));
  }

  /** Fails where the upstream gave no whole answer. A rule that asks must not take that for an answer. */
  #break(error: UserError): void {
    this.#fail(error, this.#exchange.own !== undefined);
  }

  #fail(error: UserError, isCut = false): void {
    this.#ended = true;
    this.#pieces?.drop();
    this.#pump?.stop();
    this.#encoded?.destroy();
    if (isCut || this.#exchange.headSent) {
      this.#log.errorCode = error.code;
      this.#log.reason = error.logged;
      this.#exchange.abort();
    } else {
      sendErrorResponse(this.#exchange, error, this.#context, this.#log);
    }
  }

  /** True: the next backend of the group is asked for a connection. Nothing has been sent to the one that failed. */
  #triesAnother(): boolean {
    if (this.#others === undefined) return false;
    const { backends } = this.#context;
    backends.groups.failed(this.#pool.source.id);
    const facts = choiceFacts(this.#exchange.headers, this.#visit.source);
    const next = backends.chooseFirst(this.#others, this.#visit.accountId, facts);
    if (next === undefined) return false;
    this.#attempt?.end();
    this.#attempt = next.attempt;
    this.#others = next.others;
    this.#log.backendId = next.pool.source.id;
    return this.#asks(next.pool);
  }

  /** Nothing of a body would be missing, and nothing of an answer has gone out. */
  get #mayRepeat(): boolean {
    const { method, headSent } = this.#exchange;
    return this.#pump === undefined && repeatable.has(method) && !headSent;
  }

  /** Asks another pool for a connection, if there is one, in place of the one that failed. */
  #asks(pool: UpstreamPool | undefined): boolean {
    if (pool === undefined) return false;
    this.#connection?.abort();
    this.#connection = undefined;
    this.#pool = pool;
    this.onActivity();
    this.#acquire(this.#list.convertsWebsocket);
    return true;
  }

  /** True: another takes over, which has set `onClose`. */
  #waitsForAgent(): boolean {
    const { source } = this.#pool;
    return source instanceof TunnelSource && waitForAgent(this.#visit, source.backend, this.#goOn);
  }

  /** True: the endpoint that had forwarded the request goes on with it. Nothing of the request has been sent. */
  #comesBack(error: UpstreamFault['error']): boolean {
    const back = comeBack(this.#visit, new UserError(error));
    if (back === undefined) return false;
    this.#visit.failed(error.status);
    this.#attempt?.end();
    this.#leave();
    this.#goOn(back);
    return true;
  }

  #detach(): void {
    this.#exchange.onClose = undefined;
    this.#leave();
  }

  #leave(): void {
    this.#ended = true;
    this.#connection = undefined;
    this.#exchange.onDrain = undefined;
    this.#context.watch.delete(this);
  }

  #finish(): void {
    this.#opening?.cancel();
    this.#leaveUpstream();
    this.#pump?.stop();
    this.#pieces?.drop();
    this.#encoded?.destroy();
    this.#forget?.();
    this.#attempt?.end();
    this.#detach();
    this.#log.report(this.#context.observer);
  }
}

function hasBody(method: string, status: number): boolean {
  return method !== 'HEAD' && status !== 204 && status !== 304;
}
