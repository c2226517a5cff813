import type { SecureContext } from 'node:tls';

import { whyNotPublic } from '../../lib/public-name.ts';
import type { GatewayLog } from '../engine.ts';
import { NoCertificate } from '../https/client/certificate-source.ts';
import type { CertificateSource } from '../https/client/certificate-source.ts';
import { withClientCa } from './build-context.ts';
import type { LocalCa } from './local-ca.ts';
import { LocalLeaves } from './local-leaves.ts';
import { UploadedCertificates } from './uploaded-certificates.ts';
import { wildcardOf, WildcardNames } from './wildcard-names.ts';

export interface CertificateSourceOptions {
  readonly localCa: LocalCa;
  readonly log: GatewayLog;
  /** As in `GatewayOptions`. */
  readonly refusesPublicNames?: boolean | undefined;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

const yearMs = 365 * 86_400_000;
const servable = /^(?=.{1,253}$)(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}$/;

/** Serves a certificate of the account where one fits, else a leaf of the local CA, or nothing. */
export function createCertificateSource(options: CertificateSourceOptions): CertificateSource {
  const { localCa, log, refusesPublicNames = false, now = Date.now } = options;
  const uploaded = new UploadedCertificates();
  const wildcards = new WildcardNames();
  const leaves = new LocalLeaves(localCa);
  if (localCa.notAfter.getTime() - now() < yearMs) {
    log.warn({ not_after: localCa.notAfter.toISOString() }, 'the local CA expires within a year');
  }
  return {
    prepare: async (update, setAside) => {
      const swaps = [await uploaded.prepare(update, setAside), wildcards.prepare(update)];
      return () => {
        for (const swap of swaps) swap();
      };
    },
    secureContextFor: async (accountId, servername, clientCa) => {
      if (!servable.test(servername)) throw new NoCertificate('This is not a name that a certificate can hold.');
      const asking = (context: SecureContext) => (clientCa === undefined ? context : withClientCa(context, clientCa));
      const context = uploaded.find(accountId, servername, now());
      if (context !== undefined) return asking(context);
      // Names that no edge serves get no leaf: scanning must cost neither memory nor signatures.
      if (accountId === undefined) throw new NoCertificate('No edge serves this name.');
      if (refusesPublicNames && whyNotPublic(servername) === undefined) {
        throw new NoCertificate('There is no certificate for this name.', 'no_certificate');
      }
      // One leaf serves all names under a wildcard edge, so that made-up names do not each cost a signature.
      const wildcard = wildcardOf(servername);
      return asking(await leaves.contextFor(wildcards.has(accountId, wildcard) ? wildcard : servername, now()));
    },
  };
}
