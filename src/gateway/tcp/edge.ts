import { rateLimited, refusedByRestriction, unloadable } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import { formatIp } from '../../lib/ip/address.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import { buildModules, referencedIds } from '../../modules/index.ts';
import { holdsUntil } from '../../modules/run-steps.ts';
import type { Outcome } from '../../modules/step.ts';
import type { AccessTable, AccessVerdict } from '../../snapshot/access.ts';
import type { SetAside, TcpEdgeEntry, TlsEndpointEntry } from '../../snapshot/contract.ts';
import type { TcpOpened, Verdict } from '../engine.ts';
import type { AcceptedClient, OpenConnection } from './connection.ts';
import { connectionList } from './connection-list.ts';
import type { ConnectionList } from './connection-list.ts';
import { loadTermination } from './terminate-tls.ts';
import type { TerminationParts, TlsTermination } from './terminate-tls.ts';
import type { OpenConnections } from './open-connections.ts';

/** Entries whose connections are passed on as they are. */
export type EdgeEntry = TcpEdgeEntry | TlsEndpointEntry;

/** An entry of the snapshot, ready to be asked for each connection. */
export interface EdgeRules {
  readonly id: string;
  readonly accountId: string;
  readonly kind: EdgeEntry['kind'];
  /** Empty for a TLS endpoint. */
  readonly ports: readonly number[];
  /** Names in TLS handshakes; empty for a TCP edge. One may start with `*.`. */
  readonly names: readonly string[];
  readonly list: ConnectionList;
  readonly backendId: string | undefined;
  /** Undefined: connections are passed on as they are. */
  readonly termination: TlsTermination | undefined;
  /** The policies its modules name. */
  readonly policyIds: readonly string[];
  /** False if it could not be loaded: it keeps its ports and refuses every connection. */
  readonly isLoaded: boolean;
  /** True: others of its account that say the same may have its ports or names too. */
  readonly isPooled: boolean;
}

/** One edge for as long as it exists; its rules may change while connections are open. */
export interface TcpEdge {
  rules: EdgeRules;
  isRemoved: boolean;
  readonly connections: OpenConnections<OpenConnection>;
}

export interface EdgeVerdict extends AccessVerdict {
  /** Undefined: its steps decide. */
  readonly refusal: UserError | undefined;
}

export function loadEdgeRules(entry: EdgeEntry, setAside: SetAside, parts: TerminationParts): EdgeRules {
  const known = identityOf(entry);
  const { modules: settings } = entry;
  try {
    if (entry.kind === 'tls_endpoint' && entry.fault !== undefined) throw new Error(entry.fault);
    const { shared, backendId } = buildModules(settings);
    const list = connectionList(shared);
    const termination = entry.kind === 'tls_endpoint' ? loadTermination(entry, list, parts) : undefined;
    if (termination === undefined && entry.kind === 'tls_endpoint' && list.clientCa !== undefined)
      throw new Error('certificates of clients cannot be checked where TLS does not end here');
    return {
      ...known,
      list,
      backendId,
      termination,
      policyIds: [...referencedIds(settings, 'ip_policy')],
      isLoaded: true,
    };
  } catch (error) {
    setAside(entry, error);
    return closedRules(known);
  }
}

type EdgeIdentity = Pick<EdgeRules, 'kind' | 'id' | 'accountId' | 'ports' | 'names' | 'isPooled'>;

export function closedRules({ kind, id, accountId, ports, names, isPooled }: EdgeIdentity): EdgeRules {
  const closed = {
    list: connectionList(buildModules({}).shared),
    backendId: undefined,
    termination: undefined,
    policyIds: [],
    isLoaded: false,
  };
  return { kind, id, accountId, ports, names, isPooled, ...closed };
}

function identityOf(entry: EdgeEntry): EdgeIdentity {
  const { kind, id, accountId } = entry;
  const isPooled = entry.isPooled === true;
  return kind === 'tcp_edge'
    ? { kind, id, accountId, isPooled, ports: entry.ports, names: [] }
    : { kind, id, accountId, isPooled, ports: [], names: entry.names };
}

/** Asks the account's restrictions and the edge itself, whatever its modules say. */
export function judgeEdge(rules: EdgeRules, source: IpAddress, access: AccessTable): EdgeVerdict {
  const { accountId, isLoaded, names, ports } = rules;
  const { refusedBy, warnedBy } = access.admit(accountId, 'endpoints', source);
  const cannotLoad = (what: string): UserError =>
    new UserError(unloadable, { host: names[0] ?? `port ${ports.join(', ')}`, what });
  if (refusedBy === undefined) return { refusal: isLoaded ? undefined : cannotLoad('the edge'), warnedBy, refusedBy };
  const refusal = access.isLoaded(refusedBy)
    ? new UserError(refusedByRestriction, { address: formatIp(source) })
    : cannotLoad('an IP rule');
  return { refusal, warnedBy, refusedBy };
}

const verdicts: ReadonlyMap<number, Verdict> = new Map([
  [rateLimited.code, 'refused_by_rate_limit'],
  [refusedByRestriction.code, 'refused_by_restriction'],
  [unloadable.code, 'refused_unloadable'],
]);

/** What is told of a connection by the word that refuses it. It can be given no answer, and waits for nothing. */
export function tellRefusal(outcome: Outcome): Pick<TcpOpened, 'verdict' | 'reason'> {
  const error = outcome instanceof UserError ? outcome : outcome.kind === 'close' ? outcome.refusal : undefined;
  return { verdict: verdicts.get(error?.code ?? 0) ?? 'refused_by_module', reason: error?.logged };
}

/** Until when an open connection may stay by the rules in force now, in milliseconds since 1970; 0: it ends now. */
export function holdsConnection({ list }: EdgeRules, { visit, isSecuring }: AcceptedClient): number {
  const untilMs = holdsUntil(list.accept, visit);
  // A handshake that is under way is checked when it is over.
  return isSecuring || untilMs === 0 ? untilMs : Math.min(untilMs, holdsUntil(list.secure, visit));
}
