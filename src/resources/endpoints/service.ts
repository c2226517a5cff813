import type { EndpointScheme } from '../../lib/endpoint-url.ts';
import type { Queries } from '../../store/database.ts';
import type { Page } from '../../store/table.ts';
import { serviceKey } from '../services.ts';

/** Cloud endpoints that may share a URL, and as many endpoints of agents. */
export const mostInPool = 500;

export interface CloudEndpointRef {
  readonly id: string;
  readonly scheme: EndpointScheme;
  readonly isPooled: boolean;
}

/** A cloud endpoint with its traffic policy, as text. */
export interface CloudEndpointPolicy {
  readonly id: string;
  readonly url: string;
  readonly traffic_policy: string;
}

/** Where an endpoint is: at a name or port of the installation, or at an internal URL. */
export interface EndpointPlace {
  readonly hostname: string | null;
  readonly port: number | null;
  readonly internal?: string;
}

export interface CloudEndpoints {
  /** Cloud endpoints of the account at the same place, whatever their schemes. */
  at(queries: Queries, accountId: string, place: EndpointPlace): Promise<readonly CloudEndpointRef[]>;
  /** The places among these where there is one, whatever their schemes. */
  amongst<Place extends EndpointPlace & { readonly account_id: string }>(
    queries: Queries,
    places: readonly Place[],
  ): Promise<ReadonlySet<Place>>;
  /** Those of the account, newest first. */
  page(queries: Queries, accountId: string, page: Page): Promise<readonly CloudEndpointPolicy[]>;
  /** Ids of those in the account whose names are below the wildcard, and reserved by nothing else. */
  needing(queries: Queries, accountId: string, wildcard: string): Promise<readonly string[]>;
}

export const cloudEndpointService = serviceKey<CloudEndpoints>('cloud endpoints');
