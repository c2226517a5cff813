import { execFileSync } from 'node:child_process';

import { buildContext, withClientCa } from '../../../src/gateway/certificates/build-context.ts';
import type { CertificateSource } from '../../../src/gateway/https/client/certificate-source.ts';

export interface TestCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** Makes a self-signed certificate, which clients and gateways in tests trust as an authority. */
export function makeCertificate(...altNames: readonly string[]): TestCertificate {
  return makeCertificateWith('ec -pkeyopt ec_paramgen_curve:prime256v1', ...altNames);
}

/** `newKey`: the key, as OpenSSL's `-newkey` takes it. */
export function makeCertificateWith(newKey: string, ...altNames: readonly string[]): TestCertificate {
  const request = `req -x509 -newkey ${newKey} -nodes -days 2 -subj /CN=test`.split(' ');
  const names = `subjectAltName=${altNames.join(',')}`;
  const pem = execFileSync('openssl', [...request, '-addext', names, '-keyout', '-', '-out', '-'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [key = ''] = /-----BEGIN PRIVATE KEY-----[^]+?-----END PRIVATE KEY-----/.exec(pem) ?? [];
  const [certificate = ''] = /-----BEGIN CERTIFICATE-----[^]+?-----END CERTIFICATE-----/.exec(pem) ?? [];
  return { certificate, key };
}

/** Certificate for the names that tests use for their edges. */
export const edgeCertificate = makeCertificate('DNS:app.test', 'DNS:other.test', 'DNS:*.wild.test', 'DNS:*.many.test');

export interface AskedCertificate {
  readonly accountId: string | undefined;
  readonly servername: string;
}

/** Serves one certificate for all names, and records the requests for it. */
export function singleCertificate(asked: AskedCertificate[]): CertificateSource {
  const context = buildContext({ certificatePem: edgeCertificate.certificate, privateKeyPem: edgeCertificate.key });
  return {
    prepare: () => () => {},
    secureContextFor(accountId, servername, clientCa) {
      asked.push({ accountId, servername });
      return Promise.resolve(clientCa === undefined ? context : withClientCa(context, clientCa));
    },
  };
}
