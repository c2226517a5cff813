import type { X509Certificate } from 'node:crypto';

import { derTag, onlyElement, readDer } from './der.ts';
import type { DerNode } from './der.ts';

/** The time in which a certificate is valid, both ends included. */
export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** Context tag [0] of a certificate's signed part, which may be missing. */
const versionTag = 0xa0;
const utcTime = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/;
const generalizedTime = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/;

/**
 * Reads the dates from the certificate's own bytes. Throws a `RangeError` unless both are written as RFC 5280 prescribes
 * and are real dates. Node's `validFromDate` and `validToDate` hold uninitialised memory where OpenSSL cannot read a date.
 */
export function readValidity(certificate: Pick<X509Certificate, 'raw'>): Validity {
  const [toBeSigned] = readDer(onlyElement(readDer(certificate.raw)).content);
  const fields = readDer(toBeSigned?.content ?? Buffer.alloc(0)).filter(({ tag }) => tag !== versionTag);
  // Serial number, signature algorithm and issuer come before it.
  const validity = fields[3];
  const [notBefore, notAfter, ...more] = validity?.tag === derTag.sequence ? readDer(validity.content) : [];
  if (notBefore === undefined || notAfter === undefined || more.length > 0) throw new RangeError('not two dates');
  return { notBefore: readTime(notBefore), notAfter: readTime(notAfter) };
}

function readTime({ tag, content }: DerNode): Date {
  const form = tag === derTag.utcTime ? utcTime : tag === derTag.generalizedTime ? generalizedTime : undefined;
  const parts = form?.exec(content.toString('latin1'))?.slice(1).map(Number);
  if (parts === undefined) throw new RangeError('not a date of X.509');
  const [year = 0, month = 0, ...rest] = parts;
  const fullYear = tag === derTag.generalizedTime ? year : year < 50 ? 2000 + year : 1900 + year;
  const wanted = [fullYear, month, ...rest];
  // `Date.UTC` takes years below 100 for those of the twentieth century, and days beyond the end of a month.
  const time = new Date(0);
  time.setUTCFullYear(fullYear, month - 1, rest[0]);
  time.setUTCHours(rest[1] ?? 0, rest[2], rest[3]);
  const digits = time.toISOString().slice(0, 19).split(/\D/).map(Number);
  if (digits.join() !== wanted.join()) throw new RangeError('not a date of the calendar');
  return time;
}
