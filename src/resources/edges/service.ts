import type { Settings } from '../../modules/module.ts';
import type { Awaitable } from '../../lib/awaitable.ts';
import type { Page } from '../../store/table.ts';
import type { UnopenedPort } from '../../observe/listener-faults.ts';
import { serviceKey, serviceListKey } from '../services.ts';
import type { MatchType } from './https/table.ts';

/** The modules of one kind of edge or route, for resources that look at them. */
export interface EdgeModules {
  /** Prefix of the ids of these edges or routes. */
  readonly prefix: string;
  /** Settings by module name; undefined for an id that names nothing in the account. */
  find(accountId: string, id: string): Awaitable<Readonly<Record<string, Settings>> | undefined>;
}

/** The modules of a route, with those of its edge, which hold for it too. */
export interface RouteModules {
  readonly id: string;
  readonly match_type: MatchType;
  readonly match: string;
  readonly modules: Readonly<Record<string, Settings>>;
}

/** The modules of single routes. */
export interface ModulesOfRoutes {
  readonly prefix: string;
  /** Undefined for an id that names no route of the account, or none of the edge that is given. */
  find(accountId: string, id: string, edgeId?: string): Awaitable<Readonly<Record<string, Settings>> | undefined>;
  /** Routes of an HTTPS edge, newest first, at most so many. Undefined: it is an edge of another kind. */
  ofEdge(accountId: string, edgeId: string, most: number): Promise<readonly RouteModules[] | undefined>;
}

export const edgeModules = serviceListKey<EdgeModules>('modules of edges');
export const httpsRouteModules = serviceKey<ModulesOfRoutes>('modules of HTTPS routes');

/** Edges of one kind, by where they are reached. */
export interface EdgeAddresses {
  readonly prefix: string;
  /** Path of the collection. */
  readonly path: string;
  readonly proto: 'https' | 'tcp' | 'tls';
  /** Newest first. */
  page(accountId: string, page: Page): Promise<readonly EdgeAddress[]>;
}

export interface EdgeAddress {
  readonly id: string;
  readonly created_at: string;
  readonly hostports: readonly string[];
}

export const edgeAddresses = serviceListKey<EdgeAddresses>('addresses of edges');

/** The ports of TCP edges that this process cannot open. */
export const unopenedPorts = serviceKey<{ list(): readonly UnopenedPort[] }>('ports that cannot be opened');
