import type { IpAddress } from '../../lib/ip/address.ts';
import { buildModules, referencedIds } from '../../modules/index.ts';
import type { Pipeline } from '../../modules/module.ts';
import type { AccessTable, AccessVerdict } from '../../snapshot/access.ts';
import type { SetAside, TcpEdgeEntry } from '../../snapshot/contract.ts';
import type { Verdict } from '../engine.ts';
import type { TcpConnection } from './connection.ts';
import type { OpenConnections } from './open-connections.ts';

/** An entry of the snapshot, ready to be asked for each connection. */
export interface EdgeRules {
  readonly id: string;
  readonly accountId: string;
  readonly ports: readonly number[];
  readonly pipeline: Pipeline;
  /** The policies its modules name. */
  readonly policyIds: readonly string[];
  /** False if it could not be loaded: it keeps its ports and refuses every connection. */
  readonly isLoaded: boolean;
}

/** One edge for as long as it exists; its rules may change while connections are open. */
export interface TcpEdge {
  rules: EdgeRules;
  readonly connections: OpenConnections<TcpConnection>;
}

export interface EdgeVerdict {
  readonly verdict: Verdict;
  readonly warnedBy: AccessVerdict['warnedBy'];
}

export function loadEdgeRules(entry: TcpEdgeEntry, setAside: SetAside): EdgeRules {
  const { id, accountId, ports, modules: settings } = entry;
  try {
    const pipeline = buildModules(settings);
    return { id, accountId, ports, pipeline, policyIds: [...referencedIds(settings, 'ip_policy')], isLoaded: true };
  } catch (error) {
    setAside(entry, error);
    return closedRules(entry);
  }
}

export function closedRules({ id, accountId, ports }: Pick<EdgeRules, 'id' | 'accountId' | 'ports'>): EdgeRules {
  return { id, accountId, ports, pipeline: buildModules({}), policyIds: [], isLoaded: false };
}

/** Checks the account's restrictions first, then the edge's modules; all must admit the source. */
export function judge(rules: EdgeRules, source: IpAddress, access: AccessTable): EdgeVerdict {
  const { accountId, pipeline, isLoaded } = rules;
  const { refusedBy, warnedBy } = access.admit(accountId, 'endpoints', source);
  if (refusedBy !== undefined) {
    return { verdict: access.isLoaded(refusedBy) ? 'refused_by_restriction' : 'refused_unloadable', warnedBy };
  }
  if (!isLoaded) return { verdict: 'refused_unloadable', warnedBy };
  if (pipeline.admits(source, access)) return { verdict: 'allowed', warnedBy };
  return { verdict: pipeline.admits(source, access.loadable) ? 'refused_by_module' : 'refused_unloadable', warnedBy };
}
