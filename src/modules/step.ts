import type { X509Certificate } from 'node:crypto';
import type { Duplex } from 'node:stream';

import type { UserError } from '../errors/user-error.ts';
import type { Budget } from '../lib/cel/run.ts';
import type { IpAddress } from '../lib/ip/address.ts';
import type { SourceKey } from '../lib/ip/source-key.ts';
import type { SignIn, TokenRule } from './sign-in.ts';
import type { ShownCertificate } from './shown-certificate.ts';

/** Name, value, name, value, … in the order of the wire. Each character is one byte (Latin-1). */
export type HeaderList = readonly string[];

/** The rules in force, as the gateway holds them. */
export interface AccessRules {
  allows(policyIds: readonly string[], source: IpAddress): boolean;
  /** True where a rule of these policies denies the address, or one of them is not there. */
  denies(policyIds: readonly string[], source: IpAddress): boolean;
  /** True where a policy among these cannot be loaded, which then refuses everybody. */
  isUnloadable(policyIds: readonly string[]): boolean;
}

/** Counts requests or connections, and refuses those beyond its limit. */
export interface RateLimit {
  /** `edge`: all routes of an HTTPS edge count together. */
  readonly scope: 'own' | 'edge';
  readonly limit: number;
  readonly windowMs: number;
  /** `key`: by a text that the step has made. */
  readonly by: 'source' | 'header' | 'certificate' | 'key';
  readonly key?: string;
  /** Told where a limit that is not enforced lets somebody in who exceeds it. */
  readonly exceeded?: () => void;
  /** In lower case; empty unless it is counted by; with a key, what tells the rule from others. */
  readonly header: string;
  /** False: nobody is refused. */
  readonly enforced: boolean;
}

/** One request to an upstream with a circuit breaker. */
export interface CircuitAttempt {
  /** Told of the answer, also of one that the gateway gives because the upstream gave none. */
  answered(status: number): void;
}

/** An answer in place of the upstream's. */
export interface OwnAnswer {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: string;
  /** Set where the sign-in answers: a login begins, has come back from the provider, or neither. */
  readonly login?: 'begun' | 'back' | 'none';
  /** The visitor whom the sign-in has let in or refused: the e-mail address, or the subject. */
  readonly person?: string;
  /** The module whose login refuses the visitor, where no step of it has spoken. */
  readonly module?: string | undefined;
  /** Why it lets nobody in, for operators. */
  readonly refusal?: UserError;
}

/** A step's word other than to go on. An error refuses. A step that waits is asked once more when that is over. */
export type Outcome =
  | UserError
  /** `isChanged`: the steps for answers change it as they do that of an upstream. */
  | { readonly kind: 'answer'; readonly answer: OwnAnswer; readonly isChanged: boolean }
  /** The body must be whole first; longer ones are refused. */
  | { readonly kind: 'hold'; readonly maxBytes: number }
  /** Something must be asked first; an answer that comes of it is the answer to the request. */
  | Wait
  | Close
  | Forward;

export interface Wait {
  readonly kind: 'wait';
  readonly start: () => Promise<OwnAnswer | undefined>;
  /** Set where the step itself bounds how often a request waits for it. */
  readonly isBounded?: true;
}

/** The connection ends without an answer; of HTTP/2, the stream. */
export interface Close {
  readonly kind: 'close';
  /** Why, for operators. */
  readonly refusal: UserError;
}

/**
 * The visit goes to the internal endpoint of its account with this URL, in place of the backend, once all steps behind this one
 * have let it pass. With `onError` a failure is told, and the step is run again.
 */
export interface Forward {
  readonly kind: 'forward';
  readonly url: string;
  readonly onError?: ((code: number, message: string) => void) | undefined;
}

/** A word of a step for answers: an error or another answer in place of the one that came. */
export type AnswerOutcome = UserError | Extract<Outcome, { readonly kind: 'answer' }> | Wait | Close;

/** Facts of TLS that has ended here. */
export interface TlsFacts {
  /** As in `1.3`. */
  readonly version: string;
  /** In the spelling of IANA. */
  readonly cipherSuite: string;
  readonly sni: string;
  /** Empty where none was agreed on. */
  readonly alpn: string;
  readonly isResumed: boolean;
  /** The certificate of the client was signed by an authority that was asked for. */
  readonly isClientVerified: boolean;
  /** The certificate that the client has shown, good or not. */
  readonly clientCertificate: () => X509Certificate | undefined;
}

export interface ConnectionFacts {
  /** 0 where it is not known. */
  readonly clientPort: number;
  readonly serverAddress: string;
  readonly serverPort: number;
  /** Name of the region of the gateway. */
  readonly serverRegion: string;
  /** Milliseconds since 1970. */
  readonly startedMs: number;
  /** So far. */
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly tls: TlsFacts | undefined;
}

/** The endpoint that is visited. */
export interface EndpointFacts {
  readonly id: string;
  readonly protocol: 'http' | 'https' | 'tls' | 'tcp';
  readonly host: string;
  readonly port: number;
}

/** How TLS ends for the names of an endpoint. */
export interface TlsTerms {
  /** The same for terms that are alike. */
  readonly key: string;
  readonly minVersion: '1.2' | '1.3';
  readonly maxVersion: '1.2' | '1.3';
  readonly asksForCertificate: boolean;
  /** Certificates as they are now. Throws where one is missing or cannot be used. */
  read(this: void, accountId: string, secrets: ConnectionServices['secrets']): TlsPems;
}

export interface TlsPems {
  /** PEM of authorities. */
  readonly clientCa: string | undefined;
  /** Certificate of the endpoint's own. */
  readonly pair: { readonly certificatePem: string; readonly privateKeyPem: string } | undefined;
}

/** A connection, as steps see it. */
export interface ConnectionVisit {
  readonly accountId: string;
  readonly edgeId: string;
  /** The thing that has the modules: a route, or the edge itself. */
  readonly ownerId: string;
  readonly source: IpAddress;
  /** The source that it counts for. */
  readonly countedSource: SourceKey;
  /** Name of the host; empty where none is named. */
  readonly hostname: string;
  /** False: an older version, or no TLS. */
  readonly isTls13: boolean;
  /** Undefined if the handshake did not ask for one. */
  readonly certificate: ShownCertificate | undefined;
  /** As the client sent them; empty where nothing was sent yet. */
  readonly headers: HeaderList;
  readonly services: ConnectionServices;
  readonly facts: () => ConnectionFacts;
  readonly endpoint: () => EndpointFacts;
  /** What expressions may still cost: the same for all endpoints that it is forwarded through, however often it is begun anew. */
  readonly budget: Budget;
  /** State of the traffic policy of this visit, which alone knows what it is. */
  policy: unknown;
  /** Tells that a module or an action would have refused the visit if it were enforced. */
  readonly warn: (this: ConnectionVisit, by: string) => undefined;
}

/** A request, as steps see it, and what they leave for those behind them and for the upstream. */
export interface RequestVisit extends ConnectionVisit {
  readonly services: StepServices;
  readonly httpVersion: '1.0' | '1.1' | '2';
  readonly method: string;
  /** Host, and port where it is not the usual one. */
  readonly host: string;
  /** Path and query as they came; they have been checked. */
  readonly target: string;
  /** The URL as visitors write it: with and without the port that goes without saying. */
  readonly urls: readonly string[];
  readonly isUpgrade: boolean;
  /** Undefined until it is whole. */
  readonly body: Buffer | undefined;
  /** Id of the request, for pages. */
  readonly operationId: () => string;
  /** Path and query for the upstream. */
  upstreamTarget: string;
  /** Headers for the upstream. */
  outgoing: HeaderList;
  /** Body for the upstream where a step has changed it. Setting it throws if there is no room for it. */
  outgoingBody: Buffer | undefined;
  /** Headers that tell the upstream who the visitor is; undefined where nobody signs in. */
  identity: HeaderList | undefined;
  /** The visitor who has signed in, for operators. */
  person?: string | undefined;
  /** Cookies that go with the answer. */
  cookies: readonly string[];
  /** Tokens that were found good: the key of the rule, and the end of the token in milliseconds since 1970. */
  tokens: readonly (readonly [key: string, untilMs: number])[];
  /** Told of the answer. */
  circuits: readonly CircuitAttempt[];
  /** Something that the thing with the modules keeps between its requests, under the `stateKey` of a step. */
  kept<State>(key: string, make: () => State): State;
}

/** Fact beside the address by which a step decides about access. */
export interface Question {
  /** In words, as in "it depends on the certificate of a visitor". */
  readonly by: string;
  /** Thing that a visitor needs, as in "a visitor needs a password". Undefined: nothing that could be shown. */
  readonly needs?: (nameOf: NameOf) => string;
  /** Why it refuses somebody, in words, where that is more than what they need. */
  readonly refusal?: string;
  /** True: it goes by the method of the request too, which may be unknown. */
  readonly byMethod?: true;
  /** True: it may decide otherwise the next time. */
  readonly byChance?: boolean;
}

/** Name of another resource, by its id. */
export type NameOf = (id: string) => string;

/** Work that steps leave to whoever runs them: the gateway, or an explanation, which has no effect outside of itself. */
export interface ConnectionServices {
  readonly access: AccessRules;
  readonly rates: { take(visit: ConnectionVisit, rule: RateLimit): UserError | undefined };
  /** Writes a line of the log about a visit. */
  readonly notes: { add(visit: ConnectionVisit, operationId: string | undefined, fields: object): void };
  /** Values of secrets in vaults of the account; undefined: there is none of the name. */
  readonly secrets: { get(accountId: string, vault: string, name: string): string | undefined };
}

/** Most requests that rules make for one visitor, at all endpoints together. */
export const mostOwnRequests = 20;

/** A request that a rule makes to an internal endpoint of the account. */
export interface OwnRequest {
  readonly method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE' | 'OPTIONS';
  readonly url: URL;
  /** Without those that frame the message. */
  readonly headers: HeaderList;
  readonly body: Buffer;
  readonly timeoutMs: number;
  /** Longer answers are refused. */
  readonly maxBytes: number;
}

export interface RequestAnswer {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Buffer;
}

export interface StepServices extends ConnectionServices {
  /** Rejects with a `UserError` where there is no answer. */
  readonly requests: { send(this: void, visit: RequestVisit, request: OwnRequest): Promise<RequestAnswer> };
  readonly passwords: {
    check(visit: ConnectionVisit, refuses: (headers: HeaderList) => UserError | undefined): UserError | undefined;
  };
  readonly tokens: {
    admit(visit: RequestVisit, rule: TokenRule): Outcome | undefined;
    /** Until when a token is good, in milliseconds since 1970, why it is not, or that it must be checked first. */
    judge(visit: RequestVisit, rule: TokenRule, token: string): number | UserError | Wait;
  };
  readonly logins: {
    /** `isOptional`: who has no login that lets in passes without one. */
    admit(visit: RequestVisit, signIn: SignIn, isOptional: boolean): Outcome | undefined;
    /** When the login ends that lets the visit in, in milliseconds since 1970; 0: there is none. */
    holds(visit: RequestVisit, signIn: SignIn): number;
    /** The token that the provider has signed at the login; undefined: there is none, or it is too long to be kept. */
    idToken(visit: RequestVisit, signIn: SignIn): string | undefined;
  };
}

/**
 * Stages of a visit. `connection`: its source is known. `handshake`: TLS has ended here, where it does. At HTTPS both run with
 * each request, whose host and path say by which rules. `request`: a request came. `admitted`: every check has let it in.
 * `forward`: it is about to go to the backend.
 */
export type ConnectionPhase = 'connection' | 'handshake';
export type RequestPhase = 'request' | 'admitted' | 'forward';

interface StepOf<Phase extends string, Visit> {
  readonly phase: Phase;
  /** Undefined: the visit goes on with the next step. */
  run(this: void, visit: Visit): Outcome | undefined;
  /**
   * Until when a connection that came of such a visit may stay open, in milliseconds since 1970. `Infinity`: until rules
   * change, when it is asked again; 0: it ends now.
   */
  holds(this: void, visit: Visit): number;
  /** Headers that it goes by, in lower case: the upstream must see them. */
  readonly reads: readonly string[] | 'all';
  /** Name of an effect outside of the visit, which happens once, however often the visit is begun anew. */
  readonly once?: string;
  readonly asks?: Question;
  /** PEM of authorities: clients are asked for a certificate by one of them. */
  readonly clientCa?: string;
  /** True: clients must speak TLS 1.3. */
  readonly needsTls13?: true;
  /** Set where it says how TLS ends, in place of the two above. */
  readonly terminatesTls?: TlsTerms;
  readonly signIn?: SignIn | readonly SignIn[];
  /** Headers beside which none may stand whose name differs in punctuation alone; in lower case. */
  readonly soleHeader?: string | readonly string[];
  /** A header, in lower case, that no visit passes without a token that was checked: it goes upstream whatever its name. */
  readonly checkedHeader?: string;
  /** Names of headers that it adds to and removes from requests, in lower case. */
  readonly changes?: { readonly adds: readonly string[]; readonly removes: readonly string[] };
  /** True: it goes by secrets in vaults, and what is open is asked again when one changes. */
  readonly readsVaults?: boolean;
  /** The key of what it keeps between requests, the same as long as its settings are. */
  readonly stateKey?: string | readonly string[];
}

export type ConnectionStep = StepOf<ConnectionPhase, ConnectionVisit>;
export type RequestStep = StepOf<RequestPhase, RequestVisit>;
export type Step = ConnectionStep | RequestStep;

/** An answer on its way to the client. */
export interface Answering {
  /** As it came to the endpoint whose step is run. */
  request: { readonly method: string; readonly headers: HeaderList };
  /** Visit at the endpoint whose step is run. */
  visit: RequestVisit;
  readonly status: number;
  /** Headers that frame the body or belong to the connection are not among them. */
  headers: HeaderList;
  /** In bytes; undefined if it is unknown until the body ends. */
  contentLength: number | undefined;
  /**
   * Opens a stream that takes the body as it comes and gives it out changed. It must flush after each write without waiting for
   * the next one, or it holds back streams of events. Called once, only if there is a body; the stream is destroyed when the
   * response is given up. Undefined: the body passes unchanged.
   */
  openTransform: (() => Duplex) | undefined;
  /** Must be asked before the body is encoded, which then must happen. False: it passes as it is. */
  readonly mayEncode: () => boolean;
  /** Counts bytes of the body that are kept until the answer has ended. Throws `UserError` if there is no room for them. */
  readonly hold: (bytes: number) => void;
  /** False: the answer is no upstream's to a request, and its body stays as it is. */
  readonly isEncodable: boolean;
}

/** Changes answers. Answers to HEAD come here too: their headers are those of GET. */
export interface AnswerStep {
  /** Set where it decides about access, and no step before the answer says so. */
  readonly asks?: Question | undefined;
  /** Undefined: the answer goes on. A step that waits is run again. */
  run(this: void, answer: Answering): AnswerOutcome | undefined;
  /** Names of headers that it removes, in lower case: they are also removed from interim responses and trailers. */
  readonly removes: readonly string[];
}

/** The part that a switched-on module takes in traffic. */
export interface ModulePart {
  readonly steps?: readonly Step[];
  readonly answers?: readonly AnswerStep[];
  readonly backendId?: string;
  /** True: only WebSockets are served, and the backend gets the bytes of their messages without any HTTP. */
  readonly convertsWebsocket?: true;
}

const noHeaders: readonly string[] = [];

/** For steps that say nothing of what is open. */
export const always = (): number => Infinity;

/** A step that refuses a connection, and ends one that it would refuse. */
export function connectionCheck(
  phase: ConnectionPhase,
  run: (visit: ConnectionVisit) => UserError | undefined,
  facts: Partial<ConnectionStep> = {},
): ConnectionStep {
  return { phase, reads: noHeaders, run, holds: (visit) => (run(visit) === undefined ? Infinity : 0), ...facts };
}

/** A step that does something to requests, and says nothing of what is open. */
export function requestEffect(
  phase: RequestPhase,
  run: (visit: RequestVisit) => Outcome | undefined,
  facts: Partial<RequestStep> = {},
): RequestStep {
  return { phase, reads: noHeaders, run, holds: always, ...facts };
}
