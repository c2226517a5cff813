import type { FieldReader } from './fields.ts';
import { isObject } from './json-value.ts';
import * as read from './option-readers.ts';

export type EndpointProto = 'http' | 'https' | 'tcp' | 'tls';

/** Changes that an agent asks for to the traffic of its endpoint. Everything that is absent was not asked for. */
export interface EndpointOptions {
  /** Version of the PROXY protocol that the agent expects at the start of each connection; 0 for none. */
  readonly proxyProto: 0 | 1 | 2;
  readonly ipRestriction?: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  readonly requestHeaders?: HeaderOptions;
  readonly responseHeaders?: HeaderOptions;
  readonly basicAuth?: readonly BasicCredential[];
  readonly compression?: true;
  /** Share of failing responses, from 0 to 1, above which requests are refused. */
  readonly circuitBreaker?: number;
  readonly websocketTcpConverter?: true;
  /** PEM of the authorities that visitors' certificates must come from. */
  readonly mutualTlsCa?: string;
  readonly userAgentFilter?: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  /** A traffic policy as it came: a text, or the object of older agents. */
  readonly trafficPolicy?: string;
  readonly formerPolicy?: Readonly<Record<string, unknown>>;
  /** TLS ends here: with this pair, or with a certificate of the server if it is undefined. */
  readonly tlsTermination?: { readonly pair: { readonly cert: string; readonly key: string } | undefined };
}

export interface HeaderOptions {
  readonly add: readonly (readonly [name: string, value: string])[];
  readonly remove: readonly string[];
}

export interface BasicCredential {
  readonly username: string;
  /** Plain, or as a hash (bcrypt) that the agent made. */
  readonly password: { readonly plain: string } | { readonly hash: string };
}

type Read = (outer: FieldReader, name: string) => Partial<EndpointOptions>;

interface WireOption {
  readonly protos: readonly EndpointProto[];
  readonly read: Read | 'refused' | 'names';
  /** Fields of the option, in lower case; others are refused by their name too. */
  readonly inner?: readonly string[];
}

/** Bytes of a traffic policy; what it may hold is checked behind this. */
export const maxPolicy = 262_144;

const http = ['http', 'https'] as const;
const named = ['http', 'https', 'tls'] as const;
const all = ['http', 'https', 'tcp', 'tls'] as const;

/**
 * Every option of the wire and what becomes of it. `names` say what is asked for and by whom it is answered: they change
 * no traffic. An option that is `refused`, or is not in this table at all, is refused at bind by its name: an agent that
 * asked for a guard must never get an open door instead.
 */
const optionTable: Readonly<Record<string, WireOption>> = {
  URL: { protos: all, read: 'names' },
  Domain: { protos: named, read: 'names' },
  Hostname: { protos: named, read: 'names' },
  Subdomain: { protos: named, read: 'names' },
  Addr: { protos: ['tcp'], read: 'names' },
  // Values of these concern the agent's own side only.
  LocalURLScheme: { protos: http, read: 'names' },
  HostHeaderRewrite: { protos: http, read: 'names' },
  MutualTLSAtAgent: { protos: ['tls'], read: 'names' },
  ProxyProto: { protos: all, read: read.readProxyProto },
  IPRestriction: { protos: all, read: read.readIpRestriction, inner: ['allow_cidrs', 'deny_cidrs'] },
  RequestHeaders: {
    protos: http,
    read: (outer, name) => ({ requestHeaders: read.readHeaders(outer, name) }),
    inner: ['add', 'remove'],
  },
  ResponseHeaders: {
    protos: http,
    read: (outer, name) => ({ responseHeaders: read.readHeaders(outer, name) }),
    inner: ['add', 'remove'],
  },
  Auth: { protos: http, read: read.readLegacyAuth },
  BasicAuth: { protos: http, read: read.readBasicAuth, inner: ['credentials'] },
  Compression: { protos: http, read: () => ({ compression: true }), inner: [] },
  CircuitBreaker: {
    protos: http,
    read: (outer, name) => ({ circuitBreaker: outer.inner(name).number('error_threshold', 0, 1) }),
    inner: ['error_threshold'],
  },
  WebsocketTCPConverter: { protos: http, read: () => ({ websocketTcpConverter: true }), inner: [] },
  MutualTLSCA: { protos: http, read: read.readMutualTls, inner: ['mutual_tls_ca'] },
  MutualTLSAtEdge: { protos: ['tls'], read: read.readMutualTls, inner: ['mutual_tls_ca'] },
  UserAgentFilter: { protos: http, read: read.readUserAgentFilter, inner: ['allow', 'deny'] },
  TLSTermination: { protos: ['tls'], read: read.readTermination, inner: ['cert', 'key', 'sealed_key'] },
  OAuth: { protos: http, read: 'refused' },
  OIDC: { protos: http, read: 'refused' },
  WebhookVerification: { protos: http, read: 'refused' },
  Policy: { protos: all, read: read.readFormerPolicy },
  TrafficPolicy: { protos: all, read: (outer, name) => ({ trafficPolicy: outer.text(name, maxPolicy) }) },
};

const optionsByKey = new Map(
  Object.entries(optionTable).map(([name, option]) => [name.toLowerCase(), { name, ...option }]),
);
const nothing: ReadonlySet<string> = new Set();
/** Characters of a name that an answer repeats. */
const longestName = 64;

export type OptionsRead =
  | { readonly ok: true; readonly options: EndpointOptions }
  | { readonly ok: false; readonly refused: readonly string[] };

/** Reads the options of an endpoint. Throws a `MessageFault` for one that is malformed. */
export function readOptions(opts: FieldReader, proto: EndpointProto): OptionsRead {
  let options: EndpointOptions = { proxyProto: 0 };
  const refused: string[] = [];
  for (const sent of opts.namesBeside(nothing)) {
    if (!isAsked(opts.raw(sent))) continue;
    const option = optionsByKey.get(sent.toLowerCase());
    if (option === undefined || option.read === 'refused' || !option.protos.includes(proto)) {
      refused.push((option?.name ?? sent).slice(0, longestName));
    } else if (typeof option.read === 'function') {
      refused.push(...unknownInside(opts, option.name, option.inner));
      options = merge(options, option.read(opts, option.name));
    }
  }
  return refused.length === 0 ? { ok: true, options } : { ok: false, refused };
}

function unknownInside(opts: FieldReader, name: string, inner: readonly string[] | undefined): readonly string[] {
  if (inner === undefined) return [];
  const fields = opts.inner(name);
  const unknown = fields.namesBeside(new Set(inner)).filter((field) => {
    const value = fields.raw(field);
    return isAsked(value) && !(isObject(value) && Object.keys(value).length === 0);
  });
  return unknown.map((field) => `${name}.${field}`.slice(0, longestName));
}

/** Both forms of basic authentication may be used at once; nothing else has two. */
function merge(options: EndpointOptions, added: Partial<EndpointOptions>): EndpointOptions {
  const basicAuth = [...(options.basicAuth ?? []), ...(added.basicAuth ?? [])];
  return { ...options, ...added, ...(basicAuth.length === 0 ? {} : { basicAuth }) };
}

/** Agents send every option, those that were not asked for with an empty value. `{}` asks. */
export function isAsked(value: unknown): boolean {
  const isEmptyList = Array.isArray(value) && value.length === 0;
  return value !== null && value !== undefined && value !== '' && value !== false && value !== 0 && !isEmptyList;
}
