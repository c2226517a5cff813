import { heldBodiesInUse } from '../../errors/shared.ts';
import { retryLater, UserError } from '../../errors/user-error.ts';
import type { Budget } from '../../lib/cel/run.ts';
import { findHeader, keepPairs } from '../../lib/header-list.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import type { SourceKey } from '../../lib/ip/source-key.ts';
import { doneBy } from '../../modules/run-steps.ts';
import type { Position } from '../../modules/run-steps.ts';
import type {
  CircuitAttempt,
  Forward,
  HeaderList,
  RequestVisit as StepVisit,
  StepServices,
} from '../../modules/step.ts';
import { visitBudget } from '../../modules/visit-budget.ts';
import { readEndpointUrl } from '../../lib/endpoint-url.ts';
import type { ShownCertificate } from '../../modules/shown-certificate.ts';
import type { AccessLogEntry } from './access-log-entry.ts';
import type { Authority } from './authority.ts';
import type { Exchange } from './exchange.ts';
import { sortHeaders } from './headers/forward-headers.ts';
import type { SortedHeaders } from './headers/forward-headers.ts';
import type { HeaderGuard } from './headers/header-guard.ts';
import { headersForUpstream } from './headers-for-upstream.ts';
import type { RequestContext } from './request-context.ts';
import type { Edge, InternalEdge } from './routing/host-table.ts';
import type { RequestTarget } from './routing/request-target.ts';
import type { Route } from './routing/route-table.ts';

const none: readonly never[] = [];

/** What a visit had when a step forwarded it, for the case that it comes back. */
interface Forwarding {
  readonly forward: Forward;
  /** Index of the step. */
  readonly at: number;
  readonly outgoing: HeaderList;
  readonly upstreamTarget: string;
  readonly circuits: readonly CircuitAttempt[];
}

/**
 * One request on its way through the steps of its route, and later the connection that it has opened. If it is forwarded to an
 * internal endpoint, it has another visit there.
 */
export class RequestVisit implements StepVisit, Position {
  readonly exchange: Exchange;
  readonly context: RequestContext;
  readonly log: AccessLogEntry;
  readonly services: StepServices;
  readonly accountId: string;
  readonly edge: Edge | InternalEdge;
  readonly edgeId: string;
  readonly ownerId: string;
  route: Route;
  readonly source: IpAddress;
  readonly countedSource: SourceKey;
  readonly isTls13: boolean;
  readonly httpVersion: StepVisit['httpVersion'];
  readonly facts: StepVisit['facts'];
  readonly certificate: ShownCertificate | undefined;
  readonly headers: HeaderList;
  readonly method: string;
  readonly hostname: string;
  readonly host: string;
  readonly target: string;
  readonly isUpgrade: boolean;
  done: ReadonlySet<string> | undefined;
  /** The visit that was forwarded here; undefined: a client has come here itself. */
  readonly from: RequestVisit | undefined;
  /** Internal endpoints that it has been forwarded to, with this one. */
  readonly hops: number;
  /** Undefined: it goes to the backend of its route. */
  forwarding: Forwarding | undefined;
  /** The request's visit at the endpoint that this one is forwarded to. */
  next: RequestVisit | undefined;
  at = 0;
  /** How often something was waited for. */
  waits: number;
  /** Restrictions that would have refused it if they were enforced. */
  warnedBy: readonly string[] = none;
  expectsContinue = false;
  upstreamTarget: string;
  identity: HeaderList | undefined;
  cookies: readonly string[];
  policy: unknown;
  tokens: StepVisit['tokens'] = none;
  circuits: readonly CircuitAttempt[] = none;
  readonly #authority: Authority;
  #budget: Budget | undefined;
  #outgoing: HeaderList | undefined;
  #outgoingBody: Buffer | undefined;
  #sorted: SortedHeaders | undefined;

  /** `before` is the same request, for which other rules were run. */
  constructor(
    { exchange, context, log }: Pick<RequestVisit, 'exchange' | 'context' | 'log'>,
    edge: Edge | InternalEdge,
    route: Route,
    { authority, target }: RequestTarget,
    source: IpAddress,
    countedSource: SourceKey,
    before: RequestVisit | undefined,
    from?: RequestVisit,
  ) {
    const { client, method, upgrade } = exchange;
    const headers = from === undefined ? exchange.headers : headersForUpstream(from);
    this.exchange = exchange;
    this.context = context;
    this.log = log;
    this.services = context.services;
    this.accountId = edge.accountId;
    this.edge = edge;
    this.edgeId = edge.id;
    this.ownerId = route.id;
    this.route = route;
    this.source = source;
    this.countedSource = countedSource;
    this.isTls13 = client.isTls13;
    this.httpVersion = exchange.protocol;
    this.facts = client.facts;
    this.certificate = client.certificate;
    this.headers = headers;
    this.method = method;
    this.#authority = authority;
    this.hostname = authority.name;
    this.host = authority.host;
    this.target = target;
    this.upstreamTarget = target;
    this.isUpgrade = upgrade !== undefined;
    this.done = before && doneBy(before.route.list.steps, before);
    this.from = from;
    this.hops = from === undefined ? 0 : from.hops + 1;
    this.waits = before?.waits ?? from?.waits ?? 0;
    this.cookies = before?.cookies ?? from?.cookies ?? none;
    this.policy = before?.policy;
    if (before !== undefined) this.#budget = before.#budget;
  }

  warn(by: string): undefined {
    this.log.wouldRefuse ??= by;
  }

  get person(): string | undefined {
    return this.log.person;
  }

  set person(person: string | undefined) {
    this.log.person = person;
  }

  get budget(): Budget {
    return (this.#budget ??= this.from?.budget ?? visitBudget());
  }

  get endpoint(): StepVisit['endpoint'] {
    const { edge, edgeId: id, hostname, exchange } = this;
    return () => {
      const internal = 'url' in edge ? readEndpointUrl(edge.url) : undefined;
      if (internal?.ok === true) {
        const { scheme, hostname: host, port } = internal.url;
        return { id, protocol: scheme, host, port };
      }
      const isPlain = exchange.client.servername === undefined;
      const [port = 443] = edge.ports;
      return { id, protocol: isPlain ? 'http' : 'https', host: hostname, port: isPlain ? 80 : port };
    };
  }

  get body(): Buffer | undefined {
    return this.from?.changedBody ?? this.exchange.heldBody;
  }

  get outgoingBody(): Buffer | undefined {
    return this.#outgoingBody;
  }

  set outgoingBody(body: Buffer | undefined) {
    if (body !== undefined) this.hold(body.length);
    this.#outgoingBody = body;
  }

  /** Counts bytes of a body that are held until the exchange is over. Throws if there is no room for them. */
  hold(bytes: number): void {
    if (!this.log.hold(this.context.heldBodies, this.accountId, bytes))
      throw new UserError(heldBodiesInUse, retryLater);
  }

  /** The body as steps of this endpoint, or of those that have forwarded the request to it, have changed it. */
  get changedBody(): Buffer | undefined {
    return this.outgoingBody ?? this.from?.changedBody;
  }

  get sorted(): SortedHeaders {
    if (this.#sorted !== undefined) return this.#sorted;
    if (this.from !== undefined)
      return (this.#sorted = sortAgain(this.headers, this.route.list.guard, this.from.sorted));
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

  /** The visit of the endpoint that the client itself came to. */
  get first(): RequestVisit {
    return this.from?.first ?? this;
  }

  /** True: steps of this endpoint, or of those that have forwarded the request to it, change answers. */
  get changesAnswers(): boolean {
    return this.route.list.answers.length > 0 || this.from?.changesAnswers === true;
  }

  /** Names of headers that no answer has, in lower case. */
  get removedFromAnswers(): readonly string[] {
    const { removedFromAnswers } = this.route.list;
    return this.from === undefined ? removedFromAnswers : [...removedFromAnswers, ...this.from.removedFromAnswers];
  }

  /** Whether a trailer of this name may follow the request upstream. */
  allowsTrailer(name: string): boolean {
    return this.route.list.guard?.allowsTrailer(name) !== false && this.from?.allowsTrailer(name) !== false;
  }

  /** The host that the client has named, and path and query as they go on. */
  get targetForUpstream(): RequestTarget {
    return { authority: this.#authority, target: this.upstreamTarget };
  }

  /** Tells the steps that want to know of the status. */
  answered(status: number): void {
    this.failed(status);
    this.from?.answered(status);
  }

  /** The same for those of this endpoint alone. */
  failed(status: number): void {
    for (const circuit of this.circuits) circuit.answered(status);
  }

  /** The step that is next has forwarded the visit, which goes there once those behind it have let it pass. */
  forwardTo(forward: Forward): void {
    const { at, outgoing, upstreamTarget, circuits } = this;
    this.forwarding = { forward, at, outgoing, upstreamTarget, circuits };
    this.at += 1;
  }

  /** The endpoint was out of reach: the step that had forwarded the visit is run again. */
  comeBack({ at, outgoing, upstreamTarget, circuits }: Forwarding): void {
    this.done = doneSince(this, at + 1);
    this.at = at;
    this.outgoing = outgoing;
    this.upstreamTarget = upstreamTarget;
    this.circuits = circuits;
    this.forwarding = undefined;
    this.next = undefined;
  }
}

/** Effects of the steps from this one on have happened. */
function doneSince({ route, at, done }: RequestVisit, first: number): ReadonlySet<string> {
  return new Set([...(done ?? none), ...route.list.steps.slice(first, at).flatMap(({ once }) => once ?? none)]);
}

/** The headers of a request that has been sorted once: what clients may not say is gone, and what rules have said stays. */
function sortAgain(headers: HeaderList, guard: HeaderGuard | undefined, { expect, te }: SortedHeaders): SortedHeaders {
  return { outgoing: guard === undefined ? headers : keepPairs(headers, (name) => !guard.removes(name)), expect, te };
}
