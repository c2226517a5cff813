import { createSealer } from '../../../../src/lib/sealed-secret.ts';
import { SnapshotFile } from '../../../../src/snapshot/snapshot-file.ts';

/**
 * Writes snapshots to the file in its first argument and prints the version of each, until it is killed: whole ones and single
 * changes by turns, of which each gives one further backend the host of its version.
 */
const [, , path = ''] = process.argv;
const file = new SnapshotFile(path, createSealer(undefined), 'of a test', (error) => {
  throw error;
});
file.setLocalCa({ certificatePem: 'certificate', privateKeyPem: 'key' });
const start = Number(process.argv[3]);
const entries = 3_000;
const wholeEvery = 20;
for (let version = start; ; version++) {
  const full = (version - start) % wholeEvery === 0;
  const set = Array.from({ length: full ? entries : 200 }, (_, at) => ({
    kind: 'backend' as const,
    id: `bkdsc_${at}`,
    host: `host-of-version-${version}`,
    port: 80,
    tls: false,
  }));
  file.follow({ version, full, set, removed: [] });
  await file.flush();
  process.stdout.write(`${version}\n`);
}
