import { retryLater, UserError } from '../../errors/user-error.ts';
import { parseIp } from '../../lib/ip/address.ts';
import { boundErrors } from '../bounds/bound.ts';
import type { UpstreamBound } from '../bounds/bound.ts';
import { endpointOffline } from '../errors.ts';
import { TunnelBackend } from '../tunnels/tunnel-backend.ts';
import type { VisitorFacts } from '../tunnels/tunnel-backend.ts';
import { choiceFacts } from './decide.ts';
import type { RoutedRequest } from './decide.ts';
import { comeBack } from './forwarded.ts';
import type { RequestVisit } from './request-visit.ts';
import type { RequestList } from './routing/request-list.ts';
import type { UpstreamConnection, UpstreamFault } from './upstream/connection.ts';
import type { ConnectionUser, Opening } from './upstream/opening.ts';
import type { UpstreamPool } from './upstream/pool.ts';
import { waitForAgent } from './wait-for-agent.ts';

/** The way of a request to a connection, also where its first backend or address cannot be reached. */
export abstract class ConnectionSearch implements ConnectionUser {
  protected readonly visit: RequestVisit;
  /** Steps for the request as they were when it was let in. */
  protected readonly list: RequestList;
  protected attempt: RoutedRequest['attempt'];
  readonly #goOn: (visit: RequestVisit) => void;
  #pool: UpstreamPool;
  #others: RoutedRequest['others'];
  #opening: Opening | undefined;

  /** `goOn` decides on the request again once it has waited. */
  constructor({ visit, pool, attempt, others }: RoutedRequest, goOn: (visit: RequestVisit) => void) {
    this.visit = visit;
    this.list = visit.route.list;
    this.attempt = attempt;
    this.#goOn = goOn;
    this.#pool = pool;
    this.#others = others;
  }

  abstract onConnection(connection: UpstreamConnection): void;

  /** `isOfUpstream`: false where the address is not to blame. */
  abstract onFault(fault: UpstreamFault, isOfUpstream: boolean): void;

  abstract onActivity(): void;

  /** Answers with the error. */
  protected abstract fail(error: UserError): void;

  /** Gives up the connection that has failed, if there is one. */
  protected abstract dropConnection(): void;

  /** Another goes on with the request. */
  protected abstract leave(): void;

  get visitor(): VisitorFacts {
    const { exchange, source } = this.visit;
    const { peer, peerPort, localAddress, localPort } = exchange.client;
    return {
      // A client that a trusted proxy speaks of has a port that nobody told.
      source: { ip: source, port: source === peer ? peerPort : 0 },
      destination: () => ({ ip: parseIp(localAddress) ?? source, port: localPort }),
      // Agents answer for a program of HTTP that does not listen; here nobody would understand that.
      proto: this.list.convertsWebsocket ? 'tcp' : 'https',
      isTls: false,
    };
  }

  onConnectFault(fault: UpstreamFault): void {
    if (this.asks(this.attempt?.unreachable(fault.cause.message)) || this.#triesAnother()) return;
    if (fault.error === endpointOffline && this.#waitsForAgent()) this.leave();
    else if (!this.#comesBack(fault.error)) this.onFault(fault, false);
  }

  onRefused(bound: UpstreamBound): void {
    this.fail(new UserError(boundErrors[bound], retryLater));
  }

  /** `fresh`: true for a connection that has served no request. */
  protected acquire(fresh: boolean): void {
    this.#opening = this.#pool.acquire(this, this.visit.countedSource, fresh);
  }

  /** Must be called when there is a connection. */
  protected reached(): void {
    if (this.#others !== undefined) this.visit.context.backends.groups.reached(this.#pool.source.id);
  }

  /** Asks another pool for a connection, if there is one, in place of the one that failed. */
  protected asks(pool: UpstreamPool | undefined): boolean {
    if (pool === undefined) return false;
    this.dropConnection();
    this.#pool = pool;
    this.onActivity();
    this.acquire(this.list.convertsWebsocket);
    return true;
  }

  /** Without effect when there is a connection. */
  protected cancel(): void {
    this.#opening?.cancel();
  }

  /** True: the next backend of the group is asked for a connection. Nothing has been sent to the one that failed. */
  #triesAnother(): boolean {
    if (this.#others === undefined) return false;
    const { context, exchange, source, accountId, log } = this.visit;
    const { backends } = context;
    backends.groups.failed(this.#pool.source.id);
    const next = backends.chooseFirst(this.#others, accountId, choiceFacts(exchange.headers, source));
    if (next === undefined) return false;
    this.attempt?.end();
    this.attempt = next.attempt;
    this.#others = next.others;
    log.backendId = next.pool.source.id;
    return this.asks(next.pool);
  }

  /** True: another takes over, which has set `onClose`. */
  #waitsForAgent(): boolean {
    const { source } = this.#pool;
    return source instanceof TunnelBackend && waitForAgent(this.visit, source, this.#goOn);
  }

  /** True: the endpoint that had forwarded the request goes on with it. Nothing of the request has been sent. */
  #comesBack(error: UpstreamFault['error']): boolean {
    const back = comeBack(this.visit, new UserError(error));
    if (back === undefined) return false;
    this.visit.failed(error.status);
    this.attempt?.end();
    this.leave();
    this.#goOn(back);
    return true;
  }
}
