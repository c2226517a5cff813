import type { Sealer } from '../../lib/sealed-secret.ts';
import type { Compiler } from '../../publisher/compiler.ts';
import type { CertificateEntry } from '../../snapshot/contract.ts';
import type { Queries, Row } from '../../store/database.ts';
import { parentOf } from '../hostname-holders.ts';
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
  const entry = { kind: 'certificate', id, accountId: account_id, certificatePem: certificate_pem } as const;
  const { key, fault } = openKey(sealer, id, String(row[1]));
  return { ...entry, privateKeyPem: key, names: served_names, ...(fault === undefined ? {} : { fault }) };
}

function openKey(sealer: Sealer, id: string, sealedKey: string): { readonly key: string; readonly fault?: string } {
  try {
    return { key: sealer.open(sealedKey, id) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { key: '', fault: `its private key cannot be used: ${reason}` };
  }
}

/** The rows of the account's certificates that are valid now and cover the name, newest first. */
export async function readCovering(queries: Queries, accountId: string, hostname: string): Promise<readonly Row[]> {
  const sql = 'SELECT document FROM tls_certificates WHERE account_id = $1 ORDER BY id DESC';
  const wildcard = `*.${parentOf(hostname)}`;
  const now = new Date();
  return (await queries.all(sql, [accountId])).filter((row) => {
    const { served_names, not_before, not_after } = tlsCertificates.parse(row);
    const isValid = new Date(not_before) <= now && now < new Date(not_after);
    return isValid && (served_names.includes(hostname) || served_names.includes(wildcard));
  });
}
