import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate and its key, with the names of Node's TLS options. */
export interface ClientPair {
  readonly cert: string;
  readonly key: string;
}

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-client-certificates-'));
process.once('exit', () => {
  rmSync(folder, { recursive: true });
});
/** Authorities of files that share this process may have the same name. */
let authorities = 0;

function openssl(...args: readonly string[]): void {
  execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
}

function read(name: string): ClientPair {
  return {
    cert: readFileSync(join(folder, `${name}.pem`), 'utf8'),
    key: readFileSync(join(folder, `${name}.key`), 'utf8'),
  };
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** An authority that signs certificates of clients. */
export class ClientAuthority {
  readonly #file: string;
  readonly pem: string;

  constructor(name: string, signedBy?: string) {
    const file = `authority-${authorities++}`;
    this.#file = file;
    const subject = ['-days', '2', '-subj', `/CN=${name}`, '-keyout', `${file}.key`, '-out', `${file}.pem`];
    const issuer = signedBy === undefined ? [] : ['-CA', `${signedBy}.pem`, '-CAkey', `${signedBy}.key`];
    openssl('req', '-x509', ...newKey, ...issuer, '-addext', 'keyUsage=keyCertSign', ...subject);
    this.pem = read(file).cert;
  }

  /** An authority that this one has signed. */
  authority(name: string): ClientAuthority {
    return new ClientAuthority(name, this.#file);
  }

  /** A certificate of -1 days has expired. */
  sign(name: string, { days = 1, usage = 'clientAuth', names = [] as readonly string[] } = {}): ClientPair {
    const file = `${this.#file}-${name}`;
    openssl('req', ...newKey, '-subj', `/CN=${name}`, '-keyout', `${file}.key`, '-out', `${file}.csr`);
    const others = names.length === 0 ? '' : `subjectAltName=${names.map((each) => `DNS:${each}`).join(',')}\n`;
    writeFileSync(join(folder, `${file}.ext`), `basicConstraints=CA:false\nextendedKeyUsage=${usage}\n${others}`);
    const by = ['-CA', `${this.#file}.pem`, '-CAkey', `${this.#file}.key`, '-CAcreateserial'];
    openssl(
      'x509',
      '-req',
      '-in',
      `${file}.csr`,
      ...by,
      '-days',
      String(days),
      '-extfile',
      `${file}.ext`,
      '-out',
      `${file}.pem`,
    );
    return read(file);
  }
}
