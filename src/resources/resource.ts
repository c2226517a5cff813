import type { TSchema } from 'typebox';

import type { Authenticator, Principal } from '../api/caller.ts';
import type { Call, Operation } from '../api/operation.ts';
import type { ErrorDefinition } from '../errors/user-error.ts';
import type { IpAddress } from '../lib/ip/address.ts';
import type { Sealer } from '../lib/sealed-secret.ts';
import type { Settings } from '../modules/module.ts';
import type { Compiler } from '../publisher/compiler.ts';
import type { RestrictionType } from '../snapshot/contract.ts';
import type { LocalCaStorage } from '../snapshot/local-ca.ts';
import type { Awaitable, Queries } from '../store/database.ts';
import type { Transaction } from '../store/group-commit.ts';
import type { Migration } from '../store/migrate.ts';
import type { Store } from '../store/store.ts';
import type { HostCommand } from './host-command.ts';

/** Settings that resources obey. */
export interface ResourceSettings {
  readonly tcpPorts: { readonly first: number; readonly last: number };
  readonly httpsPort: number;
}

export interface ResourceContext {
  readonly store: Store;
  readonly settings: ResourceSettings;
  /** For secrets that are kept to be used, such as private keys. */
  readonly sealer: Sealer;
  /** Complete once every resource has made its offers: to be used in calls, not while resources are put together. */
  readonly offers: Offers;
}

/** One REST resource: a folder, and a line in `index.ts`. Nothing else of it is seen by other resources. */
export interface Resource {
  readonly migrations: readonly Migration[];
  /** Schemas that others refer to by `$id`. */
  readonly schemas: readonly TSchema[];
  /** Errors that only this resource answers. */
  readonly errors?: readonly ErrorDefinition[];
  operations(context: ResourceContext): readonly Operation[];
  compilers?(context: ResourceContext): readonly Compiler[];
  /** What it does for other resources. */
  offers?(context: ResourceContext): Partial<Offers>;
  /** Its edges or routes, by the prefix of their ids; see `Offers.edgeModules`. */
  edgeModules?(context: ResourceContext): Readonly<Record<string, ModuleLookup>>;
  readonly hostCommands?: readonly HostCommand[];
}

/** What resources do for each other; each is offered by exactly one. */
export interface Offers {
  readonly authenticator: Authenticator;
  readonly principals: Principals;
  readonly bootstrap: Bootstrap;
  readonly apiKeys: ApiKeys;
  readonly ipPolicies: Referable;
  readonly ipPolicyRules: IpPolicyRules;
  readonly ipRestrictions: IpRestrictions;
  /** Settings of the modules of an edge or route, by the prefix of its id; undefined for one that does not exist. */
  readonly edgeModules: Readonly<Record<string, ModuleLookup>>;
  readonly staticBackends: Referable;
  readonly lockoutGuard: LockoutGuard;
  readonly warnings: Warnings;
  readonly localCa: LocalCaStorage;
}

export interface Principals {
  /** From memory where it can be. */
  find(accountId: string, id: string): Awaitable<Principal | undefined>;
  /** As the database has it, inside a write. */
  load(transaction: Transaction, accountId: string, id: string): Promise<Principal | undefined>;
}

export interface Bootstrap {
  /** An empty database gets one account, one admin and one API key. Answers its token then, and undefined ever after. */
  run(token: string | undefined): Promise<string | undefined>;
}

export interface ApiKeys {
  /** The token is in the answer only; nothing can show it again. */
  create(transaction: Transaction, request: NewApiKey): Promise<{ readonly id: string; readonly token: string }>;
  /** Deletes every key of an owner. */
  deleteOwnedBy(transaction: Transaction, accountId: string, ownerId: string): Promise<void>;
}

export interface NewApiKey {
  readonly accountId: string;
  readonly ownerId: string;
  readonly description: string;
  /** Chosen by the operator of the machine; generated when undefined. */
  readonly token?: string | undefined;
}

/** A resource that others name by id, and that stays while they do. */
export interface Referable {
  readonly path: string;
  exists(queries: Queries, accountId: string, id: string): Promise<boolean>;
  /** `userId` now names exactly these; what it named before is let go. */
  setReferences(transaction: Transaction, userId: string, ids: readonly string[]): Promise<void>;
}

export interface IpPolicyRules {
  /** Every rule of these policies that contains the address. */
  matching(policyIds: readonly string[], source: IpAddress): Promise<readonly MatchingRule[]>;
}

export interface MatchingRule {
  readonly id: string;
  readonly ip_policy_id: string;
  readonly cidr: string;
  readonly action: 'allow' | 'deny';
}

export interface IpRestrictions {
  ofType(accountId: string, type: RestrictionType): Promise<readonly RestrictionSummary[]>;
}

export interface RestrictionSummary {
  readonly id: string;
  readonly enforced: boolean;
  readonly ip_policy_ids: readonly string[];
}

export type ModuleLookup = (accountId: string, id: string) => Awaitable<Readonly<Record<string, Settings>> | undefined>;

export interface LockoutGuard {
  /** Throws if, as the database now stands inside the transaction, the caller's next call would be refused. */
  check(transaction: Transaction, call: Call): Promise<void>;
}

export interface Warnings {
  /** A restriction that is not enforced would have refused this source. Cheap: called for every such request. */
  warned(restrictionIds: readonly string[], source: IpAddress): void;
  /** Writes what is only in memory so far. */
  flush(): Promise<void>;
}
