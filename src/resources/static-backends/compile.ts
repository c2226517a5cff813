import { parseHostPort } from '../../lib/host-port.ts';
import type { Compiler } from '../../publisher/compiler.ts';
import type { BackendEntry } from '../../snapshot/contract.ts';
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

function toEntry({ id, address, tls }: StaticBackend): BackendEntry {
  const parsed = parseHostPort(address);
  if (parsed.ok) return { kind: 'backend', id, host: parsed.host, port: parsed.port, tls: tls.enabled };
  // Accepted before it was stored: another form means that the database was changed by hand.
  const fault = `its stored address ${JSON.stringify(address)} ${parsed.reason}`;
  return { kind: 'backend', id, host: '', port: 0, tls: false, fault };
}
