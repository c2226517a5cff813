import { Type } from 'typebox';
import type { Static, TSchema } from 'typebox';

import type { ErrorDefinition, UserError } from '../errors/user-error.ts';
import type { IpAddress } from '../lib/ip/address.ts';

/** What a module can be set on. */
export type ModuleTarget = 'tcp_edge' | 'https_route';

export const Ref = Type.Object(
  {
    id: Type.String({ description: 'Resource identifier.' }),
    uri: Type.String({ description: 'URI for locating the resource.' }),
  },
  { $id: 'Ref', description: 'A reference to another resource.' },
);
export type Ref = Static<typeof Ref>;

/** Kinds of resources that modules name by id. Resources of several prefixes may be of one kind. */
export type ReferenceKind = 'ip_policy' | 'backend';

/** Ids of other resources in a module's settings: they must exist, and stay while they are named. */
export interface ModuleReference<Stored> {
  readonly kind: ReferenceKind;
  /** The field that a caller writes them in. */
  readonly field: string;
  ids(settings: Stored): readonly string[];
  /** The answer to an id of another kind. */
  readonly wrongKind: (id: string) => UserError;
  /** The answer to an id that names nothing in the account. */
  readonly missing: (id: string) => UserError;
}

/** Every module can be switched off and stays stored. */
export interface Settings {
  readonly enabled: boolean;
}

/** Name, value, name, value, … in the order of the wire. */
export type HeaderList = readonly string[];

/** The rules in force, as the gateway holds them. */
export interface AccessRules {
  allows(policyIds: readonly string[], source: IpAddress): boolean;
}

/** What a switched-on module does to traffic. Each module fills in the steps it takes part in. */
export interface ModuleAction {
  readonly admits?: (source: IpAddress, rules: AccessRules) => boolean;
  readonly backendId?: string;
  readonly rewriteRequest?: (headers: HeaderList) => HeaderList;
  readonly rewriteResponse?: (headers: HeaderList) => HeaderList;
}

/**
 * One module of an edge or a route. `Input` is what a request carries once its schema has passed, `Stored` what the
 * database and the snapshot hold.
 */
export interface EdgeModule<Input = never, Stored extends Settings = Settings> {
  /** Its key inside an edge or route, and the last segment of its own path. */
  readonly name: string;
  /** As it stands in the names of operations: "Replace TCP Edge IP Restriction Module". */
  readonly title: string;
  readonly targets: readonly ModuleTarget[];
  readonly input: TSchema;
  readonly view: TSchema;
  /** Errors that its settings can meet, whether they come alone or inside an edge or route. */
  readonly errors: readonly ErrorDefinition[];
  readonly references?: readonly ModuleReference<Stored>[];
  /** Checks the rules that the schema cannot express. Throws `UserError`. */
  accept(input: Input): Stored;
  present(settings: Stored, ref: (kind: ReferenceKind, id: string) => Ref): unknown;
  build(settings: Stored): ModuleAction;
}

export const enabledInput = Type.Optional(
  Type.Boolean({
    description: 'true: the module is applied to traffic. false: disabled. Default true if unspecified.',
    default: true,
  }),
);
export const enabledView = Type.Boolean({
  description: 'true: the module is applied to traffic. false: disabled.',
});
