import type { BasicCredential, EndpointOptions, EndpointProto, HeaderOptions } from '../../agents/wire/options.ts';
import type { Sealer } from '../../lib/sealed-secret.ts';
import type { PairChecks } from '../tls-certificates/service.ts';
import type { TunnelClaim } from './table.ts';
import { optionsRefused } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import { modules } from '../../modules/index.ts';
import type { EdgeModule, Settings } from '../../modules/module.ts';
import type { ModuleSettings } from '../../snapshot/contract.ts';

/** Settings that carry the options of an endpoint out, as its claim stores them. */
export interface StoredOptions {
  /** Settings by module name, as an edge has them. */
  readonly modules: ModuleSettings;
  readonly proxy_proto: EndpointOptions['proxyProto'];
}

type Termination = TunnelClaim['tls_termination'];

/** The options of an endpoint that is to be opened; all of them are carried out. */
export interface AcceptedOptions extends StoredOptions {
  /** How TLS ends, as it is stored: the private key is sealed for the key of the claim. */
  sealTermination(sealer: Sealer, claimKey: string): NonNullable<Termination> | null;
  /** Names of the options, as agents send them, in which these differ from what is stored. */
  differing(stored: StoredOptions & Pick<TunnelClaim, 'tls_termination'>): readonly string[];
}

interface ByModule<Value> {
  /** The option's name, as agents send it. */
  readonly wire: string;
  /** The module that carries it out. */
  readonly module: string;
  readonly input: (value: Value) => object;
}

type ModuleOption = Exclude<keyof EndpointOptions, 'proxyProto' | 'tlsTermination' | 'trafficPolicy' | 'formerPolicy'>;

/** Every option that may be asked for, except the PROXY protocol, which is the backend's, how TLS ends, and the policy of one agent. */
const table: { readonly [Name in ModuleOption]-?: ByModule<NonNullable<EndpointOptions[Name]>> } = {
  requestHeaders: { wire: 'RequestHeaders', module: 'request_headers', input: headerChanges('RequestHeaders') },
  responseHeaders: { wire: 'ResponseHeaders', module: 'response_headers', input: headerChanges('ResponseHeaders') },
  compression: { wire: 'Compression', module: 'compression', input: () => ({}) },
  ipRestriction: { wire: 'IPRestriction', module: 'cidr_restriction', input: cidrs },
  basicAuth: { wire: 'BasicAuth', module: 'basic_auth', input: credentials },
  circuitBreaker: {
    wire: 'CircuitBreaker',
    module: 'circuit_breaker',
    input: (threshold) => ({ error_threshold_percentage: threshold }),
  },
  userAgentFilter: { wire: 'UserAgentFilter', module: 'user_agent_filter', input: patterns },
  websocketTcpConverter: { wire: 'WebsocketTCPConverter', module: 'websocket_tcp_converter', input: () => ({}) },
  mutualTlsCa: { wire: 'MutualTLSCA', module: 'mutual_tls', input: (pem) => ({ ca_pem: pem }) },
};

const wireNames: ReadonlyMap<string, string> = new Map(
  Object.values(table).map(({ wire, module: name }) => [name, wire]),
);

/** Options that each agent of an endpoint has for itself. */
const ofOneAgent: ReadonlySet<string> = new Set(['trafficPolicy', 'formerPolicy']);

interface Accepted {
  readonly module: EdgeModule;
  readonly input: never;
  readonly settings: Settings;
}

/** Throws for options that nothing carries out: none is ever left out. */
export function acceptOptions(
  { proxyProto, tlsTermination, ...options }: EndpointOptions,
  proto: EndpointProto,
  pairs: PairChecks,
): AcceptedOptions {
  const accepted = new Map<string, Accepted>();
  const refused: string[] = [];
  if (proto === 'tls' && options.mutualTlsCa !== undefined && tlsTermination === undefined)
    throw refuse('MutualTLSAtEdge without TLSTermination');
  // The table has every name that the type has, and each input takes the value of its own name.
  for (const [name, value] of Object.entries(options) as [ModuleOption, never][]) {
    if (value === undefined || ofOneAgent.has(name)) continue;
    const { wire, module: moduleName, input: toInput } = table[name];
    const module = modules.find((each) => each.name === moduleName);
    if (module === undefined) {
      refused.push(wire);
      continue;
    }
    // The input is of the form that the schema of the module asks for.
    const input = toInput(value) as never;
    accepted.set(module.name, { module, input, settings: module.accept(input) });
  }
  if (refused.length > 0) throw new UserError(optionsRefused, { options: refused.join(', ') });
  const pair = tlsTermination?.pair;
  if (pair !== undefined) pairs.check(pair.cert, pair.key);
  return {
    modules: Object.fromEntries([...accepted].map(([name, { settings }]) => [name, settings])),
    proxy_proto: proxyProto,
    sealTermination: (sealer, claimKey) => seal(tlsTermination, sealer, claimKey),
    differing: (stored) => [
      ...[...wireNames].flatMap(([name, wire]) => (isSame(accepted.get(name), stored.modules[name]) ? [] : [wire])),
      ...(stored.proxy_proto === proxyProto ? [] : ['ProxyProto']),
      ...(isSameTermination(tlsTermination, stored.tls_termination) ? [] : ['TLSTermination']),
    ],
  };
}

function seal(
  asked: EndpointOptions['tlsTermination'],
  sealer: Sealer,
  claimKey: string,
): NonNullable<Termination> | null {
  if (asked === undefined) return null;
  const { pair } = asked;
  if (pair === undefined) return 'own';
  return { certificate_pem: pair.cert, sealed_key: sealer.seal(pair.key, claimKey) };
}

/** Both keys fit their certificates, so that equal certificates have equal keys. */
function isSameTermination(asked: EndpointOptions['tlsTermination'], stored: Termination): boolean {
  if (asked === undefined) return (stored ?? undefined) === undefined;
  if (asked.pair === undefined) return stored === 'own';
  return typeof stored === 'object' && stored?.certificate_pem === asked.pair.cert;
}

function isSame(accepted: Accepted | undefined, stored: unknown): boolean {
  if (accepted === undefined || stored === undefined) return accepted === undefined && stored === undefined;
  const { module, input, settings } = accepted;
  // Stored settings were accepted by this very module before they were written.
  if (module.isSame !== undefined) return module.isSame(input, stored as never);
  return JSON.stringify(settings) === JSON.stringify(stored);
}

function refuse(options: string): UserError {
  return new UserError(optionsRefused, { options });
}

function headerChanges(wire: string): (value: HeaderOptions) => object {
  return ({ add, remove }) => {
    const names = new Set(add.map(([name]) => name));
    if (names.size < add.length) throw refuse(`${wire} that adds one header more than once`);
    return { add: Object.fromEntries(add), remove };
  };
}

/** A list that only denies lets all others in. */
function cidrs({ allow, deny }: NonNullable<EndpointOptions['ipRestriction']>): object {
  if (allow.length + deny.length === 0) throw refuse('IPRestriction without a CIDR');
  return { allow: allow.length > 0 ? allow : ['0.0.0.0/0', '::/0'], deny };
}

function credentials(asked: readonly BasicCredential[]): object {
  const plain = asked.map(({ username, password }) => {
    if ('hash' in password) throw refuse('BasicAuth with a hashed password');
    return { username, password: password.plain };
  });
  return { credentials: plain };
}

function patterns({ allow, deny }: NonNullable<EndpointOptions['userAgentFilter']>): object {
  if (allow.length + deny.length === 0) throw refuse('UserAgentFilter without a pattern');
  return { allow, deny };
}
