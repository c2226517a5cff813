import { emptyCidrSet, CidrSet } from './lib/ip/cidr-set.ts';
import { parseTrustedProxies } from './lib/ip/client-address.ts';
import {
  orOff,
  readBaseUrl,
  readChoice,
  readHost,
  readList,
  readListen,
  readPortRange,
  readSecretText,
  readShare,
  readWholeNumber,
  readWord,
} from './lib/setting-values.ts';

/** One setting: an environment variable, a flag of the same name, a default. */
interface Setting<T> {
  /** What it is and in which form it is written. */
  readonly help: string;
  /** As it would be given. */
  readonly fallback?: string;
  readonly read: (text: string) => T;
  /** Its value is not repeated when it is wrong. */
  readonly secret?: boolean;
}

const roles = ['all', 'api', 'gateway'] as const;
const listenerKinds = ['tcp', 'https', 'http'] as const;
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const settings = {
  apiListen: { help: 'address of the management API, host:port', fallback: '127.0.0.1:4040', read: readListen },
  databaseUrl: {
    help: 'sqlite:PATH or postgres://user:password@host/database',
    fallback: 'sqlite:./data/gatehouse.db',
    read: readDatabaseUrl,
    secret: true,
  },
  bootstrapToken: {
    help: 'token of the first API key, 32 or more printable characters; made and printed once when not given',
    fallback: '',
    read: optional(readSecretText(32)),
    secret: true,
  },
  vendor: {
    help: 'vendor word of the clients in use: its version header, error codes and operation header are spoken too',
    fallback: '',
    read: optional(readWord),
  },
  publicUrl: {
    help: "base of the URIs in answers, such as https://api.example.com; the request's own host when not given",
    fallback: '',
    read: optional(readBaseUrl),
  },
  trustedProxies: {
    help: 'addresses and CIDRs, separated by commas, whose X-Forwarded-For counts',
    fallback: '',
    read: readTrustedProxies,
  },
  tcpPorts: { help: 'ports that TCP edges may use, FIRST-LAST', fallback: '10000-19999', read: readPortRange },
  tcpListenHost: { help: 'address on which TCP edges listen', fallback: '127.0.0.1', read: readHost },
  httpsListen: {
    help: 'address of the HTTPS edges, host:port or "off"',
    fallback: '127.0.0.1:8443',
    read: orOff(readListen),
  },
  httpsPort: {
    help: 'port at which clients reach HTTPS edges, as it stands in their hostports',
    fallback: '443',
    read: readWholeNumber(1, 65_535),
  },
  httpListen: {
    help: 'address of a plain-HTTP listener that redirects to HTTPS, host:port or "off"',
    fallback: 'off',
    read: orOff(readListen),
  },
  proxyProtocol: {
    help: `kinds of listeners where trusted proxies send a PROXY header, separated by commas: ${listenerKinds.join(', ')}`,
    fallback: '',
    read: readList(listenerKinds),
  },
  http1FastPath: {
    help: 'serve plain HTTP/1.1 requests by the fast path: "on", or "off" to leave every request to Node\'s own HTTP parser',
    fallback: 'on',
    read: readChoice(['on', 'off']),
  },
  upstreamCa: {
    help: 'PEM file of authorities that TLS backends are verified by, besides the usual ones',
    fallback: '',
    read: optional(String),
  },
  workers: {
    help: 'gateway processes that share the listeners; 1 runs the gateway in this process',
    fallback: '1',
    read: readWholeNumber(1, 256),
  },
  accessLog: {
    help: 'share of requests and connections through edges that is logged, 0 to 1',
    fallback: '1',
    read: readShare,
  },
  drainSeconds: {
    help: 'how long open requests and connections may go on after SIGTERM',
    fallback: '20',
    read: readWholeNumber(0, 3_600),
  },
  idleSeconds: {
    help: 'an open connection on which nothing moves for so long is closed',
    fallback: '300',
    read: readWholeNumber(1, 86_400),
  },
  snapshotFile: {
    help: 'where a gateway on PostgreSQL keeps its last configuration, to start without the database, or "off"',
    fallback: './data/gateway.snapshot',
    read: orOff(String),
  },
  changeLogDays: {
    help: 'how many days the list of changes goes back, or "off" to keep all of it',
    fallback: 'off',
    read: orOff(readWholeNumber(1, 36_500)),
  },
  metricsListen: {
    help: 'address of the Prometheus metrics, host:port or "off"',
    fallback: 'off',
    read: orOff(readListen),
  },
  rateLimit: {
    help: 'API calls a minute for each account, or "off"',
    fallback: 'off',
    read: orOff(readWholeNumber(1, 1_000_000)),
  },
  secretKey: {
    help: 'key that encrypts private keys in the database, 32 or more printable characters',
    fallback: '',
    read: optional(readSecretText(32)),
    secret: true,
  },
  role: { help: `what this process does: ${roles.join(', ')}`, fallback: 'all', read: readChoice(roles) },
  logLevel: {
    help: `least important log lines to write: ${logLevels.join(', ')}`,
    fallback: 'info',
    read: readChoice(logLevels),
  },
} as const satisfies Readonly<Record<string, Setting<unknown>>>;

export type Config = { readonly [Name in keyof typeof settings]: ReturnType<(typeof settings)[Name]['read']> };

/** Everything that is wrong with the settings, at once. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`The settings are not acceptable:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}

interface Given {
  readonly text: string;
  /** As the operator wrote it. */
  readonly source: string;
}

/** Flags go before the environment. */
export function readConfig(
  environment: Readonly<Record<string, string | undefined>>,
  flags: readonly string[],
): Config {
  const faults: string[] = [];
  const given = new Map([...fromEnvironment(environment, faults), ...fromFlags(flags, faults)]);
  const values = Object.entries<Setting<unknown>>(settings).map(([name, { fallback = '', read, secret = false }]) => {
    const { text, source } = given.get(name) ?? { text: fallback, source: '' };
    try {
      return [name, read(text)] as const;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      faults.push(`${source}${secret ? '' : ` ${JSON.stringify(text)}`}: ${reason}`);
      return [name, undefined] as const;
    }
  });
  if (faults.length > 0) throw new ConfigError(faults);
  // Each value was read by the setting of its own name.
  return Object.freeze(Object.fromEntries(values)) as Config;
}

/** The lines of the help. */
export function describeSettings(): string {
  return Object.entries<Setting<unknown>>(settings)
    .map(([name, { help, fallback = '' }]) => {
      const value = fallback === '' ? '' : ` (default: ${fallback})`;
      return `  --${toFlag(name)}, ${toVariable(name)}\n      ${help}${value}`;
    })
    .join('\n');
}

const variablePrefix = 'GATEHOUSE_';

function fromEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  faults: string[],
): readonly (readonly [string, Given])[] {
  const known = new Map(Object.keys(settings).map((name) => [toVariable(name), name]));
  return Object.entries(environment).flatMap(([source, text = '']) => {
    if (!source.startsWith(variablePrefix)) return [];
    const name = known.get(source);
    if (name === undefined) faults.push(`${source} is not a setting; --help lists them all`);
    // An empty variable is how shells and unit files leave one unset.
    return name === undefined || text === '' ? [] : [[name, { text, source }] as const];
  });
}

function fromFlags(flags: readonly string[], faults: string[]): readonly (readonly [string, Given])[] {
  const known = new Map(Object.keys(settings).map((name) => [`--${toFlag(name)}`, name]));
  const given: (readonly [string, Given])[] = [];
  const rest = [...flags];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [source = '', ...inline] = word.split('=');
    const name = known.get(source);
    if (name === undefined) {
      faults.push(
        `${source} is ${word.startsWith('-') ? 'not a setting' : 'neither a command nor a setting'}; --help lists them all`,
      );
      // What follows it is its value, and may be a secret.
      if (word.startsWith('--') && inline.length === 0 && rest[0]?.startsWith('-') === false) rest.shift();
      continue;
    }
    const text = inline.length > 0 ? inline.join('=') : rest.shift();
    if (text === undefined) faults.push(`${source} needs a value`);
    else given.push([name, { text, source }]);
  }
  return given;
}

function toFlag(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function toVariable(name: string): string {
  return variablePrefix + toFlag(name).replaceAll('-', '_').toUpperCase();
}

function optional<T>(read: (text: string) => T): (text: string) => T | undefined {
  return (text) => (text === '' ? undefined : read(text));
}

function readDatabaseUrl(text: string): string {
  if (text === 'sqlite::memory:') throw new Error('name a file: several connections share the database');
  if (/^sqlite:.+/.test(text)) return text;
  if (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text)) return text;
  throw new Error('write it as sqlite:PATH or postgres://user:password@host/database');
}

function readTrustedProxies(text: string): CidrSet {
  if (text === '') return new CidrSet(emptyCidrSet);
  const parsed = parseTrustedProxies(text);
  if (!parsed.ok) throw new Error(parsed.faults.join('; '));
  return parsed.proxies;
}
