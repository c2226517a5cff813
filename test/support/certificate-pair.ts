import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-certificates-'));
process.once('exit', () => {
  rmSync(folder, { recursive: true });
});

/** A certificate and its key, with the field names of an upload. */
export interface CertificatePair {
  readonly certificate_pem: string;
  readonly private_key_pem: string;
}

export function makeKey(passphrase?: string): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const form = { type: 'pkcs8', format: 'pem' } as const;
  const text = passphrase === undefined ? form : { ...form, cipher: 'aes-256-cbc', passphrase };
  return privateKey.export(text).toString();
}

function openssl(...args: readonly string[]): void {
  execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
}

/** Makes a pair with the `openssl` command. The next calls can use its files `name.pem` and `name.key`. */
export function makePair(name: string, ...args: readonly string[]): CertificatePair {
  const private_key_pem = makeKey();
  writeFileSync(join(folder, `${name}.key`), private_key_pem);
  openssl('req', '-x509', '-key', `${name}.key`, '-out', `${name}.pem`, '-set_serial', '0x0a0b', ...args);
  return { certificate_pem: readFileSync(join(folder, `${name}.pem`), 'utf8'), private_key_pem };
}

/** Makes a pair with the same key and an expired certificate. */
export function makeExpired(name: string, pair: CertificatePair): CertificatePair {
  // Another file in this process may have made a pair of the same name since.
  writeFileSync(join(folder, `${name}.key`), pair.private_key_pem);
  openssl('req', '-new', '-key', `${name}.key`, '-subj', '/CN=expired.test', '-out', `${name}.csr`);
  const output = `${name}-expired.pem`;
  openssl('x509', '-req', '-in', `${name}.csr`, '-signkey', `${name}.key`, '-days', '-1', '-out', output);
  return { ...pair, certificate_pem: readFileSync(join(folder, output), 'utf8') };
}
