import { nearestName } from './nearest-name.ts';
import {
  optional,
  orAuto,
  orOff,
  readAddresses,
  readBaseUrl,
  readChoice,
  readChosenToken,
  readDatabaseUrl,
  readHost,
  readList,
  readListen,
  readPortRange,
  readSecretText,
  readShare,
  readWholeNumber,
  readWord,
} from './values.ts';

/** One setting: an environment variable, a flag of the same name, a default. */
interface Setting<T> {
  /** The form of its value, as the help shows it. */
  readonly form: string;
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
  apiListen: {
    form: 'host:port',
    help: 'address of the management API, host:port',
    fallback: '127.0.0.1:4040',
    read: readListen,
  },
  apiConnections: {
    form: 'count|auto',
    help: 'connections to the API and the metrics together; "auto" by the limit of open files',
    fallback: 'auto',
    read: orAuto(readWholeNumber(1, 1_000_000)),
  },
  apiSourceConnections: {
    form: 'count|auto',
    help: 'connections of one address (IPv6: of one /64 network) to the API and the metrics; "auto": a quarter of all',
    fallback: 'auto',
    read: orAuto(readWholeNumber(1, 1_000_000)),
  },
  databaseUrl: {
    form: 'url',
    help: 'sqlite:PATH or postgres://user:password@host/database',
    fallback: 'sqlite:./data/gatehouse.db',
    read: readDatabaseUrl,
    secret: true,
  },
  bootstrapToken: {
    form: 'token',
    help: 'token of the first API key, 32 or more printable characters; made and printed once when not given',
    fallback: '',
    read: optional(readChosenToken),
    secret: true,
  },
  vendor: {
    form: 'word',
    help: 'vendor word of the clients in use: its version header, error codes and operation header are spoken too',
    fallback: '',
    read: optional(readWord),
  },
  publicUrl: {
    form: 'url',
    help: "base of the URIs in answers, such as https://api.example.com; the request's own host when not given",
    fallback: '',
    read: optional(readBaseUrl),
  },
  trustedProxies: {
    form: 'cidrs',
    help: 'addresses and CIDRs, separated by commas, whose X-Forwarded-For counts',
    fallback: '',
    read: readAddresses,
  },
  tcpPorts: {
    form: 'first-last',
    help: 'ports that TCP edges may use, FIRST-LAST',
    fallback: '10000-19999',
    read: readPortRange,
  },
  tcpListenHost: { form: 'host', help: 'address on which TCP edges listen', fallback: '127.0.0.1', read: readHost },
  httpsListen: {
    form: 'host:port',
    help: 'address of the HTTPS edges, host:port or "off"',
    fallback: '127.0.0.1:8443',
    read: orOff(readListen),
  },
  httpsPort: {
    form: 'port',
    help: 'port at which clients reach HTTPS edges, as it stands in their hostports',
    fallback: '443',
    read: readWholeNumber(1, 65_535),
  },
  httpListen: {
    form: 'host:port',
    help: 'address of a plain-HTTP listener that redirects to HTTPS, host:port or "off"',
    fallback: 'off',
    read: orOff(readListen),
  },
  proxyProtocol: {
    form: 'kinds',
    help: `kinds of listeners where trusted proxies send a PROXY header, separated by commas: ${listenerKinds.join(', ')}`,
    fallback: '',
    read: readList(listenerKinds),
  },
  http1FastPath: {
    form: 'on|off',
    help: 'serve plain HTTP/1.1 requests by the fast path: "on", or "off" to leave every request to Node\'s own HTTP parser',
    fallback: 'on',
    read: readChoice(['on', 'off']),
  },
  upstreamCa: {
    form: 'file',
    help: 'PEM file of authorities that TLS backends are verified by, besides the usual ones',
    fallback: '',
    read: optional(String),
  },
  backendAllowLinkLocal: {
    form: 'on|off',
    help: 'let backends lead to link-local addresses (169.254.0.0/16, fe80::/10), where clouds have their metadata: "on" or "off"',
    fallback: 'off',
    read: readChoice(['on', 'off']),
  },
  ownAddresses: {
    form: 'cidrs',
    help: 'addresses and CIDRs, separated by commas, that lead to this installation without being on one of its machines, such as those of a balancer: no backend may lead there',
    fallback: '',
    read: readAddresses,
  },
  workers: {
    form: 'count',
    help: 'gateway processes that share the listeners; 1 runs the gateway in this process',
    fallback: '1',
    read: readWholeNumber(1, 256),
  },
  accessLog: {
    form: 'share',
    help: 'share of requests and connections through edges that is logged, 0 to 1',
    fallback: '1',
    read: readShare,
  },
  drainSeconds: {
    form: 'seconds',
    help: 'how long open requests and connections may go on after SIGTERM',
    fallback: '20',
    read: readWholeNumber(0, 3_600),
  },
  idleSeconds: {
    form: 'seconds',
    help: 'an open connection on which nothing moves for so long is closed',
    fallback: '300',
    read: readWholeNumber(1, 86_400),
  },
  clientConnections: {
    form: 'count|auto',
    help: 'connections of clients to all edges together, in each gateway process; "auto" by the limit of open files',
    fallback: 'auto',
    read: orAuto(readWholeNumber(1, 1_000_000)),
  },
  sourceConnections: {
    form: 'count|auto',
    help: 'connections of one client address (IPv6: of one /64 network), in each gateway process; "auto": a quarter of all',
    fallback: 'auto',
    read: orAuto(readWholeNumber(1, 1_000_000)),
  },
  upstreamConnections: {
    form: 'count|auto',
    help: 'connections to all backends together, in each gateway process; "auto" by the limit of open files',
    fallback: 'auto',
    read: orAuto(readWholeNumber(1, 1_000_000)),
  },
  accountConnections: {
    form: 'count|auto',
    help: 'connections in use at once to the backends of one account, in each gateway process; "auto": half of all',
    fallback: 'auto',
    read: orAuto(readWholeNumber(1, 1_000_000)),
  },
  backendConnections: {
    form: 'count|auto',
    help: 'connections in use at once to one backend, in each gateway process; "auto": a quarter of all',
    fallback: 'auto',
    read: orAuto(readWholeNumber(1, 1_000_000)),
  },
  backendSourceConnections: {
    form: 'count|auto',
    help: 'connections in use at once to one backend by one client address (IPv6: by one /64 network), in each gateway process; "auto": a quarter of those to the backend',
    fallback: 'auto',
    read: orAuto(readWholeNumber(1, 1_000_000)),
  },
  backendQueue: {
    form: 'count',
    help: 'HTTP requests that may wait for a connection to one backend; further ones are answered with 503',
    fallback: '100',
    read: readWholeNumber(0, 100_000),
  },
  backendSourceQueue: {
    form: 'count|auto',
    help: 'HTTP requests of one client address (IPv6: of one /64 network) that may wait for a connection to one backend; further ones are answered with 429; "auto": a quarter of all that may wait',
    fallback: 'auto',
    read: orAuto(readWholeNumber(0, 100_000)),
  },
  backendQueueSeconds: {
    form: 'seconds',
    help: 'how long an HTTP request may wait for a connection to its backend, before it is answered with 503',
    fallback: '5',
    read: readWholeNumber(1, 3_600),
  },
  streamResets: {
    form: 'count',
    help: 'requests of one HTTP/2 connection that a client may cancel before their answer, within 20 seconds',
    fallback: '100',
    read: readWholeNumber(1, 1_000_000),
  },
  responseEncoders: {
    form: 'count',
    help: 'responses that are compressed at once, in each gateway process; one account has a quarter of them',
    fallback: '256',
    read: readWholeNumber(0, 100_000),
  },
  snapshotFile: {
    form: 'file',
    help: 'where a gateway on PostgreSQL keeps its last configuration, to start without the database, or "off"',
    fallback: './data/gateway.snapshot',
    read: orOff(String),
  },
  changeLogDays: {
    form: 'days',
    help: 'how many days the list of changes goes back, or "off" to keep all of it',
    fallback: 'off',
    read: orOff(readWholeNumber(1, 36_500)),
  },
  metricsListen: {
    form: 'host:port',
    help: 'address of the Prometheus metrics, host:port or "off"',
    fallback: 'off',
    read: orOff(readListen),
  },
  rateLimit: {
    form: 'calls',
    help: 'API calls a minute for each account, or "off"',
    fallback: '60000',
    read: orOff(readWholeNumber(1, 1_000_000)),
  },
  authFailures: {
    form: 'count',
    help: 'failed authentications a minute from one address, or one /64 of IPv6, that are answered at once, or "off" for no limit',
    fallback: '20',
    read: orOff(readWholeNumber(1, 1_000_000)),
  },
  authFailuresSlowed: {
    form: 'count',
    help: 'how many more of them are answered, each after a second, before others are refused with 429',
    fallback: '20',
    read: readWholeNumber(0, 1_000_000),
  },
  authFailuresHeld: {
    form: 'count',
    help: 'how many such late answers may wait at the same time',
    fallback: '100',
    read: readWholeNumber(0, 100_000),
  },
  authFailureSources: {
    form: 'count',
    help: 'how many addresses with failed authentications are counted apart; all others share one count',
    fallback: '10000',
    read: readWholeNumber(1, 1_000_000),
  },
  accountCalls: {
    form: 'calls',
    help: 'API calls of one account that are in progress at once; more wait for their turn',
    fallback: '64',
    read: readWholeNumber(1, 10_000),
  },
  maxWaitMs: {
    form: 'milliseconds',
    help: 'an API call that would have to wait longer for its turn is answered 503',
    fallback: '300',
    read: readWholeNumber(10, 60_000),
  },
  apiStallSeconds: {
    form: 'seconds',
    help: 'an API connection on which no byte moves for so long in the middle of a call is closed',
    fallback: '60',
    read: readWholeNumber(1, 3_600),
  },
  secretKey: {
    form: 'key',
    help: 'key that encrypts private keys in the database, 32 or more printable characters',
    fallback: '',
    read: optional(readSecretText(32)),
    secret: true,
  },
  role: { form: 'role', help: `what this process does: ${roles.join(', ')}`, fallback: 'all', read: readChoice(roles) },
  logLevel: {
    form: 'level',
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

/** Texts by the name of their setting. */
export type Flags = { readonly [Name in keyof Config]?: string | undefined };

/** Reads every setting: its flag, else its environment variable, else its default. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>, flags: Flags): Config {
  const faults = unknownVariables(environment);
  const values = describeSettings().map(({ name, flag, variable, fallback }) => {
    // An empty variable is how shells and unit files leave one unset.
    const [text, source] =
      flags[name] === undefined ? [environment[variable] || fallback, variable] : [flags[name], flag];
    const { read, secret = false }: Setting<unknown> = settings[name];
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

export interface SettingDescription {
  readonly name: keyof Config;
  /** `--api-listen` */
  readonly flag: string;
  /** `GATEHOUSE_API_LISTEN` */
  readonly variable: string;
  readonly form: string;
  readonly help: string;
  /** Empty where there is no default. */
  readonly fallback: string;
}

export function describeSettings(): readonly SettingDescription[] {
  // The names of the entries are those of the object they come from.
  const entries = Object.entries<Setting<unknown>>(settings) as [keyof Config, Setting<unknown>][];
  return entries.map(([name, { form, help, fallback = '' }]) => {
    const words = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const variable = variablePrefix + words.replaceAll('-', '_').toUpperCase();
    return { name, flag: `--${words}`, variable, form, help, fallback };
  });
}

const variablePrefix = 'GATEHOUSE_';

/** A fault for each variable that only looks like a setting: a misspelt one would change nothing, and nobody would notice. */
function unknownVariables(environment: Readonly<Record<string, string | undefined>>): string[] {
  const known = describeSettings().map(({ variable }) => variable);
  return Object.keys(environment)
    .filter((name) => name.startsWith(variablePrefix) && !known.includes(name))
    .map((name) => {
      const meant = nearestName(name, known);
      return `${name} is not a setting${meant === undefined ? '; --help lists them all' : `. Did you mean ${meant}?`}`;
    });
}
