import type { TextFields } from '../../../api/body/text-fields.ts';
import { withText } from '../../../api/body/text-fields.ts';
import type { Transaction } from '../../../store/write/group-commit.ts';
import type { ResourceContext } from '../../resource.ts';
import { syncReferences } from '../module-fields.ts';
import type { StoredModules } from '../module-fields.ts';
import { acceptPorts, claimedPorts, movePorts } from './ports.ts';
import { tcpEdges } from './table.ts';
import type { TcpEdge } from './table.ts';

export const target = 'tcp_edge';

interface TcpEdgeChange extends TextFields {
  /** Undefined keeps them, whatever the settings are by now. */
  readonly hostports: readonly string[] | undefined;
  /** All of them. */
  readonly modules: StoredModules;
}

/** The writes of single calls and of configurations. */
export function tcpEdgeWrites({ referables, services, settings }: ResourceContext) {
  return {
    async create(transaction: Transaction, accountId: string, change: TcpEdgeChange, newId?: string): Promise<TcpEdge> {
      const { hostports = [], modules } = change;
      const claims = acceptPorts(hostports, settings.tcpPorts);
      const first = { ...tcpEdges.newDocument(accountId, newId), hostports, modules };
      const edge = await tcpEdges.insert(transaction, withText(first, change));
      await movePorts(transaction, services, edge, [], claims);
      await syncReferences(transaction, referables, target, edge);
      return edge;
    },
    async update(transaction: Transaction, previous: TcpEdge, change: TcpEdgeChange): Promise<TcpEdge> {
      const held = claimedPorts(previous.hostports);
      const claims = change.hostports === undefined ? held : acceptPorts(change.hostports, settings.tcpPorts);
      const changed = { ...previous, hostports: claims.map(({ hostport }) => hostport), modules: change.modules };
      const edge = await tcpEdges.update(transaction, previous, withText(changed, change));
      if (edge === previous) return previous;
      await movePorts(transaction, services, edge, held, claims);
      await syncReferences(transaction, referables, target, edge, previous.modules);
      return edge;
    },
    async remove(transaction: Transaction, edge: TcpEdge): Promise<void> {
      await syncReferences(transaction, referables, target, { ...edge, modules: {} }, edge.modules);
      await tcpEdges.delete(transaction, edge);
    },
    /** Gives ports back to others, whatever the settings are by now. */
    async keepOnly(transaction: Transaction, previous: TcpEdge, hostports: readonly string[]): Promise<TcpEdge> {
      const edge = await tcpEdges.update(transaction, previous, { ...previous, hostports });
      if (edge !== previous)
        await movePorts(transaction, services, edge, claimedPorts(previous.hostports), claimedPorts(hostports));
      return edge;
    },
  };
}
