import type { IpAddress } from '../../lib/ip/address.ts';
import type { SourceKey } from '../../lib/ip/source-key.ts';
import { doneBy } from '../../modules/run-steps.ts';
import type { Position } from '../../modules/run-steps.ts';
import type { CircuitAttempt, HeaderList, RequestVisit as StepVisit, StepServices } from '../../modules/step.ts';
import type { ShownCertificate } from '../../modules/shown-certificate.ts';
import type { AccessLogEntry } from './access-log-entry.ts';
import { formatAuthority } from './authority.ts';
import type { Exchange } from './exchange.ts';
import { sortHeaders } from './headers/forward-headers.ts';
import type { SortedHeaders } from './headers/forward-headers.ts';
import { findHeader } from './headers/header-list.ts';
import type { RequestContext } from './request-context.ts';
import type { Edge } from './routing/host-table.ts';
import type { RequestTarget } from './routing/request-target.ts';
import type { Route } from './routing/route-table.ts';

const none: readonly never[] = [];

/** One request on its way through the steps of its route, and later the connection that it has opened. */
export class RequestVisit implements StepVisit, Position {
  readonly exchange: Exchange;
  readonly context: RequestContext;
  readonly log: AccessLogEntry;
  readonly services: StepServices;
  readonly accountId: string;
  readonly edgeId: string;
  readonly ownerId: string;
  route: Route;
  readonly source: IpAddress;
  readonly countedSource: SourceKey;
  readonly isTls13: boolean;
  readonly certificate: ShownCertificate | undefined;
  readonly headers: HeaderList;
  readonly method: string;
  readonly hostname: string;
  readonly host: string;
  readonly target: string;
  readonly isUpgrade: boolean;
  readonly done: ReadonlySet<string> | undefined;
  at = 0;
  /** How often something was waited for. */
  waits: number;
  /** Restrictions that would have refused it if they were enforced. */
  warnedBy: readonly string[] = none;
  expectsContinue = false;
  upstreamTarget: string;
  identity: HeaderList | undefined;
  cookies: readonly string[];
  tokens: StepVisit['tokens'] = none;
  circuits: readonly CircuitAttempt[] = none;
  #outgoing: HeaderList | undefined;
  #sorted: SortedHeaders | undefined;

  /** `before` is the same request, for which other rules were run. */
  constructor(
    { exchange, context, log }: Pick<RequestVisit, 'exchange' | 'context' | 'log'>,
    edge: Edge,
    route: Route,
    { authority, target }: RequestTarget,
    source: IpAddress,
    countedSource: SourceKey,
    before: RequestVisit | undefined,
  ) {
    const { client, method, headers, upgrade } = exchange;
    this.exchange = exchange;
    this.context = context;
    this.log = log;
    this.services = context.services;
    this.accountId = edge.accountId;
    this.edgeId = edge.id;
    this.ownerId = route.id;
    this.route = route;
    this.source = source;
    this.countedSource = countedSource;
    this.isTls13 = client.isTls13;
    this.certificate = client.certificate;
    this.headers = headers;
    this.method = method;
    this.hostname = authority.name;
    this.host = formatAuthority(authority);
    this.target = target;
    this.upstreamTarget = target;
    this.isUpgrade = upgrade !== undefined;
    this.done = before && doneBy(before.route.list.steps, before);
    this.waits = before?.waits ?? 0;
    this.cookies = before?.cookies ?? none;
  }

  get body(): Buffer | undefined {
    return this.exchange.heldBody;
  }

  get sorted(): SortedHeaders {
    if (this.#sorted !== undefined) return this.#sorted;
    const { peerText, peerTrusted, servername } = this.exchange.client;
    return (this.#sorted = sortHeaders(this.headers, {
      host: this.host,
      scheme: servername === undefined ? 'http' : 'https',
      peer: peerText,
      peerTrusted,
      guard: this.route.list.guard,
    }));
  }

  get outgoing(): HeaderList {
    return this.#outgoing ?? this.sorted.outgoing;
  }

  set outgoing(headers: HeaderList) {
    this.#outgoing = headers;
  }

  /** The URL as the visitor used it, which a trusted proxy may tell. */
  get urls(): readonly string[] {
    const { client, headers, host } = this.exchange;
    const told = (name: string): string | undefined =>
      client.peerTrusted ? findHeader(headers, name)?.split(',')[0]?.trim() : undefined;
    const scheme = told('x-forwarded-proto')?.toLowerCase() ?? (client.servername === undefined ? 'http' : 'https');
    const [name = '', port] = (told('x-forwarded-host') ?? host ?? '').split(':');
    const usual = scheme === 'https' ? '443' : '80';
    return [port, port === undefined ? usual : undefined].map(
      (each) => `${scheme}://${name}${each === undefined ? '' : `:${each}`}${this.target}`,
    );
  }

  get operationId(): () => string {
    return () => this.log.operationId;
  }

  kept<State>(key: string, make: () => State): State {
    const { kept } = this.route;
    // Steps with this key keep nothing else.
    const known = kept.get(key) as State | undefined;
    if (known !== undefined) return known;
    const made = make();
    kept.set(key, made);
    return made;
  }

  /** Tells the steps that want to know of the status. */
  answered(status: number): void {
    for (const circuit of this.circuits) circuit.answered(status);
  }
}
