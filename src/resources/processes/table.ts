import type { Listener } from '../../snapshot/contract.ts';
import type { Queries, Row } from '../../store/database.ts';
import type { ObservationWriter } from '../../store/write/transaction.ts';
import type { Migration } from '../../store/migrate.ts';
import type { Store } from '../../store/store.ts';
import type { OwnedByProcesses, ProcessStatus } from './service.ts';

/** A process that runs, as it describes itself. */
export interface RunningProcess {
  readonly id: string;
  readonly hostname: string;
  /** As in `Machine`. */
  readonly network_id: string;
  readonly addresses: readonly string[];
  readonly listeners: readonly Listener[];
  /** RFC 3339. */
  readonly started_at: string;
  /** Absent where an older version wrote it. */
  readonly role?: string;
  /** Of its program; absent where an older version wrote it. */
  readonly version?: string;
}

/** Kept as text, because only whoever lists processes reads it. */
export type StoredStatus = ProcessStatus & { readonly seenAtMs: number };

/** `beat` grows while the process runs: whoever reads it twice can tell, without a clock that both agree on. */
export const migrations: readonly Migration[] = [
  {
    name: 'processes 0001',
    sql: 'CREATE TABLE processes (id TEXT PRIMARY KEY, document TEXT NOT NULL, beat INTEGER NOT NULL);',
  },
  { name: 'processes 0002 status', sql: 'ALTER TABLE processes ADD COLUMN status TEXT;' },
];

export const processKind = 'running_process';

export async function readProcesses(queries: Queries): Promise<readonly RunningProcess[]> {
  return (await queries.all('SELECT document FROM processes ORDER BY id')).map(toProcess);
}

export async function readStatuses(queries: Queries): Promise<ReadonlyMap<string, StoredStatus>> {
  const rows = await queries.all('SELECT id, status FROM processes WHERE status IS NOT NULL');
  // Only `beatProcess` writes the column.
  return new Map(rows.map(([id, status]) => [String(id), JSON.parse(String(status)) as StoredStatus]));
}

/** Moves the beat of a process on. False if it is not registered. */
export async function beatProcess(
  writer: ObservationWriter,
  id: string,
  status: StoredStatus | undefined,
): Promise<boolean> {
  const sql = 'UPDATE processes SET beat = beat + 1, status = COALESCE($2, status) WHERE id = $1';
  return (await writer.run(sql, [id, status === undefined ? null : JSON.stringify(status)])) > 0;
}

export function writeProcess(store: Store, running: RunningProcess): Promise<void> {
  const { id } = running;
  return change(store, id, async (writer) => {
    await writer.run(
      `INSERT INTO processes (id, document, beat) VALUES ($1, $2, 0)
       ON CONFLICT (id) DO UPDATE SET document = excluded.document`,
      [id, JSON.stringify(running)],
    );
  });
}

/** Without `beat` it is removed in any case, else only if it has not moved on. What belongs to it goes with it. */
export function removeProcess(
  store: Store,
  owned: readonly OwnedByProcesses[],
  { id, beat }: { readonly id: string; readonly beat?: number },
): Promise<void> {
  return change(store, id, async (writer) => {
    const sql = 'DELETE FROM processes WHERE id = $1 AND beat = COALESCE($2, beat)';
    if ((await writer.run(sql, [id, beat ?? null])) === 0 && beat !== undefined) return;
    for (const each of owned) await each.removeOf(writer, id);
  });
}

/** Other processes follow at once. A start or a stop is no change of the configuration, so that it has no version. */
function change(store: Store, id: string, perform: (writer: ObservationWriter) => Promise<void>): Promise<void> {
  return store.writeUnlogged(async (writer) => {
    await perform(writer);
    writer.record({ accountId: '', kind: processKind, id });
  });
}

function toProcess([document]: Row): RunningProcess {
  // Only `writeProcess` writes the column.
  return JSON.parse(String(document)) as RunningProcess;
}
