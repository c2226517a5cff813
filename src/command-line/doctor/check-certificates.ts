import type { Queries } from '../../store/database.ts';
import { fault, ok, warning } from './finding.ts';
import type { Finding } from './finding.ts';

const subject = 'certificates';
const soonMs = 14 * 24 * 60 * 60 * 1000;

interface StoredCertificate {
  readonly not_after?: unknown;
  readonly served_names?: unknown;
}

/** Certificates that are over, or will be soon. */
export async function checkCertificates(queries: Pick<Queries, 'all'>): Promise<readonly Finding[]> {
  const rows = await queries.all('SELECT id, document FROM tls_certificates ORDER BY id');
  const findings = rows.flatMap(([id, text]) => {
    // The store writes only documents.
    const document = JSON.parse(String(text)) as StoredCertificate;
    return checkOne(String(id), document);
  });
  return findings.length > 0 ? findings : [ok(subject, `${rows.length} are uploaded; none ends within 14 days`)];
}

function checkOne(id: string, { not_after: end, served_names: names }: StoredCertificate): readonly Finding[] {
  const leftMs = new Date(String(end)).getTime() - Date.now();
  if (leftMs > soonMs) return [];
  const label = `${id} (${Array.isArray(names) ? names.join(', ') : 'no names'})`;
  const remedy = 'upload a new one (POST /tls_certificates) and name it in the reserved domains that use this one';
  return leftMs < 0
    ? [fault(subject, `${label} has ended at ${String(end)}: ${remedy}`)]
    : [warning(subject, `${label} ends at ${String(end)}: ${remedy}`)];
}
