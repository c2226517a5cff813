import type { UserError } from '../../errors/user-error.ts';
import { newOperationId } from '../../lib/ids.ts';
import { formatIp } from '../../lib/ip/address.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import type { HeldBodies } from '../bounds/held-bodies.ts';
import type { HttpDecision, TrafficObserver } from '../engine.ts';
import type { Exchange } from './exchange.ts';

interface Held {
  readonly bodies: HeldBodies;
  readonly accountId: string;
  readonly bytes: number;
}

/** Collects the facts of one exchange and reports them to the observer when it is over. */
export class AccessLogEntry {
  readonly #exchange: Exchange;
  /** `performance.now()` of the request. */
  readonly startedAt = performance.now();
  #operationId: string | undefined;
  source: IpAddress;
  edgeId: string | undefined;
  routeId: string | undefined;
  host = '';
  path = '';
  status = 0;
  errorCode: number | undefined;
  upstreamMs: number | undefined;
  /** Bytes of the body of the request, as far as they went upstream. */
  bytesIn = 0;
  accountId: string | undefined;
  warnedBy: readonly string[] | undefined;
  wouldRefuse: string | undefined;
  refusedBy: string | undefined;
  backendId: string | undefined;
  /** Version of the configuration that decided. */
  version: number | undefined;
  /** The visitor whose login was let in or refused. */
  person: string | undefined;
  /** The message of the gateway's own error. */
  reason: string | undefined;
  /** The module whose step has spoken. */
  module: string | undefined;
  /** Set where the sign-in has answered. */
  login: HttpDecision['login'];
  /** Bytes of bodies that are held for it, by account. */
  #held: Held[] = [];
  #isOver = false;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
    this.source = exchange.client.peer;
    this.#operationId = exchange.replay?.operationId;
  }

  get operationId(): string {
    return (this.#operationId ??= newOperationId());
  }

  /** Notes the gateway's own error; undefined: there is none. */
  refuse(error: Pick<UserError, 'code' | 'logged'> | undefined): void {
    this.errorCode = error?.code;
    this.reason = error?.logged;
  }

  /** Counts bytes of a body that are held until the exchange is over. False: there is no room for them. */
  hold(bodies: HeldBodies, accountId: string, bytes: number): boolean {
    // Work that goes on for a client that has left keeps nothing.
    if (this.#isOver) return true;
    if (!bodies.add(accountId, bytes)) return false;
    this.#held.push({ bodies, accountId, bytes });
    return true;
  }

  /** Reports status 499 if the client went away before any answer. */
  report(observer: TrafficObserver): void {
    this.#isOver = true;
    for (const { bodies, accountId, bytes } of this.#held) bodies.release(accountId, bytes);
    this.#held = [];
    const { client, heldBody, bodyBytes } = this.#exchange;
    const event = {
      operationId: this.#operationId,
      edgeId: this.edgeId,
      routeId: this.routeId,
      source: this.source === client.peer ? client.peerText : formatIp(this.source),
      protocol: this.#exchange.protocol,
      method: this.#exchange.method,
      host: this.host,
      path: this.path,
      status: this.status === 0 ? 499 : this.status,
      errorCode: this.errorCode,
      durationMs: performance.now() - this.startedAt,
      upstreamMs: this.upstreamMs,
    };
    const { accountId, warnedBy, wouldRefuse, refusedBy, module, backendId, reason, login, version, person } = this;
    observer.httpAnswered(event, {
      accountId,
      warnedBy,
      wouldRefuse,
      refusedBy,
      module,
      backendId,
      reason,
      login,
      version,
      person,
      bytesIn: heldBody?.length ?? this.bytesIn,
      bytesOut: bodyBytes,
    });
  }
}
