import type { Queries } from '../store/database.ts';
import type { Store } from '../store/store.ts';

type Leasing = Pick<Store, 'writeUnlogged' | 'clockSql'>;

/** No lease is longer. */
const longestMs = 60_000;

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

/**
 * Takes or renews it. Undefined while another process has it; `taken` if it was not ours before. Times are those of the database,
 * whose clock all processes share; an end that lies beyond any lease says that this clock was ahead, and is none.
 */
export function takeLease(
  store: Leasing,
  table: string,
  holder: string,
  leaseMs: number,
): Promise<'taken' | 'renewed' | undefined> {
  return store.writeUnlogged(async (writer) => {
    const [[now] = []] = await writer.all(`SELECT ${store.clockSql}`);
    const [row] = await writer.all(`SELECT holder, ends_at FROM ${table}`);
    const isOurs = row?.[0] === holder;
    const leftMs = row === undefined ? 0 : Number(row[1]) - Number(now);
    if (!isOurs && leftMs > 0 && leftMs <= longestMs) return undefined;
    const sql = `INSERT INTO ${table} (one, holder, ends_at) VALUES (1, $1, $2)
      ON CONFLICT (one) DO UPDATE SET holder = excluded.holder, ends_at = excluded.ends_at`;
    await writer.run(sql, [holder, String(Number(now) + Math.min(leaseMs, longestMs))]);
    return isOurs ? 'renewed' : 'taken';
  });
}

export function releaseLease(store: Leasing, table: string, holder: string): Promise<number> {
  return store.writeUnlogged((writer) => writer.run(`DELETE FROM ${table} WHERE holder = $1`, [holder]));
}

/** Nobody else has taken it: an expired lease that is still ours is as good. */
export async function holdsLease(queries: Pick<Queries, 'all'>, table: string, holder: string): Promise<boolean> {
  const [row] = await queries.all(`SELECT holder FROM ${table}`);
  return row?.[0] === holder;
}
