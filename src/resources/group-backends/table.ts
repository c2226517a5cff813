import type { TextFields } from '../../api/body/text-fields.ts';
import type { Migration } from '../../store/migrate.ts';
import { Table, tableSql } from '../../store/table.ts';
import type { Stored } from '../../store/table.ts';
import { referencesSql } from '../references.ts';

/** A backend that stands for others. */
export interface GroupBackend<Members> extends Stored, TextFields {
  readonly backends: Members;
}

/** Weights by id. */
export type Weights = Readonly<Record<string, number>>;
/** Ids in the order in which they are tried. */
export type Order = readonly string[];

export const migrations: readonly Migration[] = ['weighted_backends', 'failover_backends'].map((table, at) => ({
  name: `group-backends 000${at + 1}`,
  sql: `${tableSql(table)} ${referencesSql(table)}`,
}));

export const weightedBackends = new Table<GroupBackend<Weights>>({
  name: 'weighted_backends',
  kind: 'weighted_backend',
  prefix: 'bkdwd',
});

export const failoverBackends = new Table<GroupBackend<Order>>({
  name: 'failover_backends',
  kind: 'failover_backend',
  prefix: 'bkdfo',
});
