import type { X509Certificate } from 'node:crypto';

import { readValidity } from '../../../lib/certificate-validity.ts';
import type { Validity } from '../../../lib/certificate-validity.ts';
import { listOf, string, timestamp } from '../../../lib/cel/types.ts';
import type { Timestamp } from '../../../lib/cel/values.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';
import { timestampOf } from './connection.ts';
import type { Variables } from './variable.ts';

const prefix = 'conn.tls.client';

/** Attributes of names, by the short name that OpenSSL has for them. */
const attributes: Readonly<Record<string, string>> = {
  country: 'C',
  locality: 'L',
  organization: 'O',
  organizational_unit: 'OU',
  postal_code: 'postalCode',
  province: 'ST',
  street_address: 'street',
};
const kindsOfNames: Readonly<Record<string, string>> = {
  dns_names: 'DNS',
  email_addresses: 'email',
  ip_addresses: 'IP Address',
  uris: 'URI',
};

type Read<Fact> = (certificate: X509Certificate) => Fact;

/**
 * A fact of the certificate, read once in a visit: to write its names out takes long. Undefined where the client has shown none, or
 * one that no authority has signed: what that says of itself, anybody can write.
 */
function of<Fact>(label: string, read: Read<Fact>): (visit: PolicyVisit) => Fact | undefined {
  return (visit) => {
    const certificate = shownTo(visit);
    if (certificate === undefined || visit.facts.tls?.isClientVerified !== true) return undefined;
    return visit.cached(`${prefix}.${label}`, certificate, () => read(certificate));
  };
}

function shownTo(visit: PolicyVisit): X509Certificate | undefined {
  return visit.cached(prefix, visit.engine, () => visit.facts.tls?.clientCertificate());
}

function nameVariables(field: 'subject' | 'issuer'): Variables {
  const name = `${prefix}.${field}`;
  const valuesOf = (certificate: X509Certificate, attribute: string): readonly string[] =>
    pairsOf(certificate[field]).flatMap(([key, value]) => (key === attribute ? [value] : []));
  return {
    [name]: { type: string, get: of(field, (certificate) => textOfName(certificate[field])) },
    [`${name}.common_name`]: {
      type: string,
      get: of(`${field}.common_name`, (certificate) => valuesOf(certificate, 'CN')[0] ?? ''),
    },
    ...Object.fromEntries(
      Object.entries(attributes).map(([key, attribute]) => [
        `${name}.${key}`,
        { type: listOf(string), get: of(`${field}.${key}`, (certificate) => valuesOf(certificate, attribute)) },
      ]),
    ),
  };
}

/** A line for each attribute, the most general one first. */
function pairsOf(name: string | undefined): readonly (readonly [key: string, value: string])[] {
  return (name ?? '').split('\n').flatMap((line) => {
    const mark = line.indexOf('=');
    return mark < 0 ? [] : [[line.slice(0, mark), line.slice(mark + 1)] as const];
  });
}

/** As RFC 2253 writes names. */
function textOfName(name: string | undefined): string {
  return pairsOf(name)
    .toReversed()
    .map(([key, value]) => `${key}=${value.replaceAll(/[,+"\\<>;]/g, String.raw`\$&`)}`)
    .join(',');
}

/** Names of one kind. Node puts those into quotes that have other characters than usual. */
function namesOf(text: string | undefined, wanted: string): readonly string[] {
  const all = text ?? '';
  const names: string[] = [];
  for (let at = 0; at < all.length;) {
    const colon = all.indexOf(':', at);
    if (colon < 0) break;
    const end = endOfName(all, colon + 1);
    if (all.slice(at, colon) === wanted) names.push(unquoted(all.slice(colon + 1, end)));
    // A comma and a blank follow.
    at = end + 2;
  }
  return names;
}

function endOfName(text: string, start: number): number {
  if (text[start] !== '"') {
    const comma = text.indexOf(', ', start);
    return comma < 0 ? text.length : comma;
  }
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function unquoted(value: string): string {
  if (!value.startsWith('"')) return value;
  try {
    return String(JSON.parse(value));
  } catch {
    return value;
  }
}

/** Dates that nobody can read are none. */
function dateOf(certificate: X509Certificate, which: keyof Validity): Timestamp | undefined {
  try {
    return timestampOf(readValidity(certificate)[which].getTime(), true);
  } catch {
    return undefined;
  }
}

export const clientCertificateVariables: Variables = {
  ...nameVariables('subject'),
  ...nameVariables('issuer'),
  [`${prefix}.san`]: { type: string, get: of('san', ({ subjectAltName = '' }) => subjectAltName) },
  ...Object.fromEntries(
    Object.entries(kindsOfNames).map(([key, kind]) => [
      `${prefix}.san.${key}`,
      { type: listOf(string), get: of(`san.${key}`, ({ subjectAltName }) => namesOf(subjectAltName, kind)) },
    ]),
  ),
  [`${prefix}.serial_number`]: {
    type: string,
    get: of('serial_number', ({ serialNumber }) => serialNumber.toLowerCase()),
  },
  // The whole certificate can be compared with one that is known, whoever has signed it.
  [`${prefix}.pem`]: {
    type: string,
    get(visit) {
      const certificate = shownTo(visit);
      return certificate && visit.cached(`${prefix}.pem`, certificate, () => certificate.toString());
    },
  },
  [`${prefix}.validity.not_before`]: {
    type: timestamp,
    get: of('not_before', (certificate) => dateOf(certificate, 'notBefore')),
  },
  [`${prefix}.validity.not_after`]: {
    type: timestamp,
    get: of('not_after', (certificate) => dateOf(certificate, 'notAfter')),
  },
};
