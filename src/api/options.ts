import type { Socket } from 'node:net';

import type { FastifyBaseLogger } from 'fastify';
import type { TSchema } from 'typebox';

import type { Awaitable } from '../lib/awaitable.ts';
import type { IpAddress } from '../lib/ip/address.ts';
import type { CidrSet } from '../lib/ip/cidr-set.ts';
import type { AccessTable } from '../snapshot/access.ts';
import type { ServerConnections } from '../lib/server-connections.ts';
import type { Authenticator, Sessions } from './admission/caller.ts';
import type { ApiObserver } from './admission/call-admission.ts';
import type { Validators } from './body/validators.ts';
import type { Invitations } from './dashboard/invitation-route.ts';
import type { ProviderSignIn } from './dashboard/provider-sign-in.ts';
import type { SessionObserver } from './dashboard/session-routes.ts';
import type { FailedAuthentications } from './admission/failed-authentications.ts';
import type { Operation } from './operation.ts';
import type { RequestObserver } from './http/request-metrics.ts';
import type { VendorWords } from './http/vendor-words.ts';

export interface ApiOptions {
  readonly operations: readonly Operation[];
  /** Schemas that others refer to by their `$id`. */
  readonly schemas: readonly TSchema[];
  /** Validators of bodies, which may refer to these schemas. */
  readonly validators: Validators;
  readonly authenticator: Authenticator;
  readonly sessions: Sessions;
  readonly invitations: Invitations;
  /** How people sign in to the dashboard: with an identity provider, with the token of an API key, or either. */
  readonly signIn: { readonly provider: ProviderSignIn | undefined; readonly token: boolean };
  readonly access: AccessTable;
  readonly warned: (restrictionIds: readonly string[], source: IpAddress) => void;
  /** Why the service is not ready; undefined when it is. */
  readonly unready: () => string | undefined;
  /** Number of entries of the configuration that this process cannot load. */
  readonly faultyEntries: () => number;
  /** Ports of TCP edges that this process cannot open. */
  readonly unopenedPorts: () => readonly number[];
  /** The disk of the database is full: writes are refused, reading goes on. */
  readonly isFull: () => boolean;
  /** The database has not answered a write for a while; reading goes on. */
  readonly isStalled: () => boolean;
  /** PEM of the authority behind edges without a certificate of their own; undefined until there is one. */
  readonly localCaCertificate: () => Promise<string | undefined>;
  readonly publicUrl: string | undefined;
  /** Folder of the built dashboard; it may be missing. */
  readonly dashboardFolder: string;
  /** Version of this program. */
  readonly programVersion: string;
  readonly vendor: VendorWords;
  readonly trustedProxies: CidrSet;
  /** True for a connection that the gateway of this process has made: it must be reset. */
  readonly isOurs: (socket: Socket) => Awaitable<boolean>;
  readonly failures: FailedAuthentications;
  /** Calls a minute for each account. */
  readonly rateLimit: number | undefined;
  /** Calls of one account that are in progress at once. */
  readonly accountCalls: number;
  /** Entries that the filter of a list may look at. */
  readonly filterRows: number;
  /** A call that would have to wait longer than this for its turn is refused. */
  readonly maxWaitMs: number;
  /** The gateway in this process has clients: their traffic goes first. */
  readonly isBesideTraffic: () => boolean;
  /** A connection is closed on which no byte moves for so long in the middle of a call. */
  readonly stallSeconds: number;
  readonly observer: ApiObserver & SessionObserver;
  /** Undefined where metrics are off: the hook costs as much as the rest of a short call. */
  readonly measured: RequestObserver | undefined;
  readonly connections: ServerConnections;
  readonly logger: FastifyBaseLogger;
  /** True: no line for each call. */
  readonly isQuiet: boolean;
}
