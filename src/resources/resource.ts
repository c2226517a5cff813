import type { TSchema } from 'typebox';

import type { Operation } from '../api/operation.ts';
import type { ErrorDefinition } from '../errors/user-error.ts';
import type { Sealer } from '../lib/sealed-secret.ts';
import type { Compiler } from '../publisher/compiler.ts';
import type { Migration } from '../store/migrate.ts';
import type { Store } from '../store/store.ts';
import type { HostCommand } from './host-command.ts';
import type { Referable, Referables } from './references.ts';
import type { Services } from './services.ts';

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
  /** Its documents, where others name them by id. */
  readonly referables?: readonly Referable[];
  /** Provides its services. */
  provide?(context: ResourceContext): void;
  readonly hostCommands?: readonly HostCommand[];
}
