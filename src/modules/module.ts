import { Type } from 'typebox';
import type { Static, TProperties, TSchema } from 'typebox';

import type { ErrorDefinition, UserError } from '../errors/user-error.ts';
import type { ModulePart } from './step.ts';

/** Kinds of things that have modules. Those of `agent_endpoint` alone are asked for by agents, and not through the API. */
export type ModuleTarget = 'tcp_edge' | 'tls_edge' | 'https_edge' | 'https_route' | 'agent_endpoint';

export const Ref = Type.Object(
  {
    id: Type.String({ description: 'Resource identifier.' }),
    uri: Type.String({ description: 'URI for locating the resource.' }),
  },
  { $id: 'Ref', description: 'A reference to another resource.' },
);
export type Ref = Static<typeof Ref>;

/** Kinds of resources that modules name by id. Resources of several prefixes may be of one kind. */
export type ReferenceKind = 'ip_policy' | 'backend' | 'certificate_authority';

/** Ids of other resources in a module's settings: they must exist, and stay while they are named. */
export interface ModuleReference<Stored> {
  readonly kind: ReferenceKind;
  /** The field that a caller writes them in. */
  readonly field: string;
  /** The field that stands for it in a configuration, which names them by name. Undefined: the ids stand inside a text. */
  readonly nameField?: string;
  /** True: an entry of a configuration may leave it out. */
  readonly isOptional?: true;
  ids(settings: Stored): readonly string[];
  /** The answer to an id of another kind. */
  readonly wrongKind: (id: string) => UserError;
  /** The answer to an id that names nothing in the account. */
  readonly missing: (id: string) => UserError;
}

/** References that have a field of their own. */
export function fieldReferences<Stored>({
  references = [],
}: {
  readonly references?: readonly ModuleReference<Stored>[] | undefined;
}): readonly (ModuleReference<Stored> & { readonly nameField: string })[] {
  return references.filter(
    (each): each is typeof each & { readonly nameField: string } => each.nameField !== undefined,
  );
}

/** A secret of a vault, as settings name it. */
export interface NamedSecret {
  readonly vault: string;
  readonly name: string;
}

/** Every module can be switched off and stays stored. */
export interface Settings {
  readonly enabled: boolean;
}

/** How a module keeps its secrets from being shown. */
export interface ModuleSecrets<Input, Stored> {
  /** Settings without them; in this form, as an input, they ask for what is stored. */
  conceal(settings: Stored): Settings;
  /** An input without them, with a word where it gives one. */
  concealInput(input: Input): object;
  /** Puts those that are stored where the input has left them out. Throws `UserError` where there are none. */
  keep(settings: Stored, previous: Stored | undefined): Stored;
  /** Encrypts those that are kept to be used, for the database; leaves those that are. */
  seal?(settings: Stored, seal: (plain: string, context: string) => string): Stored;
  /** The reverse, for the gateway. Throws where one cannot be opened. */
  open?(settings: Stored, open: (sealed: string, context: string) => string): Stored;
}

/**
 * One module of an edge or a route. `Input` is what a request carries once its schema has passed, `Stored` what the
 * database and the snapshot hold.
 */
export interface EdgeModule<Input = never, Stored extends Settings = Settings> {
  /** The module's key inside an edge or route, and the last segment of its own path. */
  readonly name: string;
  /** As it stands in the names of operations: "Replace TCP Edge IP Restriction Module". */
  readonly title: string;
  readonly targets: readonly ModuleTarget[];
  readonly input: TSchema;
  readonly view: TSchema;
  /** Errors that its settings can meet, whether they come alone or inside an edge or route. */
  readonly errors: readonly ErrorDefinition[];
  readonly references?: readonly ModuleReference<Stored>[];
  /** Secrets in vaults that settings name: they must exist when they are first named. */
  secretsIn?(this: void, settings: Stored, target: ModuleTarget): readonly NamedSecret[];
  /**
   * Set where the other functions take long: makes settings, or an input, ready in slices. While what it returns is kept, they find it.
   * Throws nothing for settings that they refuse.
   */
  prepare?(this: void, settings: Stored, target: ModuleTarget): Promise<object>;
  /** Estimate of the memory that it takes once it is built, in KiB, where its settings make it large. */
  memoryKib?(this: void, settings: Stored, target: ModuleTarget): number;
  /** Checks the rules that the schema cannot express. Throws `UserError`. */
  accept(input: Input): Stored;
  /** Checks what depends on the thing that has the module. Throws `UserError`. */
  checkTarget?(settings: Stored, target: ModuleTarget): void;
  /** Checks what the operator's settings allow. Called when it is written, and not for what is stored already. Throws `UserError`. */
  checkWritten?(this: void, settings: Stored, target: ModuleTarget): void;
  /** Whether the input asks for what is stored. Needed where `accept` draws at random; else what it returns is compared. */
  isSame?(input: Input, stored: Stored): boolean;
  /** Set where settings hold secrets: nothing that people read may show them. Needs `isSame`. */
  readonly secrets?: ModuleSecrets<Input, Stored>;
  /** The module beside which it cannot be switched on, and the error that says so. */
  readonly excludes?: { readonly name: string; readonly error: () => UserError };
  /** Set where another module does its work in traffic: the name of that, and its settings. */
  runAs?(this: void, settings: Stored, target: ModuleTarget): { readonly name: string; readonly settings: Settings };
  present(settings: Stored, ref: (kind: ReferenceKind, id: string) => Ref): unknown;
  /** Things that whoever sets it may expect and that do not happen; ASCII text for a header. */
  warnings?(settings: Stored): readonly string[];
  build(settings: Stored): ModulePart;
}

const enabledInput = Type.Optional(
  Type.Boolean({
    description: 'true: the module is applied to traffic. false: disabled. Default true if unspecified.',
    default: true,
  }),
);
const enabledView = Type.Boolean({
  description: 'true: the module is applied to traffic. false: disabled.',
});

/** The schema of a module's input. `name` is its title without blanks. */
export function moduleInput<Fields extends TProperties>(name: string, fields: Fields, description?: string) {
  return Type.Object({ enabled: enabledInput, ...fields }, schemaOptions(`${name}ModuleReplace`, description));
}

/** The schema of a module as it is shown. */
export function moduleView<Fields extends TProperties>(name: string, fields: Fields, description?: string) {
  return Type.Object({ enabled: enabledView, ...fields }, schemaOptions(`${name}Module`, description));
}

function schemaOptions($id: string, description: string | undefined) {
  return { $id, additionalProperties: false, ...(description !== undefined && { description }) };
}
