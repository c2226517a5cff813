import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';

import { tlsCiphers } from '../../lib/tls-ciphers.ts';
import { BoundedCache } from '../../lib/bounded-cache.ts';
import type { CertificatePair } from '../../snapshot/local-ca.ts';

interface Origin {
  readonly pair: CertificatePair;
  /** Contexts of the same pair, by the authorities of clients. */
  readonly asking: BoundedCache<string, SecureContext>;
}

const maxAsking = 100;
const protocol = { minVersion: 'TLSv1.2', ciphers: tlsCiphers } as const;
const origins = new WeakMap<SecureContext, Origin>();

export function buildContext(pair: CertificatePair): SecureContext {
  const { certificatePem, privateKeyPem } = pair;
  const context = createSecureContext({ cert: certificatePem, key: privateKeyPem, ...protocol });
  origins.set(context, { pair, asking: new BoundedCache(maxAsking) });
  return context;
}

/** The same certificate, for handshakes that ask the client for one by these authorities, in PEM. */
export function withClientCa(context: SecureContext, ca: string): SecureContext {
  const origin = origins.get(context);
  if (origin === undefined) throw new Error('This context was not made of a certificate.');
  const { pair, asking } = origin;
  const kept = asking.get(ca);
  if (kept !== undefined) return kept;
  const { certificatePem, privateKeyPem } = pair;
  // An authority may itself be signed by one that is not given.
  const options = { ca, allowPartialTrustChain: true, ...protocol };
  const built = createSecureContext({ cert: certificatePem, key: privateKeyPem, ...options });
  asking.set(ca, built);
  return built;
}
