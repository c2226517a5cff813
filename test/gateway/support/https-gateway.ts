import type { Bound, GatewayBounds } from '../../../src/gateway/bounds/bound.ts';
import { createEngineBounds } from '../../../src/gateway/bounds/engine-bounds.ts';
import type {
  BackendRefused,
  GatewayOptions,
  GatewayTimeouts,
  HttpAnswered,
  InwardOptions,
  TcpClosed,
  TrafficObserver,
  Verdict,
  InspectedRequest,
  InspectionTerms,
} from '../../../src/gateway/engine.ts';
import { Challenges } from '../../../src/gateway/certificates/challenges.ts';
import { HttpsFront } from '../../../src/gateway/https/front.ts';
import type { HttpsFrontParts } from '../../../src/gateway/https/front.ts';
import { TcpFront } from '../../../src/gateway/tcp/front.ts';
import { HealthBoard } from '../../../src/gateway/health/health-board.ts';
import { HealthTable } from '../../../src/gateway/health/health-table.ts';
import { noDialer } from '../../../src/gateway/tunnels/dialer.ts';
import type { TunnelDialer } from '../../../src/gateway/tunnels/dialer.ts';
import { VisitorKeys } from '../../../src/gateway/sign-in/visitor-keys.ts';
import { TunnelBackends } from '../../../src/gateway/tunnels/tunnel-backends.ts';
import { connectionServices } from '../../../src/gateway/connection-services.ts';
import { VaultSecrets } from '../../../src/gateway/vault-secrets.ts';
import { createUpstream } from '../../../src/gateway/upstream/create-upstream.ts';
import { formatIp } from '../../../src/lib/ip/address.ts';
import { CidrSet, emptyCidrSet, packCidrs } from '../../../src/lib/ip/cidr-set.ts';
import { parseCidr } from '../../../src/lib/ip/cidr.ts';
import { AccessTable } from '../../../src/snapshot/access.ts';
import type { EntryKey, SnapshotEntry, SnapshotUpdate } from '../../../src/snapshot/contract.ts';
import { SetAsideEntries } from '../../../src/snapshot/set-aside.ts';
import { wideBounds } from './bounds.ts';
import { singleCertificate } from './https-certificate.ts';
import type { AskedCertificate } from './https-certificate.ts';

export interface GatewaySettings {
  readonly timeouts?: Partial<GatewayTimeouts>;
  readonly trustedProxies?: readonly string[];
  readonly proxyProtocol?: boolean;
  readonly plainHttp?: boolean;
  readonly listenHost?: string;
  readonly parts?: Partial<Pick<HttpsFrontParts, 'errorPrefix'>>;
  /** Authorities of TLS upstreams, in PEM. */
  readonly upstreamAuthorities?: readonly string[];
  readonly bounds?: Partial<GatewayBounds>;
  readonly dialer?: TunnelDialer;
  readonly passwordFailures?: number;
}

/** A gateway under test, which takes snapshot updates and listens. */
export interface TestGateway extends AsyncDisposable {
  readonly port: number;
  readonly httpPort: number;
  readonly answered: HttpAnswered[];
  /** The gateway's own errors, as the access log has them, in the order of `answered`. */
  readonly reasons: (string | undefined)[];
  /** Verdicts on connections that are passed on as they are, and the ends of those that were let in. */
  readonly verdicts: Verdict[];
  readonly tcpClosed: TcpClosed[];
  /** Why certificates of clients were refused, in the order of `verdicts`. */
  readonly tcpReasons: (string | undefined)[];
  readonly warned: { readonly restrictionIds: readonly string[]; readonly source: string }[];
  readonly asked: AskedCertificate[];
  /** What was not connected to, because it leads inwards. */
  readonly inwardRefused: BackendRefused[];
  /** Answers to wrong passwords. */
  readonly passwords: string[];
  /** Entries that are set aside now, with the reason. */
  readonly setAside: ReadonlyMap<string, string>;
  /** How often each bound has refused something, and how much of it is in use. */
  readonly refused: Partial<Record<Bound, number>>;
  readonly inUse: Partial<Record<Bound, number>>;
  readonly logged: { readonly fields: object; readonly message: string }[];
  /** Lines that say what went on as it should, each with its fields. */
  readonly noted: object[];
  set(...entries: readonly SnapshotEntry[]): Promise<void>;
  remove(...keys: readonly EntryKey[]): Promise<void>;
  apply(update: SnapshotUpdate): Promise<void>;
  drain(limitMs: number): Promise<void>;
  /** Requests that were recorded. */
  readonly inspected: readonly InspectedRequest[];
  inspect(terms: readonly InspectionTerms[]): void;
  relieve(clients: number): void;
  changeBounds(bounds: Partial<GatewayBounds>): void;
  accountOfHost(hostname: string): string | undefined;
}

const noInward: InwardOptions = {
  listeners: [],
  publicPorts: [],
  ownAddresses: {},
  allowLinkLocal: false,
  networkId: '',
};

const defaultTimeouts: GatewayTimeouts = {
  headersMs: 10_000,
  upstreamConnectMs: 5000,
  idleMs: 20_000,
  keepAliveMs: 10_000,
};

export async function startGateway(
  entries: readonly SnapshotEntry[],
  settings: GatewaySettings = {},
): Promise<TestGateway> {
  const answered: TestGateway['answered'] = [];
  const reasons: TestGateway['reasons'] = [];
  const verdicts: TestGateway['verdicts'] = [];
  const tcpClosed: TestGateway['tcpClosed'] = [];
  const tcpReasons: TestGateway['tcpReasons'] = [];
  const warned: TestGateway['warned'] = [];
  const asked: TestGateway['asked'] = [];
  const inwardRefused: BackendRefused[] = [];
  const passwords: string[] = [];
  const inspected: InspectedRequest[] = [];
  const logged: TestGateway['logged'] = [];
  const setAside = new Map<string, string>();
  const faulty = new SetAsideEntries(({ kind, id, cause }) => {
    if (cause === undefined) setAside.delete(`${kind} ${id}`);
    else setAside.set(`${kind} ${id}`, cause.message);
  });
  const access = new AccessTable();
  const note = (fields: object, message: string): void => {
    logged.push({ fields, message });
  };
  const refused: TestGateway['refused'] = {};
  const inUse: TestGateway['inUse'] = {};
  const options = optionsOf(settings);
  const observer: TrafficObserver = {
    warned: (restrictionIds, source) => warned.push({ restrictionIds, source: formatIp(source) }),
    tcpOpened: ({ verdict, reason }) => {
      verdicts.push(verdict);
      tcpReasons.push(reason);
    },
    tcpClosed: (event) => tcpClosed.push(event),
    httpsOpened: () => {},
    httpsClosed: () => {},
    httpAnswered: (event, { reason }) => {
      answered.push(event);
      reasons.push(reason);
    },
    handshakeFailed: ({ reason, cause }) => noted.push({ handshake: reason, cause }),
    boundsReported: (reports) => {
      for (const report of reports) {
        refused[report.bound] = (refused[report.bound] ?? 0) + report.refused;
        inUse[report.bound] = report.inUse;
      }
    },
    listenerFault: () => {},
    entryFault: () => {},
    backendRefused: (event) => inwardRefused.push(event),
    passwordRefused: (_wrong, answer) => passwords.push(answer),
    visitorSeen: () => {},
    visitorLeft: () => {},
    ratesCounted: () => {},
    inspected: (request) => inspected.push(request),
    ownArrivalReset: () => {},
  };
  const { connect, arrivals } = createUpstream({ options, observer });
  const noted: object[] = [];
  const log = { info: (fields: object) => void noted.push(fields), warn: note, error: note };
  const bounds = createEngineBounds(options.bounds, observer, log);
  const tunnels = new TunnelBackends(settings.dialer ?? noDialer, bounds.waits, options.timeouts.upstreamConnectMs);
  const board = new HealthBoard((states) => health.set(states));
  const health = new HealthTable((seen) => board.note([seen]));
  const secrets = new VaultSecrets();
  const services = connectionServices({ access, bounds, secrets, log });
  const shared = { options, access, observer, connect, tunnels, health, arrivals, log, bounds, services };
  const certificates = singleCertificate(asked);
  const tcp = new TcpFront({ ...shared, certificates });
  const front = new HttpsFront({
    ...shared,
    passThrough: tcp,
    challenges: new Challenges(),
    visitorKeys: new VisitorKeys(),
    certificates,
    ...settings.parts,
  });
  let version = 0;
  const apply = async (update: SnapshotUpdate): Promise<void> => {
    const faults = faulty.begin(update);
    const swaps = [
      access.prepare(update, faults.setAside),
      tunnels.prepare(update),
      health.prepare(update),
      secrets.prepare(update, faults.setAside),
      board.prepare(update),
      await tcp.prepare(update, faults.setAside),
      await front.prepare(update, faults.setAside),
    ];
    for (const swap of swaps) swap();
    faults.commit();
    await Promise.all([tcp.checkOpen(), front.checkOpen()]);
  };
  await apply({ version: ++version, full: true, set: entries, removed: [] });
  await front.listen();
  const drain = async (limitMs: number): Promise<void> => {
    await Promise.all([front.drain(limitMs), tcp.drain(limitMs)]);
    bounds.reports[Symbol.dispose]();
  };
  return {
    port: front.addresses.https?.port ?? 0,
    httpPort: front.addresses.http?.port ?? 0,
    answered,
    reasons,
    verdicts,
    tcpClosed,
    tcpReasons,
    warned,
    asked,
    inwardRefused,
    passwords,
    setAside,
    logged,
    noted,
    apply,
    set: (...set) => apply({ version: ++version, full: false, set, removed: [] }),
    remove: (...removed) => apply({ version: ++version, full: false, set: [], removed }),
    get refused() {
      bounds.reports.report();
      return refused;
    },
    get inUse() {
      bounds.reports.report();
      return inUse;
    },
    drain,
    inspected,
    inspect: (terms) => {
      front.inspect(terms);
    },
    relieve: (clients) => {
      front.relieve(clients);
    },
    changeBounds: (changed) => {
      bounds.change({ ...bounds.limits, ...changed });
    },
    accountOfHost: (hostname) => front.accountOfHost(hostname),
    [Symbol.asyncDispose]: () => drain(0),
  };
}

function optionsOf(settings: GatewaySettings): GatewayOptions {
  const host = settings.listenHost ?? '0.0.0.0';
  return {
    tcpListenHost: host,
    https: { host, port: 0 },
    http: settings.plainHttp === true ? { host, port: 0 } : undefined,
    trustedProxies: new CidrSet(
      settings.trustedProxies === undefined ? emptyCidrSet : packRules(settings.trustedProxies, 1),
    ),
    proxyProtocol: { tcp: false, https: settings.proxyProtocol === true, http: false },
    sharePorts: false,
    ...(settings.upstreamAuthorities && { upstreamAuthorities: settings.upstreamAuthorities }),
    inward: noInward,
    passwordFailures: settings.passwordFailures,
    timeouts: { ...defaultTimeouts, ...settings.timeouts },
    bounds: { ...wideBounds, ...settings.bounds },
  };
}

export function packRules(cidrs: readonly string[], flags: number) {
  return packCidrs(
    cidrs.map((text) => {
      const parsed = parseCidr(text);
      if (!parsed.ok) throw new Error(`${text} ${parsed.reason}`);
      return { cidr: parsed.cidr, flags };
    }),
  );
}
