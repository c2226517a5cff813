import { newId } from '../../lib/ids.ts';
import type { Listener } from '../../snapshot/contract.ts';
import type { Queries, Row } from '../../store/database.ts';
import type { Transaction } from '../../store/group-commit.ts';
import type { Migration } from '../../store/migrate.ts';
import type { Store } from '../../store/store.ts';

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
}

/** `beat` grows while the process runs: whoever reads it twice can tell, without a clock that both agree on. */
export const migrations: readonly Migration[] = [
  {
    name: 'processes 0001',
    sql: 'CREATE TABLE processes (id TEXT PRIMARY KEY, document TEXT NOT NULL, beat INTEGER NOT NULL);',
  },
];

export const processKind = 'running_process';

export async function readProcesses(queries: Queries): Promise<readonly RunningProcess[]> {
  return (await queries.all('SELECT document FROM processes ORDER BY id')).map(toProcess);
}

/** A logged write: the change log is how other processes learn of it at once. */
export function writeProcess(store: Store, running: RunningProcess): Promise<void> {
  const { id } = running;
  const document = JSON.stringify(running);
  return change(store, id, async (transaction) => {
    await transaction.run(
      `INSERT INTO processes (id, document, beat) VALUES ($1, $2, 0)
       ON CONFLICT (id) DO UPDATE SET document = excluded.document`,
      [id, document],
    );
    return document;
  });
}

/** Without `beat` it is removed in any case, else only if it has not moved on. */
export function removeProcess(store: Store, id: string, beat?: number): Promise<void> {
  return change(store, id, async (transaction, current) => {
    if (current === undefined || (beat !== undefined && current !== beat)) return undefined;
    await transaction.run('DELETE FROM processes WHERE id = $1', [id]);
    return null;
  });
}

/** `perform` gets the present beat, and returns the document from now on, or undefined if it has changed nothing. */
async function change(
  store: Store,
  id: string,
  perform: (transaction: Transaction, beat: number | undefined) => Promise<string | null | undefined>,
): Promise<void> {
  await store.write({ id: 'host', accountId: '', operationId: newId('op') }, async (transaction) => {
    const [row] = await transaction.all('SELECT document, beat FROM processes WHERE id = $1', [id]);
    const after = await perform(transaction, row && Number(row[1]));
    if (after === undefined) return;
    const before = row === undefined ? null : String(row[0]);
    transaction.record({ accountId: '', kind: processKind, id, before, after, cascades: false });
  });
}

function toProcess([document]: Row): RunningProcess {
  // Only `writeProcess` writes the column.
  return JSON.parse(String(document)) as RunningProcess;
}
