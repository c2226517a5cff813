import type { Settings } from '../../modules/module.ts';
import type { Awaitable } from '../../lib/awaitable.ts';
import type { Page } from '../../store/table.ts';
import type { UnopenedPort } from '../../observe/listener-faults.ts';
import { serviceKey, serviceListKey } from '../services.ts';

/** The modules of one kind of edge or route, for resources that look at them. */
export interface EdgeModules {
  /** Prefix of the ids of these edges or routes. */
  readonly prefix: string;
  /** Settings by module name; undefined for an id that names nothing in the account. */
  find(accountId: string, id: string): Awaitable<Readonly<Record<string, Settings>> | undefined>;
}

export const edgeModules = serviceListKey<EdgeModules>('modules of edges');
export const httpsRouteModules = serviceKey<EdgeModules>('modules of HTTPS routes');

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
