import { PathTable } from '../../../lib/path-table.ts';
import { checkRequestPath } from '../../../lib/request-path.ts';
import type { Steps } from '../../../lib/steps.ts';
import { buildModules } from '../../../modules/index.ts';
import type { SignIn } from '../../../modules/sign-in.ts';
import type { TlsTerms } from '../../../modules/step.ts';
import type { RouteEntry } from '../../../snapshot/contract.ts';
import type { SignInRoutes } from '../../sign-in/visit.ts';
import { requestList } from './request-list.ts';
import type { RequestList } from './request-list.ts';

export interface Route {
  readonly id: string;
  readonly list: RequestList;
  readonly backendId: string | undefined;
  /** State that steps keep between requests, by their `stateKey`. */
  readonly kept: Map<string, unknown>;
}

/** A handshake that asks for a certificate, or for a version. */
export interface SpecialHandshake {
  /** The same for all that are alike. */
  readonly key: string;
  /** PEM of the authorities whose certificates clients must show. */
  readonly clientCa: string | undefined;
  readonly needsTls13: boolean;
  /** Set where rules say how TLS ends: they go before the two above. */
  readonly terms: TlsTerms | undefined;
}

/** The routes of one edge. */
export class RouteTable {
  readonly #routes = new PathTable<Route>();
  #clientCa: string | undefined;
  #needsTls13 = false;
  #terms: TlsTerms | undefined;
  /** Undefined if visitors of no route sign in. */
  #signIns: Map<string, SignIn> | undefined;
  /** Routes by id whose steps keep something; undefined if there are none. */
  #stateful: Map<string, Route> | undefined;

  /**
   * Throws for a module that is not known. Yields after each route: an edge may have very many. What steps of the table
   * before have kept stays, for routes whose settings of them are the same.
   */
  static *of(entries: readonly RouteEntry[], before?: RouteTable): Steps<RouteTable> {
    const table = new RouteTable();
    for (const entry of entries) {
      table.#add(entry, before);
      yield;
    }
    return table;
  }

  #add(entry: RouteEntry, before: RouteTable | undefined): void {
    const route = buildRoute(entry, before === undefined ? undefined : before.#stateful?.get(entry.id));
    const { list } = route;
    this.#clientCa ??= list.clientCa;
    this.#needsTls13 ||= list.needsTls13;
    this.#terms ??= list.tlsTerms;
    for (const signIn of list.signIns) (this.#signIns ??= new Map()).set(signIn.key, signIn);
    if (list.stateKeys.length > 0) (this.#stateful ??= new Map()).set(route.id, route);
    this.#routes.add(entry.matchType, entry.match, route);
  }

  /** Returns 'ambiguous' if upstreams could read the path so that it leads to another route. */
  choose(matchPath: string): Route | 'ambiguous' | undefined {
    return this.#routes.choose(matchPath);
  }

  /** How the handshake differs from the usual one, which all routes of an edge share. */
  get handshake(): SpecialHandshake | undefined {
    const [clientCa, needsTls13, terms] = [this.#clientCa, this.#needsTls13, this.#terms];
    if (clientCa === undefined && !needsTls13 && terms === undefined) return undefined;
    const key = `${terms?.key ?? ''} ${needsTls13 ? 'TLS 1.3 ' : ''}${clientCa ?? ''}`;
    return { key, clientCa, needsTls13, terms };
  }

  /** The logins of all routes, by their keys. */
  get signIns(): ReadonlyMap<string, SignIn> | undefined {
    return this.#signIns;
  }

  /** The logins of the route that a path and query lead to. */
  signInsAt(target: string): ReturnType<SignInRoutes['signInsAt']> {
    const checked = checkRequestPath(target);
    const route = checked.ok ? this.choose(checked.matchPath) : undefined;
    return route === undefined || route === 'ambiguous'
      ? undefined
      : { routeId: route.id, signIns: route.list.signIns, modules: route.list.signInModules };
  }

  withId(id: string): Route | undefined {
    for (const route of this.#routes.values()) if (route.id === id) return route;
    return undefined;
  }
}

function buildRoute({ id, modules }: RouteEntry, before: Route | undefined): Route {
  const { shared, backendId } = buildModules(modules);
  const list = requestList(shared);
  const { stateKeys } = list;
  if (stateKeys.length === 0) return { id, list, backendId, kept: nothing };
  const old = [...(before?.kept ?? [])].filter(([key]) => stateKeys.includes(key));
  return { id, list, backendId, kept: new Map(old) };
}

/** State of all routes whose steps keep nothing, which are most. */
const nothing = new Map<string, unknown>();
