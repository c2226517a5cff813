import type { Compiler } from '../../publisher/compiler.ts';
import type { ProcessEntry } from '../../snapshot/contract.ts';
import { processKind, readProcesses } from './table.ts';
import type { RunningProcess } from './table.ts';

export const processCompiler: Compiler = {
  kind: 'running_process',
  affectedIds: ({ kind, id }) => (kind === processKind ? [id] : []),
  async load(queries, ids) {
    // There are few of them.
    const all = await readProcesses(queries);
    return all.filter(({ id }) => ids === undefined || ids.includes(id)).map(toEntry);
  },
};

function toEntry({ id, network_id, addresses, listeners }: RunningProcess): ProcessEntry {
  return { kind: 'running_process', id, networkId: network_id, addresses, listeners };
}
