import { DatabaseSync } from 'node:sqlite';

import { packCidrs } from '../../src/lib/ip/cidr-set.ts';
import { parseCidr } from '../../src/lib/ip/cidr.ts';
import { cidrNumber } from '../support/addresses.ts';

/**
 * `node rules-floor.ts COUNT FILE`: prints, as JSON, the least milliseconds for COUNT rules: parsing the CIDRs, storing
 * a bare row for each, with two indexes, in one transaction, and building the matcher.
 */
const count = Number(process.argv[2]);
const database = new DatabaseSync(process.argv[3] ?? '');
database.exec(`
  PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
  CREATE TABLE rules (id TEXT PRIMARY KEY, policy TEXT, cidr TEXT, document TEXT, UNIQUE (policy, cidr));
`);
const cidrs = Array.from({ length: count }, (_, at) => cidrNumber(at + 1));

const startMs = performance.now();
const parsed = cidrs.flatMap((text) => {
  const each = parseCidr(text);
  return each.ok ? [{ cidr: each.cidr, flags: 1 }] : [];
});
const parsedMs = performance.now();
database.exec('BEGIN IMMEDIATE');
const insert = database.prepare('INSERT INTO rules VALUES (?, ?, ?, ?)');
for (const [at, cidr] of cidrs.entries()) {
  const id = `ipr_${String(at).padStart(27, '0')}`;
  insert.run(id, 'policy', cidr, JSON.stringify({ id, created_at: '2026-01-01T00:00:00Z', cidr, action: 'allow' }));
}
database.exec('COMMIT');
const storedMs = performance.now();
packCidrs(parsed);
const packedMs = performance.now();

process.stdout.write(
  JSON.stringify({ parseMs: parsedMs - startMs, storeMs: storedMs - parsedMs, packMs: packedMs - storedMs }),
);
