import { X509Certificate } from 'node:crypto';

import { UserError } from '../errors/user-error.ts';
import { PemError, readPemBlocks, writePem } from '../lib/pem.ts';
import type { PemBlock } from '../lib/pem.ts';
import { invalidClientCa } from './client-authority-errors.ts';

/** The names of all are sent in each handshake. */
export const maxAuthorities = 16;

/** Returns the certificates alone, without notes between them. Throws `UserError` for what is not one of an authority. */
export function readAuthorities(pem: string): string {
  const blocks = readBlocks(pem);
  if (blocks.length === 0)
    throw refuse('the text has none, which would begin with a line "-----BEGIN CERTIFICATE-----"');
  if (blocks.length > maxAuthorities) throw refuse(`there are ${blocks.length}`);
  for (const [at, block] of blocks.entries()) checkAuthority(block, at + 1);
  return blocks.map(({ label, bytes }) => writePem(label, bytes)).join('');
}

function readBlocks(pem: string): readonly PemBlock[] {
  try {
    return readPemBlocks(pem);
  } catch (error) {
    if (error instanceof PemError) throw refuse(error.message);
    throw error;
  }
}

function checkAuthority({ label, bytes }: PemBlock, position: number): void {
  if (label !== 'CERTIFICATE') throw refuse(`block ${position} is not a certificate`);
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(bytes);
  } catch {
    throw refuse(`certificate ${position} cannot be read`);
  }
  // A certificate that may not sign others would admit its own holder alone, or nobody.
  if (!certificate.ca) throw refuse(`certificate ${position} is not one of an authority`);
}

function refuse(reason: string): UserError {
  return new UserError(invalidClientCa, { reason, limit: maxAuthorities });
}
