import { hash } from 'node:crypto';

import { clientCertificateRequired, connectionPredatesRules, policyValueFailed } from '../../../errors/shared.ts';
import { UserError } from '../../../errors/user-error.ts';
import { EvaluationFault } from '../../../lib/cel/run.ts';
import { BoundedCache } from '../../../lib/bounded-cache.ts';
import { readCertificatePair } from '../../../lib/certificate-pair.ts';
import type { CertificateFault } from '../../../lib/certificate-pair.ts';
import { maxAuthorities, readAuthorities } from '../../client-authorities.ts';
import { NotDescribed } from '../../not-described.ts';
import { checkShownCertificate } from '../../shown-certificate.ts';
import { connectionCheck } from '../../step.ts';
import type { ConnectionStep, ConnectionVisit, TlsPems, TlsTerms } from '../../step.ts';
import type { ConfigReader } from '../document/config-reader.ts';
import type { Template } from '../document/template.ts';
import { invalidConfig, invalidValue } from '../errors.ts';
import { visitOfSecrets } from '../variables/secrets.ts';
import type { Secrets } from '../variables/secrets.ts';
import type { Action } from './action.ts';

const versions = ['1.2', '1.3'] as const;
const strategies = ['require-and-verify', 'require-any', 'request'] as const;
type Strategy = (typeof strategies)[number];
const longestPem = 65_536;
/** Accounts with the same text of a policy whose certificates are kept. */
const mostRead = 100;

/** Templates of what may stand in vaults. */
interface PemTemplates {
  readonly certificate: Template | undefined;
  readonly privateKey: Template | undefined;
  readonly authorities: readonly Template[];
}

/** Says how TLS ends for the names of an endpoint, before its connections come. */
export const terminateTls: Action = {
  type: 'terminate-tls',
  phases: ['on_tcp_connect'],
  guards: false,
  build(config) {
    const minVersion = config.oneOf('min_version', versions) ?? '1.2';
    const maxVersion = config.oneOf('max_version', versions) ?? '1.3';
    if (minVersion > maxVersion)
      throw config.fault(invalidValue, 'min_version', `it is above max_version, which is ${maxVersion}`);
    const templates: PemTemplates = {
      certificate: config.secretTemplate('server_certificate'),
      privateKey: config.secretTemplate('server_private_key'),
      authorities: readAuthorityTemplates(config),
    };
    if ((templates.certificate === undefined) !== (templates.privateKey === undefined))
      throw config.fault(
        invalidConfig,
        templates.certificate === undefined ? 'server_certificate' : 'server_private_key',
        'server_certificate and server_private_key belong together; give both or neither',
      );
    const strategy = config.oneOf('mutual_tls_verification_strategy', strategies) ?? 'require-and-verify';
    const asksForCertificate = templates.authorities.length > 0;
    if (!asksForCertificate && config.raw('mutual_tls_verification_strategy') !== undefined)
      throw config.fault(
        invalidConfig,
        'mutual_tls_verification_strategy',
        'it concerns certificates of clients; give mutual_tls_certificate_authorities too',
      );
    const read = pemReader(templates, config);
    const key = hash('sha256', JSON.stringify(fields.map((name) => config.raw(name) ?? null)), 'base64url');
    const terms: TlsTerms = { key, minVersion, maxVersion, asksForCertificate, read };
    return { ends: false, run: () => undefined, facts: { tlsStep: handshakeStep(terms, strategy, config.path) } };
  },
};

const fields = [
  'min_version',
  'max_version',
  'server_certificate',
  'server_private_key',
  'mutual_tls_certificate_authorities',
  'mutual_tls_verification_strategy',
];

function readAuthorityTemplates(config: ConfigReader): readonly Template[] {
  const field = 'mutual_tls_certificate_authorities';
  const authorities = config.secretTemplates(field, maxAuthorities) ?? [];
  if (config.raw(field) !== undefined && authorities.length === 0)
    throw config.fault(invalidValue, field, 'name at least one, or leave it out');
  for (const [at, { constant }] of authorities.entries())
    if (constant?.startsWith('ca_') === true)
      throw config.fault(
        invalidValue,
        `${field}[${at}]`,
        'authorities are given by their certificates here (PEM), written out or as ${secrets.get()}; ids stand in the module mutual_tls of an edge',
      );
  return authorities;
}

/** Reads what stands there now; what is written out is checked at once. */
function pemReader({ certificate, privateKey, authorities }: PemTemplates, config: ConfigReader): TlsTerms['read'] {
  // What was read last for each account with the same policy; secrets change seldom, and handshakes come by the thousand.
  const read = new BoundedCache<string, { readonly texts: string; readonly pems: TlsPems | Error }>(mostRead);
  const pemsOf = (accountId: string, own: readonly string[], cas: readonly string[]): TlsPems => {
    const texts = JSON.stringify([own, cas]);
    let known = read.get(accountId);
    if (known?.texts !== texts) {
      known = { texts, pems: pemsOrFault(own, cas) };
      read.set(accountId, known);
    }
    if (known.pems instanceof Error) throw known.pems;
    return known.pems;
  };
  const pair = certificate === undefined || privateKey === undefined ? [] : [certificate, privateKey];
  if ([...pair, ...authorities].every(({ constant }) => constant !== undefined)) {
    try {
      const written = pemsOf(
        '',
        pair.map(({ constant = '' }) => constant),
        authorities.map(({ constant = '' }) => constant),
      );
      return () => written;
    } catch (error) {
      const field =
        pair.length > 0 && !(error instanceof UserError) ? 'server_certificate' : 'mutual_tls_certificate_authorities';
      throw config.fault(invalidValue, field, reasonOf(error));
    }
  }
  return (accountId: string, secrets: Secrets) => {
    const visit = visitOfSecrets(accountId, secrets);
    return pemsOf(
      accountId,
      pair.map((each) => each.text(visit)),
      authorities.map((each) => each.text(visit)),
    );
  };
}

function pemsOrFault(own: readonly string[], authorities: readonly string[]): TlsPems | Error {
  try {
    return checkPems(own, authorities);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function checkPems([certificatePem, privateKeyPem]: readonly string[], authorities: readonly string[]): TlsPems {
  const all = [certificatePem ?? '', privateKeyPem ?? '', ...authorities];
  if (all.some(({ length }) => length > longestPem)) throw new Error(`one has more than ${longestPem} characters`);
  if (certificatePem !== undefined && privateKeyPem !== undefined) {
    const read = readCertificatePair(certificatePem, privateKeyPem);
    if ('fault' in read) throw new Error(wordsOf(read));
  }
  return {
    pair: certificatePem === undefined || privateKeyPem === undefined ? undefined : { certificatePem, privateKeyPem },
    clientCa: authorities.length === 0 ? undefined : readAuthorities(authorities.join('\n')),
  };
}

function wordsOf(fault: CertificateFault): string {
  const fieldOf = (field: string) => (field === 'certificate_pem' ? 'the certificate' : 'the private key');
  switch (fault.fault) {
    case 'certificate-missing':
    case 'no-certificate':
      return 'there is no certificate in it';
    case 'key-missing':
      return 'the private key is empty';
    case 'key-encrypted':
      return 'the private key is encrypted; give it without a passphrase';
    case 'key-mismatch':
      return 'the private key does not belong to the certificate';
    case 'swapped':
      return 'there is a private key in the certificate';
    case 'not-pem':
      return `${fieldOf(fault.field)} is not PEM, which starts with "-----BEGIN"`;
    case 'wrong-type':
      return `${fieldOf(fault.field)} has a block of another type than ${fault.expected}`;
    case 'certificate-unreadable':
      return `the certificate cannot be read: ${fault.reason}`;
    case 'key-unreadable':
      return `the private key cannot be read: ${fault.reason}`;
    case 'chain-order':
      return `certificate number ${fault.position} is not the issuer of the one before it`;
    default:
      return `${fieldOf(fault.field)} has ${fault.bytes} bytes, where ${fault.limit} are allowed`;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Checks what was agreed on: terms may have changed since, and handshakes of a shared name may be those of another endpoint. */
function handshakeStep(terms: TlsTerms, strategy: Strategy, path: string): ConnectionStep {
  const { minVersion, maxVersion, asksForCertificate } = terms;
  const check = (visit: ConnectionVisit): UserError | undefined => {
    const { isTls13, certificate, accountId, services } = visit;
    if (isTls13 ? maxVersion === '1.2' : minVersion === '1.3') return new UserError(connectionPredatesRules);
    if (!asksForCertificate) return undefined;
    let clientCa: string;
    try {
      ({ clientCa = '' } = terms.read(accountId, services.secrets));
    } catch (error) {
      if (error instanceof NotDescribed) throw error;
      const isFault = error instanceof EvaluationFault;
      const reason = isFault ? error.message : 'a certificate of an authority cannot be used';
      return new UserError(policyValueFailed, { path, reason }).withDetail(isFault ? error.detail : undefined);
    }
    if (strategy === 'require-and-verify') return checkShownCertificate(clientCa, certificate);
    if (certificate?.ca !== clientCa) return new UserError(connectionPredatesRules);
    const isMissing = strategy === 'require-any' && certificate.subject === undefined;
    return isMissing ? new UserError(clientCertificateRequired) : undefined;
  };
  const holds = (visit: ConnectionVisit): number => {
    if (check(visit) !== undefined) return 0;
    const isVerified = asksForCertificate && strategy === 'require-and-verify';
    return isVerified ? (visit.certificate?.validUntilMs ?? 0) : Infinity;
  };
  const asks = asksForCertificate
    ? {
        by: 'the certificate of a visitor',
        needs: () => 'needs a certificate of an authority that the traffic policy names',
      }
    : { by: 'the version of TLS' };
  return connectionCheck('handshake', check, { holds, asks, terminatesTls: terms });
}
