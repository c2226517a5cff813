import { parseHostPort } from '../../lib/host-port.ts';
import type { Compiler } from '../../publisher/compiler.ts';
import type { BackendEntry } from '../../snapshot/contract.ts';
import { toBalanceEntry } from './balance.ts';
import { staticBackends } from './table.ts';
import type { StaticBackend } from './table.ts';

export const backendCompiler: Compiler = {
  kind: 'backend',
  affectedIds: ({ kind, id }) => (kind === staticBackends.kind ? [id] : []),
  async load(queries, ids) {
    const documents = await staticBackends.loadMany(queries, ids);
    return documents.map(toEntry);
  },
};

function toEntry(backend: StaticBackend): BackendEntry {
  const { id, account_id: accountId, address, tls } = backend;
  const parsed = parseHostPort(address);
  try {
    // Accepted before it was stored: another form means that the database was changed by hand.
    if (!parsed.ok) throw new Error(`its stored address ${JSON.stringify(address)} ${parsed.reason}`);
    const balance = toBalanceEntry(backend);
    const { host, port } = parsed;
    return { kind: 'backend', id, accountId, host, port, tls: tls.enabled, ...(balance && { balance }) };
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error);
    return { kind: 'backend', id, accountId, host: '', port: 0, tls: false, fault };
  }
}
