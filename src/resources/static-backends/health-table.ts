import type { BackendReport } from '../../observe/backend-health.ts';
import type { Queries } from '../../store/database.ts';
import type { Migration } from '../../store/migrate.ts';
import type { Store } from '../../store/store.ts';
import type { ObservationWriter } from '../../store/write/transaction.ts';

/** What each process sees of each backend: observations, which go with the process. */
export const healthMigration: Migration = {
  name: 'static-backends 0002 health',
  sql: `CREATE TABLE backend_health (
    backend_id TEXT NOT NULL, process_id TEXT NOT NULL, report TEXT NOT NULL, PRIMARY KEY (backend_id, process_id)
  );
  CREATE INDEX backend_health_process ON backend_health (process_id);`,
};

/** Rows of one transaction: others do not wait for all of a large installation. */
const batch = 200;

/** Writes reports; undefined removes one. */
export async function writeReports(
  store: Store,
  processId: string,
  reports: readonly (readonly [backendId: string, report: BackendReport | undefined])[],
): Promise<void> {
  for (let at = 0; at < reports.length; at += batch) {
    await store.writeUnlogged(async (writer) => {
      for (const [backendId, report] of reports.slice(at, at + batch)) {
        if (report === undefined)
          await writer.run('DELETE FROM backend_health WHERE backend_id = $1 AND process_id = $2', [
            backendId,
            processId,
          ]);
        else
          await writer.run(
            `INSERT INTO backend_health (backend_id, process_id, report) VALUES ($1, $2, $3)
             ON CONFLICT (backend_id, process_id) DO UPDATE SET report = excluded.report`,
            [backendId, processId, JSON.stringify(report)],
          );
      }
    });
  }
}

export async function readReports(queries: Queries, backendId: string): Promise<ReadonlyMap<string, BackendReport>> {
  const rows = await queries.all('SELECT process_id, report FROM backend_health WHERE backend_id = $1', [backendId]);
  // Only `writeReports` writes the table.
  return new Map(rows.map(([id, report]) => [String(id), JSON.parse(String(report)) as BackendReport]));
}

/** A backend as it is stored, and what one process sees of it. */
export interface StoredReport {
  readonly backend: string;
  readonly processId: string;
  readonly report: string;
}

/** Reports about the newest backends of an account, at most so many. */
export async function readReportsOfAccount(
  queries: Queries,
  accountId: string,
  most: number,
): Promise<readonly StoredReport[]> {
  const rows = await queries.all(
    `SELECT b.document, h.process_id, h.report
     FROM (SELECT id, document FROM static_backends WHERE account_id = $1 ORDER BY id DESC LIMIT $2) b
     JOIN backend_health h ON h.backend_id = b.id`,
    [accountId, most],
  );
  return rows.map(([backend, processId, report]) => ({
    backend: String(backend),
    processId: String(processId),
    report: String(report),
  }));
}

export async function removeReportsOf(writer: ObservationWriter, processId: string): Promise<void> {
  await writer.run('DELETE FROM backend_health WHERE process_id = $1', [processId]);
}
