import type { IpAddress } from '../../lib/ip/address.ts';
import { buildModules, referencedIds } from '../../modules/index.ts';
import type { Pipeline } from '../../modules/module.ts';
import type { AccessTable, AccessVerdict } from '../../snapshot/access.ts';
import type { SetAside, TcpEdgeEntry, TlsEndpointEntry } from '../../snapshot/contract.ts';
import type { Verdict } from '../engine.ts';
import { isUnloadable } from '../is-unloadable.ts';
import type { OpenConnection } from './connection.ts';
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
  readonly pipeline: Pipeline;
  /** Undefined: connections are passed on as they are. */
  readonly termination: TlsTermination | undefined;
  /** The policies its modules name. */
  readonly policyIds: readonly string[];
  /** False if it could not be loaded: it keeps its ports and refuses every connection. */
  readonly isLoaded: boolean;
}

/** One edge for as long as it exists; its rules may change while connections are open. */
export interface TcpEdge {
  rules: EdgeRules;
  readonly connections: OpenConnections<OpenConnection>;
}

export interface EdgeVerdict {
  readonly verdict: Verdict;
  readonly warnedBy: AccessVerdict['warnedBy'];
  readonly refusedBy?: AccessVerdict['refusedBy'];
}

export function loadEdgeRules(entry: EdgeEntry, setAside: SetAside, parts: TerminationParts): EdgeRules {
  const known = identityOf(entry);
  const { modules: settings } = entry;
  try {
    const built = buildModules(settings);
    const { pipeline, termination } = entry.kind === 'tls_endpoint' ? tlsRules(entry, built, parts) : tcpRules(built);
    return { ...known, pipeline, termination, policyIds: [...referencedIds(settings, 'ip_policy')], isLoaded: true };
  } catch (error) {
    setAside(entry, error);
    return closedRules(known);
  }
}

function tcpRules(pipeline: Pipeline): Pick<EdgeRules, 'pipeline' | 'termination'> {
  return { pipeline, termination: undefined };
}

function tlsRules(
  entry: TlsEndpointEntry,
  built: Pipeline,
  parts: TerminationParts,
): Pick<EdgeRules, 'pipeline' | 'termination'> {
  if (entry.fault !== undefined) throw new Error(entry.fault);
  const termination = loadTermination(entry, built, parts);
  if (termination === undefined && built.clientCa !== undefined)
    throw new Error('certificates of clients cannot be checked where TLS does not end here');
  return { pipeline: built, termination };
}

type EdgeIdentity = Pick<EdgeRules, 'kind' | 'id' | 'accountId' | 'ports' | 'names'>;

export function closedRules({ kind, id, accountId, ports, names }: EdgeIdentity): EdgeRules {
  const closed = { pipeline: buildModules({}), termination: undefined, policyIds: [], isLoaded: false };
  return { kind, id, accountId, ports, names, ...closed };
}

function identityOf(entry: EdgeEntry): EdgeIdentity {
  const { kind, id, accountId } = entry;
  return kind === 'tcp_edge'
    ? { kind, id, accountId, ports: entry.ports, names: [] }
    : { kind, id, accountId, ports: [], names: entry.names };
}

/** Checks the account's restrictions first, then the edge's modules; all must admit the source. */
export function judge(rules: EdgeRules, source: IpAddress, access: AccessTable): EdgeVerdict {
  const { accountId, pipeline, isLoaded } = rules;
  const { refusedBy, warnedBy } = access.admit(accountId, 'endpoints', source);
  if (refusedBy !== undefined) {
    const verdict = access.isLoaded(refusedBy) ? 'refused_by_restriction' : 'refused_unloadable';
    return { verdict, warnedBy, refusedBy };
  }
  if (!isLoaded) return { verdict: 'refused_unloadable', warnedBy };
  if (pipeline.admits(source, access)) return { verdict: 'allowed', warnedBy };
  return { verdict: isUnloadable(pipeline, source, access) ? 'refused_unloadable' : 'refused_by_module', warnedBy };
}
