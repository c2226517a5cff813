import type { Settings } from '../../modules/module.ts';
import type { Awaitable } from '../../store/database.ts';
import { serviceKey } from '../services.ts';

/** The modules of one kind of edge or route, for resources that look at them. */
export interface EdgeModules {
  /** Prefix of the ids of these edges or routes. */
  readonly prefix: string;
  /** Settings by module name; undefined for an id that names nothing in the account. */
  find(accountId: string, id: string): Awaitable<Readonly<Record<string, Settings>> | undefined>;
}

export const tcpEdgeModules = serviceKey<EdgeModules>('modules of TCP edges');
export const httpsEdgeModules = serviceKey<EdgeModules>('modules of HTTPS edges');
export const httpsRouteModules = serviceKey<EdgeModules>('modules of HTTPS routes');
