import { Type } from 'typebox';

import { asSentence, quote, UserError } from '../../errors/user-error.ts';
import { parseHostPort } from '../../lib/host-port.ts';
import type { HostnameOptions } from '../../lib/host-port.ts';
import type { Value } from '../../store/database.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import type { Stored } from '../../store/table.ts';
import { invalidHostport, invalidPort, tooManyHostports } from './errors.ts';

const hostportLimit = 1000;

/** A port or host name that a hostport takes for its edge in the whole installation. */
export interface Reservation {
  readonly key: string | number;
  readonly hostport: string;
}

export function hostportsInput(description: string, example: string) {
  return Type.Optional(Type.Array(Type.String(), { description, examples: [[example]] }));
}

/** Names that others have for the address of an edge, with the right one. */
export function addressFields(example: string): Readonly<Record<string, string>> {
  const remedy = `An edge has its addresses in "hostports", such as ["${example}"].`;
  return Object.fromEntries(['domain', 'domains', 'host', 'hostname', 'port', 'url'].map((name) => [name, remedy]));
}

export function checkHostportCount(hostports: readonly string[]): void {
  const count = hostports.length;
  if (count > hostportLimit) throw new UserError(tooManyHostports, { count, limit: hostportLimit });
}

export function readHostport(text: string, options?: HostnameOptions): { host: string; port: number } {
  const parsed = parseHostPort(text, options);
  if (parsed.ok) return parsed;
  const hostport = quote(text);
  if (parsed.fault === 'port')
    throw new UserError(invalidPort, { port: quote(text.slice(text.lastIndexOf(':') + 1)), hostport });
  throw new UserError(invalidHostport, { hostport, reason: asSentence(`it ${parsed.reason}`) });
}

interface ReservationTable {
  readonly name: string;
  readonly key: string;
  readonly keyType: 'TEXT' | 'INTEGER';
  /** The table of the edges. */
  readonly edges: string;
  /** Columns beside the key, for look-ups. */
  readonly columns?: Readonly<Record<string, (key: string | number) => Value>>;
  /** A later migration has added the column `account_id`, by which they are counted. */
  readonly namesAccount?: boolean;
}

/** The ports or host names of edges. The database itself refuses to give one to two edges. */
export class Reservations {
  readonly sql: string;
  readonly #columns: readonly ((key: string | number) => Value)[];
  readonly #namesAccount: boolean;
  readonly #insert: string;
  readonly #delete: string;

  constructor({ name, key, keyType, edges, columns = {}, namesAccount = false }: ReservationTable) {
    const extra = Object.keys(columns);
    this.sql = `
      CREATE TABLE ${name} (
        ${key} ${keyType} NOT NULL PRIMARY KEY,
        edge_id TEXT NOT NULL REFERENCES ${edges} (id) ON DELETE CASCADE${extra.map((column) => `,\n${column} TEXT NOT NULL`).join('')}
      );
      CREATE INDEX ${name}_by_edge ON ${name} (edge_id);
    `;
    this.#columns = Object.values(columns);
    this.#namesAccount = namesAccount;
    const all = [key, 'edge_id', ...extra, ...(namesAccount ? ['account_id'] : [])];
    this.#insert = `INSERT INTO ${name} (${all.join(', ')}) VALUES (${all.map((_, at) => `$${at + 1}`).join(', ')})`;
    this.#delete = `DELETE FROM ${name} WHERE ${key} = $1`;
  }

  /** Gives a stored edge exactly `now`, in place of `before`. `check` throws for one that the edge may not have. */
  async replace(
    transaction: Transaction,
    edge: Stored,
    before: readonly Reservation[],
    now: readonly Reservation[],
    check?: (wanted: Reservation) => Promise<void>,
  ): Promise<void> {
    const held = new Set(before.map(({ key }) => key));
    const wanted = new Set(now.map(({ key }) => key));
    for (const key of held.difference(wanted)) await transaction.run(this.#delete, [key]);
    for (const fresh of now.filter(({ key }) => !held.has(key))) {
      await check?.(fresh);
      const { key } = fresh;
      await transaction.run(this.#insert, [
        key,
        edge.id,
        ...this.#columns.map((column) => column(key)),
        ...(this.#namesAccount ? [edge.account_id] : []),
      ]);
    }
  }
}

export function sameHostports(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((hostport, at) => hostport === b[at]);
}
