import { isDeepStrictEqual } from 'node:util';

import { withText } from '../../api/body/text-fields.ts';
import type { TextFields } from '../../api/body/text-fields.ts';
import type { ModuleTarget } from '../../modules/module.ts';
import type { Table } from '../../store/table.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import type { ResourceContext } from '../resource.ts';
import type { Reservation } from './hostports.ts';
import { syncReferences } from './module-fields.ts';
import type { HasModules, StoredModules } from './module-fields.ts';

/** An edge of any kind, as it is stored. */
export interface Edge extends HasModules, TextFields {
  readonly hostports: readonly string[];
}

interface EdgeChange extends TextFields {
  /** Undefined, or the same ones, keeps them, whatever the settings are by now. */
  readonly hostports: readonly string[] | undefined;
  /** All of them. */
  readonly modules: StoredModules;
}

/** How one kind of edge is stored. */
interface EdgeWriteRules {
  readonly table: Table<Edge>;
  readonly target: ModuleTarget;
  readonly context: Pick<ResourceContext, 'referables' | 'services'>;
  /** What hostports of a request reserve. Throws `UserError` for those that it cannot have. */
  readonly accept: (hostports: readonly string[]) => readonly Reservation[];
  /** What stored hostports have reserved, whatever the settings are by now. */
  readonly claimed: (hostports: readonly string[]) => readonly Reservation[];
  /** Gives the edge exactly `now`, in place of `before`. */
  readonly move: (
    transaction: Transaction,
    edge: Edge,
    before: readonly Reservation[],
    now: readonly Reservation[],
  ) => Promise<void>;
  /** Throws `UserError` for modules that cannot be set together. */
  readonly checkModules?: (modules: StoredModules) => void;
}

export type EdgeWrites = ReturnType<typeof edgeWrites>;

/** The writes of single calls and of configurations. */
export function edgeWrites(kind: EdgeWriteRules) {
  const { table, target, context, claimed } = kind;
  return {
    async create(transaction: Transaction, accountId: string, change: EdgeChange, newId?: string): Promise<Edge> {
      kind.checkModules?.(change.modules);
      const claims = kind.accept(change.hostports ?? []);
      const hostports = claims.map(({ hostport }) => hostport);
      const first = { ...table.newDocument(accountId, newId), hostports, modules: change.modules };
      const edge = await table.insert(transaction, withText(first, change));
      await kind.move(transaction, edge, [], claims);
      await syncReferences(transaction, context, target, edge);
      return edge;
    },
    async update(transaction: Transaction, previous: Edge, change: EdgeChange): Promise<Edge> {
      kind.checkModules?.(change.modules);
      const held = claimed(previous.hostports);
      const isKept = change.hostports === undefined || isDeepStrictEqual(change.hostports, previous.hostports);
      const claims = isKept ? held : kind.accept(change.hostports);
      const hostports = claims.map(({ hostport }) => hostport);
      const changed = { ...previous, hostports, modules: change.modules };
      const edge = await table.update(transaction, previous, withText(changed, change));
      if (edge === previous) return previous;
      await kind.move(transaction, edge, held, claims);
      await syncReferences(transaction, context, target, edge, previous.modules);
      return edge;
    },
    async remove(transaction: Transaction, edge: Edge): Promise<void> {
      await syncReferences(transaction, context, target, { ...edge, modules: {} }, edge.modules);
      await table.delete(transaction, edge);
    },
    /** Gives hostports back to others, whatever the settings are by now. */
    async keepOnly(transaction: Transaction, previous: Edge, hostports: readonly string[]): Promise<Edge> {
      const edge = await table.update(transaction, previous, { ...previous, hostports });
      if (edge !== previous) await kind.move(transaction, edge, claimed(previous.hostports), claimed(hostports));
      return edge;
    },
  };
}
