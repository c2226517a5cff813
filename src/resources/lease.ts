import type { Queries } from '../store/database.ts';
import type { ObservationWriter } from '../store/write/transaction.ts';

type Writer = Pick<ObservationWriter, 'all' | 'run'>;

/** Statements for the table of a lease, under which one process of the installation works. It ends at milliseconds since 1970. */
export function leaseSql(table: string): string {
  return `
    CREATE TABLE ${table} (
      one INTEGER PRIMARY KEY CHECK (one = 1),
      holder TEXT NOT NULL,
      ends_at TEXT NOT NULL
    );
  `;
}

/** Takes or renews it. Undefined while another process has it; `taken` if it was not ours before. */
export async function takeLease(
  writer: Writer,
  table: string,
  holder: string,
  leaseMs: number,
): Promise<'taken' | 'renewed' | undefined> {
  const nowMs = Date.now();
  const [row] = await writer.all(`SELECT holder, ends_at FROM ${table}`);
  const isOurs = row?.[0] === holder;
  if (row !== undefined && !isOurs && Number(row[1]) > nowMs) return undefined;
  const sql = `INSERT INTO ${table} (one, holder, ends_at) VALUES (1, $1, $2)
    ON CONFLICT (one) DO UPDATE SET holder = excluded.holder, ends_at = excluded.ends_at`;
  await writer.run(sql, [holder, String(nowMs + leaseMs)]);
  return isOurs ? 'renewed' : 'taken';
}

export async function releaseLease(writer: Writer, table: string, holder: string): Promise<void> {
  await writer.run(`DELETE FROM ${table} WHERE holder = $1`, [holder]);
}

/** Nobody else has taken it: an expired lease that is still ours is as good. */
export async function holdsLease(queries: Pick<Queries, 'all'>, table: string, holder: string): Promise<boolean> {
  const [row] = await queries.all(`SELECT holder FROM ${table}`);
  return row?.[0] === holder;
}
