import type { IpAddress } from '../../lib/ip/address.ts';
import { buildModules, referencedIds } from '../../modules/index.ts';
import type { Pipeline } from '../../modules/module.ts';
import type { AccessTable, AccessVerdict } from '../../snapshot/access.ts';
import type { TcpEdgeEntry } from '../../snapshot/contract.ts';
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
}

/** One edge for as long as it exists; its rules change under its open connections. */
export interface TcpEdge {
  rules: EdgeRules;
  readonly connections: OpenConnections<TcpConnection>;
}

export interface EdgeVerdict {
  readonly verdict: Verdict;
  readonly warnedBy: AccessVerdict['warnedBy'];
}

/** Throws for a module that is not known. */
export function buildEdgeRules({ id, accountId, ports, modules: settings }: TcpEdgeEntry): EdgeRules {
  return {
    id,
    accountId,
    ports,
    pipeline: buildModules(settings),
    policyIds: [...referencedIds(settings, 'ip_policy')],
  };
}

/** The account's restrictions are asked first, then the edge's own modules; all must allow. */
export function judge({ accountId, pipeline }: EdgeRules, source: IpAddress, access: AccessTable): EdgeVerdict {
  const { refusedBy, warnedBy } = access.admit(accountId, 'endpoints', source);
  if (refusedBy !== undefined) return { verdict: 'refused_by_restriction', warnedBy };
  return { verdict: pipeline.admits(source, access) ? 'allowed' : 'refused_by_module', warnedBy };
}
