import type { Transform } from 'node:stream';

import { Type } from 'typebox';
import type { Static, TSchema } from 'typebox';

import type { ErrorDefinition, UserError } from '../errors/user-error.ts';
import type { IpAddress } from '../lib/ip/address.ts';

/** Kinds of things that have modules. Those of `agent_endpoint` alone are asked for by agents, and not through the API. */
export type ModuleTarget = 'tcp_edge' | 'https_route' | 'agent_endpoint';

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
  /** The field that stands for it in a configuration, which names them by name. */
  readonly nameField: string;
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

/** Name, value, name, value, … in the order of the wire. Each character is one byte (Latin-1). */
export type HeaderList = readonly string[];

/** The rules in force, as the gateway holds them. */
export interface AccessRules {
  allows(policyIds: readonly string[], source: IpAddress): boolean;
}

export interface RequestFacts {
  readonly method: string;
  /** As the client sent them. */
  readonly headers: HeaderList;
  /** Must be asked before a response is encoded. False: too many are being encoded now, and this one must pass unchanged. */
  readonly mayEncode: () => boolean;
}

export interface ResponseFacts {
  readonly status: number;
  /** After every `rewriteResponse`; headers that frame the body or belong to the connection are not among them. */
  readonly headers: HeaderList;
  /** In bytes; undefined if it is unknown until the body ends. */
  readonly contentLength: number | undefined;
}

/** A response as a module wants it to be sent. */
export interface EncodedResponse {
  /** All headers of the response, in place of those in `ResponseFacts`. */
  readonly headers: HeaderList;
  /**
   * Opens a stream that takes the body as it comes and gives it out changed; the length is then unknown until it ends.
   * It must flush after each write without waiting for the next one, or it holds back streams of events. The gateway
   * calls it once, only if there is a body, and destroys the stream when the response is given up. Undefined: the body
   * passes unchanged.
   */
  readonly openTransform?: () => Transform;
}

/** Keeps requests from an upstream that fails. */
export interface CircuitBreaker {
  /** Asked right before the upstream is. Returns the error to answer with instead. */
  refusal(): UserError | undefined;
  /** Told of each answer, also of those that the gateway gives because the upstream gave none. */
  answered(status: number): void;
}

/** The steps by which a switched-on module takes part in traffic. A module fills in those it needs. */
export interface ModuleAction {
  /** Checks the source address; false refuses the request or connection. */
  readonly admits?: (source: IpAddress, rules: AccessRules) => boolean;
  /** PEM of authorities: the TLS client must show a certificate by one of them. */
  readonly clientCa?: string;
  /** Checks the headers of a request, as the client sent them. Returns the error to answer with, if it is refused. */
  readonly refuses?: (headers: HeaderList) => UserError | undefined;
  /** True: `refuses` checks a password, which somebody may try to guess. */
  readonly asksPassword?: true;
  readonly breaker?: CircuitBreaker;
  /** True: only WebSockets are served, and the backend gets the bytes of their messages without any HTTP. */
  readonly convertsWebsocket?: true;
  readonly backendId?: string;
  readonly rewriteRequest?: (headers: HeaderList) => HeaderList;
  /** Names that `rewriteRequest` removes, in lower case: the gateway also removes their other spellings, and trailers. */
  readonly removedFromRequest?: readonly string[];
  readonly rewriteResponse?: (headers: HeaderList) => HeaderList;
  /** Names that `rewriteResponse` removes, in lower case: they are also removed from interim responses and trailers. */
  readonly removedFromResponse?: readonly string[];
  /** Answers to HEAD come here too: their headers are those of GET. Undefined: the response passes unchanged. */
  readonly encodeResponse?: (request: RequestFacts, response: ResponseFacts) => EncodedResponse | undefined;
}

/** The steps of all modules of one edge or route, each joined into one. TCP edges use `admits` and `backendId` only. */
export interface Pipeline {
  /** True if every module admits the source. */
  admits(source: IpAddress, rules: AccessRules): boolean;
  readonly backendId: string | undefined;
  readonly clientCa: string | undefined;
  readonly refuses: ModuleAction['refuses'] | undefined;
  readonly asksPassword: boolean;
  readonly breaker: CircuitBreaker | undefined;
  readonly convertsWebsocket: boolean;
  /** Undefined, like the other functions below, if no module takes part: the usual case must cost nothing. */
  readonly rewriteRequest: ModuleAction['rewriteRequest'] | undefined;
  readonly removedFromRequest: readonly string[];
  readonly rewriteResponse: ModuleAction['rewriteResponse'] | undefined;
  readonly removedFromResponse: readonly string[];
  /** The first module that answers something encodes the response, alone. */
  readonly encodeResponse: ModuleAction['encodeResponse'] | undefined;
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
  /** Whether the input asks for what is stored. Needed where `accept` draws at random; else what it returns is compared. */
  isSame?(input: Input, stored: Stored): boolean;
  present(settings: Stored, ref: (kind: ReferenceKind, id: string) => Ref): unknown;
  /** Things that whoever sets it may expect and that do not happen; ASCII text for a header. */
  warnings?(settings: Stored): readonly string[];
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
