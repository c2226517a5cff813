import type { Sealer } from '../../lib/sealed-secret.ts';
import type { Compiler } from '../../publisher/compiler.ts';
import type { CertificateEntry } from '../../snapshot/contract.ts';
import type { Queries, Row } from '../../store/database.ts';
import { tlsCertificates } from './table.ts';

const all = 'SELECT document, sealed_key FROM tls_certificates ORDER BY id';
const one = 'SELECT document, sealed_key FROM tls_certificates WHERE id = $1';

export function certificateCompiler(sealer: Sealer): Compiler {
  return {
    kind: 'certificate',
    affectedIds: ({ kind, id }) => (kind === tlsCertificates.kind ? [id] : []),
    async load(queries, ids) {
      const rows = ids === undefined ? await queries.all(all) : await loadSome(queries, ids);
      return rows.map((row) => toEntry(row, sealer));
    },
  };
}

async function loadSome(queries: Queries, ids: readonly string[]): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const id of ids) rows.push(...(await queries.all(one, [id])));
  return rows;
}

function toEntry(row: Row, sealer: Sealer): CertificateEntry {
  const { id, account_id, certificate_pem, served_names } = tlsCertificates.parse(row);
  return {
    kind: 'certificate',
    id,
    accountId: account_id,
    certificatePem: certificate_pem,
    privateKeyPem: open(sealer, id, String(row[1])),
    names: served_names,
  };
}

function open(sealer: Sealer, id: string, sealedKey: string): string {
  try {
    return sealer.open(sealedKey, id);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`the private key of the TLS certificate ${id} cannot be used: ${reason}`, { cause: error });
  }
}
