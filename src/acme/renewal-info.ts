import type { X509Certificate } from 'node:crypto';

import { findExtension, onlyElement, readDer } from '../lib/der.ts';
import { readAnswer } from './read-answer.ts';

/** The time within which an authority asks for the renewal of a certificate (RFC 9773). Milliseconds since 1970. */
export interface RenewalWindow {
  readonly startMs: number;
  readonly endMs: number;
}

export interface RenewalInfo {
  readonly window: RenewalWindow;
  /** The authority asks to be left alone for so long; 0 where it does not say. */
  readonly askedWaitMs: number;
}

const requestMs = 10_000;
const authorityKeyIdentifierOid = '2.5.29.35';
const keyIdentifierTag = 0x80;

/** The name by which an authority knows the certificate (RFC 9773, 4.1); undefined for one without a key identifier. */
export function renewalIdOf(certificate: X509Certificate): string | undefined {
  const value = findExtension(certificate, authorityKeyIdentifierOid);
  const parts = value === undefined ? [] : readDer(onlyElement(readDer(value)).content);
  const keyId = parts.find(({ tag }) => tag === keyIdentifierTag)?.content;
  if (keyId === undefined) return undefined;
  // The content of a DER integer: a serial number with its top bit set has a zero before it.
  const hex = certificate.serialNumber.length % 2 === 0 ? certificate.serialNumber : `0${certificate.serialNumber}`;
  const serial = Buffer.from(/^[89a-f]/i.test(hex) ? `00${hex}` : hex, 'hex');
  return `${keyId.toString('base64url')}.${serial.toString('base64url')}`;
}

/** The URL for questions about renewals; undefined if the authority does not offer it. */
export async function findRenewalUrl(directory: string): Promise<string | undefined> {
  const { body } = await ask(directory);
  const url = 'renewalInfo' in body ? body.renewalInfo : undefined;
  return typeof url === 'string' && URL.canParse(url) ? url : undefined;
}

/** Rejects if the authority names no window that makes sense. */
export async function askRenewalInfo(renewalUrl: string, renewalId: string): Promise<RenewalInfo> {
  const { body, askedWaitMs } = await ask(`${renewalUrl.replace(/\/$/, '')}/${renewalId}`);
  const suggested = 'suggestedWindow' in body ? body.suggestedWindow : undefined;
  if (typeof suggested !== 'object' || suggested === null || !('start' in suggested) || !('end' in suggested)) {
    throw new Error('it names no window for the renewal');
  }
  const window = { startMs: Date.parse(String(suggested.start)), endMs: Date.parse(String(suggested.end)) };
  if (!(window.startMs < window.endMs)) throw new Error('the window that it names for the renewal has no length');
  return { window, askedWaitMs };
}

async function ask(url: string): Promise<{ readonly body: object; readonly askedWaitMs: number }> {
  const response = await fetch(url, { signal: AbortSignal.timeout(requestMs) });
  const body: unknown = JSON.parse(await readAnswer(response));
  if (!response.ok || typeof body !== 'object' || body === null) throw new Error(`it answers with ${response.status}`);
  return { body, askedWaitMs: waitAskedFor(response.headers) };
}

/** Milliseconds that the authority asks to wait; 0 where it does not say. */
export function waitAskedFor(headers: Headers): number {
  const text = headers.get('retry-after') ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) && ms > 0 ? ms : 0;
}
