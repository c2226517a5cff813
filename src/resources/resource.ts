import type { TSchema } from 'typebox';

import type { Role } from '../api/admission/roles.ts';
import type { ListenAddress } from '../lib/host-port.ts';
import type { Operation } from '../api/operation.ts';
import type { ErrorDefinition } from '../errors/user-error.ts';
import type { Sealer } from '../lib/sealed-secret.ts';
import type { Compiler } from '../publisher/compiler.ts';
import type { SignInProvider } from '../modules/sign-in.ts';
import type { Fetch } from '../sign-in/guarded-fetch.ts';
import type { Signatures } from '../sign-in/signatures.ts';
import type { Migration } from '../store/migrate.ts';
import type { Store } from '../store/store.ts';
import type { HostCommand } from './host-command.ts';
import type { OwnNames } from './own-names.ts';
import type { Referable, Referables } from './references.ts';
import type { Services } from './services.ts';

/** Settings that resources obey. */
export interface ResourceSettings {
  readonly tcpPorts: { readonly first: number; readonly last: number };
  /** Whether a port of TCP traffic is free on this machine; undefined where it has no gateway. */
  readonly canListen: ((port: number) => Promise<boolean>) | undefined;
  readonly httpsPort: number;
  /** Whether certificates are obtained from a public authority, and whether records of the DNS can be made for it. */
  readonly acme: { readonly isOn: boolean; readonly hasDnsHook: boolean };
  /** The protocol of agents and its version, as sessions show it. */
  readonly transport: string;
  /** Prefix of the number in the codes of errors. */
  readonly errorPrefix: string;
  /** Port in the URL of an HTTPS or TLS name. */
  readonly httpsUrlPort: (hostname: string) => number;
  /** The same without TLS; undefined where none are served. */
  readonly httpUrlPort: ((hostname: string) => number) | undefined;
  /** Where agents connect; undefined: at the host of the API. */
  readonly agentAddress: ListenAddress | undefined;
  /** Whether agents are shown a certificate of the operator. */
  readonly hasAgentCertificate: boolean;
  /** Names that nobody chose are made under it, and TCP addresses have it as their host. */
  readonly agentDomain: string;
  /** Host names that belong to the installation, and so to no account. */
  readonly ownNames: OwnNames;
  /** The name of the region that sessions, tunnels and endpoints show. */
  readonly region: string;
  readonly dashboard: DashboardSettings;
  /** Undefined where people sign in to the dashboard with tokens alone. */
  readonly signIn: OperatorSignIn | undefined;
  /** Entries in one call that applies a configuration. */
  readonly configurationEntries: number;
  readonly events: EventSettings;
}

/** What the operator has for events: targets that need it are refused without it. */
export interface EventSettings {
  /** A folder for files with events. */
  readonly hasFolder: boolean;
  readonly hasMailServer: boolean;
  /** Shortest time between two messages to the same people. */
  readonly mailEveryMs: number;
}

export interface DashboardSettings {
  /** A session is over so long after the sign-in. */
  readonly sessionSeconds: number;
  /** A session is over when it was not used for so long. */
  readonly idleSeconds: number;
  /** Sessions of one user or bot; a further one ends the one that was not used longest. */
  readonly sessionsPerPrincipal: number;
}

/** How people sign in to the dashboard with an identity provider. */
export interface OperatorSignIn {
  readonly provider: SignInProvider;
  readonly fetch: Fetch;
  readonly signatures: Signatures;
  /** Where the provider leads back to. */
  readonly callbackUrl: string;
  /** The name by which people know it. */
  readonly label: string;
  readonly rules: readonly SignInRule[];
  /** The login behind a session is checked so often. */
  readonly checkSeconds: number;
  /** Tells whoever runs the server. */
  readonly warn: (fields: object, message: string) => void;
}

/** Whoever is in the group, or has a verified address of the domain, is a user of the account with this role. */
export interface SignInRule {
  readonly kind: 'group' | 'domain';
  readonly name: string;
  readonly role: Role;
  /** Id or name; undefined: the only account. */
  readonly account: string | undefined;
}

export interface ResourceContext {
  readonly store: Store;
  readonly settings: ResourceSettings;
  /** For secrets that are kept to be used, such as private keys. */
  readonly sealer: Sealer;
  readonly services: Services;
  readonly referables: Referables;
}

/** One REST resource: a folder, and a line in `index.ts`. Other resources see its `service.ts` and `errors.ts` alone. */
export interface Resource {
  readonly migrations: readonly Migration[];
  /** Every schema of it that has an `$id`. */
  readonly schemas: readonly TSchema[];
  /** Errors that only this resource answers. */
  readonly errors?: readonly ErrorDefinition[];
  operations(context: ResourceContext): readonly Operation[];
  compilers?(context: ResourceContext): readonly Compiler[];
  /** Documents of the resource, where others name them by id. */
  readonly referables?: readonly Referable[];
  /** Provides its services. */
  provide?(context: ResourceContext): void;
  readonly hostCommands?: readonly HostCommand[];
}
