import type { GatewayLog } from '../engine.ts';
import type { CertificateSource } from '../https/client/certificate-source.ts';
import type { LocalCa } from './local-ca.ts';
import { LocalLeaves } from './local-leaves.ts';
import { UploadedCertificates } from './uploaded-certificates.ts';
import { wildcardOf, WildcardNames } from './wildcard-names.ts';

export interface CertificateSourceOptions {
  readonly localCa: LocalCa;
  readonly log: GatewayLog;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

const yearMs = 365 * 86_400_000;
const servable = /^(?=.{1,253}$)(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}$/;

/** Serves an uploaded certificate of the account where one fits, else a leaf of the local CA. */
export function createCertificateSource({ localCa, log, now = Date.now }: CertificateSourceOptions): CertificateSource {
  const uploaded = new UploadedCertificates();
  const wildcards = new WildcardNames();
  const leaves = new LocalLeaves(localCa);
  if (localCa.notAfter.getTime() - now() < yearMs) {
    log.warn({ notAfter: localCa.notAfter.toISOString() }, 'the local CA expires within a year');
  }
  return {
    prepare: async (update, setAside) => {
      const swaps = [await uploaded.prepare(update, setAside), wildcards.prepare(update)];
      return () => {
        for (const swap of swaps) swap();
      };
    },
    secureContextFor: async (accountId, servername) => {
      // Names that no edge serves get none: scanning must cost neither memory nor signatures.
      if (accountId === undefined) throw new Error('No edge serves this name.');
      if (!servable.test(servername)) throw new Error('This is not a name that a certificate can hold.');
      const context = uploaded.find(accountId, servername, now());
      if (context !== undefined) return context;
      // One leaf serves all names under a wildcard edge, so that made-up names do not each cost a signature.
      const wildcard = wildcardOf(servername);
      return leaves.contextFor(wildcards.has(accountId, wildcard) ? wildcard : servername, now());
    },
  };
}
