import type { TextFields } from '../../api/body/text-fields.ts';
import type { Migration } from '../../store/migrate.ts';
import { Table, tableSql } from '../../store/table.ts';
import type { Stored } from '../../store/table.ts';
import { createPortHolder } from '../port-holders.ts';

export interface ReservedAddr extends Stored, TextFields {
  /** `host:port`, as it was assigned. */
  readonly addr: string;
  readonly region: string;
}

export const migrations: readonly Migration[] = [
  { name: 'reserved-addrs 0001', sql: tableSql('reserved_addrs', 'port INTEGER NOT NULL UNIQUE') },
];

export const reservedAddrs = new Table<ReservedAddr>({
  name: 'reserved_addrs',
  kind: 'reserved_addr',
  prefix: 'ra',
  columns: { port: ({ addr }) => portOf(addr) },
});

export const portHolder = createPortHolder({
  ports: 'reserved_addrs',
  owner: 'id',
  documents: 'reserved_addrs',
  reserves: true,
});

export function portOf(addr: string): number {
  return Number(addr.slice(addr.lastIndexOf(':') + 1));
}
