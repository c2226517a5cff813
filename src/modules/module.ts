import type { Transform } from 'node:stream';

import { Type } from 'typebox';
import type { Static, TSchema } from 'typebox';

import type { ErrorDefinition, UserError } from '../errors/user-error.ts';
import type { IpAddress } from '../lib/ip/address.ts';
import type { SignIn, TokenRule, TrustedNetwork } from './sign-in.ts';

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
  /** The field that stands for it in a configuration, which names them by name. */
  readonly nameField: string;
  /** True: an entry of a configuration may leave it out. */
  readonly isOptional?: true;
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

/** Where a visitor is sent instead. */
export interface Redirection {
  readonly status: number;
  /** Visible ASCII. */
  readonly location: string;
}

/** A request before its body is read. */
export interface RequestHead {
  readonly method: string;
  /** Its URL as visitors write it: with and without the port that goes without saying. */
  readonly urls: readonly string[];
  /** As the client sent them. */
  readonly headers: HeaderList;
}

export interface WholeRequest extends RequestHead {
  readonly body: Buffer;
}

/** An answer that a module gives in place of the upstream. */
export interface ModuleAnswer {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: string;
}

/** Checks requests by their bodies, which are held until they are whole. */
export interface BodyCheck {
  /** Longer bodies are refused. */
  readonly maxBytes: number;
  /** Asked before the body is read, so that nothing is held for whoever sends nothing to check. */
  refusesHead(request: RequestHead): UserError | undefined;
  /** Undefined: the request passes. */
  check(request: WholeRequest): UserError | ModuleAnswer | undefined;
}

/** Counts requests or connections, and refuses those beyond its limit. */
export interface RateLimit {
  /** `edge`: all routes of an HTTPS edge count together. */
  readonly scope: 'own' | 'edge';
  readonly limit: number;
  readonly windowMs: number;
  readonly by: 'source' | 'header' | 'certificate';
  /** In lower case; empty unless it is counted by. */
  readonly header: string;
  /** False: nobody is refused. */
  readonly enforced: boolean;
}

/** The steps by which a switched-on module takes part in traffic. A module fills in those it needs. */
export interface ModuleAction {
  /** Checks the source address; false refuses the request or connection. */
  readonly admits?: (source: IpAddress, rules: AccessRules) => boolean;
  /** PEM of authorities: the TLS client must show a certificate by one of them. */
  readonly clientCa?: string;
  /** True: clients must speak TLS 1.3. */
  readonly needsTls13?: true;
  /** Checks the headers of a request, as the client sent them. Returns the error to answer with, if it is refused. */
  readonly refuses?: (headers: HeaderList) => UserError | undefined;
  /** True: `refuses` checks a password, which somebody may try to guess. */
  readonly asksPassword?: true;
  /** A token that requests need. */
  readonly tokenRule?: TokenRule;
  /** A login that visitors need. */
  readonly signIn?: SignIn;
  readonly rateLimit?: RateLimit;
  readonly bodyCheck?: BodyCheck;
  readonly breaker?: CircuitBreaker;
  /** True: only WebSockets are served, and the backend gets the bytes of their messages without any HTTP. */
  readonly convertsWebsocket?: true;
  /** Sends visitors elsewhere, by the target of the request, which has been checked. */
  readonly redirects?: (target: string) => Redirection;
  readonly backendId?: string;
  /** Changes the target that the upstream gets. */
  readonly rewriteTarget?: (target: string) => string;
  readonly rewriteRequest?: (headers: HeaderList) => HeaderList;
  /** Names that `rewriteRequest` removes, in lower case: the gateway also removes their other spellings, and trailers. */
  readonly removedFromRequest?: readonly string[];
  readonly rewriteResponse?: (headers: HeaderList) => HeaderList;
  /** Names that `rewriteResponse` removes, in lower case: they are also removed from interim responses and trailers. */
  readonly removedFromResponse?: readonly string[];
  /** Answers to HEAD come here too: their headers are those of GET. Undefined: the response passes unchanged. */
  readonly encodeResponse?: (request: RequestFacts, response: ResponseFacts) => EncodedResponse | undefined;
}

/** The steps of all modules of one edge or route, each joined into one. TCP edges use `admits`, `rateLimits` and `backendId` only, TLS edges also those about TLS. */
export interface Pipeline {
  /** True if every module admits the source. */
  admits(source: IpAddress, rules: AccessRules): boolean;
  readonly backendId: string | undefined;
  readonly clientCa: string | undefined;
  readonly needsTls13: boolean;
  readonly refuses: ModuleAction['refuses'] | undefined;
  readonly asksPassword: boolean;
  readonly tokenRule: TokenRule | undefined;
  /** Visitors need each of them. */
  readonly signIns: readonly SignIn[];
  /** Undefined: nothing is counted. */
  readonly rateLimits: readonly RateLimit[] | undefined;
  readonly bodyCheck: BodyCheck | undefined;
  readonly breaker: CircuitBreaker | undefined;
  readonly convertsWebsocket: boolean;
  readonly redirects: ModuleAction['redirects'] | undefined;
  readonly rewriteTarget: ModuleAction['rewriteTarget'] | undefined;
  /** Undefined, like the other functions below, if no module takes part: the usual case must cost nothing. */
  readonly rewriteRequest: ModuleAction['rewriteRequest'] | undefined;
  readonly removedFromRequest: readonly string[];
  readonly rewriteResponse: ModuleAction['rewriteResponse'] | undefined;
  readonly removedFromResponse: readonly string[];
  /** The first module that answers something encodes the response, alone. */
  readonly encodeResponse: ModuleAction['encodeResponse'] | undefined;
}

/** How a module keeps its secrets from being shown. */
export interface ModuleSecrets<Input, Stored> {
  /** Settings without them; in this form, as an input, they ask for what is stored. */
  conceal(settings: Stored): Settings;
  /** The same of an input, with a word where it gives one. */
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
  /** Checks what depends on the thing that has the module. Throws `UserError`. */
  checkTarget?(settings: Stored, target: ModuleTarget): void;
  /** Whether the input asks for what is stored. Needed where `accept` draws at random; else what it returns is compared. */
  isSame?(input: Input, stored: Stored): boolean;
  /** Set where settings hold secrets: nothing that people read may show them. Needs `isSame`. */
  readonly secrets?: ModuleSecrets<Input, Stored>;
  /** The thing that it decides about access by, in words, where that is not the address. */
  readonly alsoChecks?: string;
  /** A network from which that is not checked, or without which it is not asked for. */
  trustedNetwork?(settings: Stored): TrustedNetwork | undefined;
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
