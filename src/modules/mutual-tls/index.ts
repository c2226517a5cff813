import { X509Certificate } from 'node:crypto';

import { Type } from 'typebox';
import type { Static } from 'typebox';

import { UserError } from '../../errors/user-error.ts';
import { PemError, readPemBlocks, writePem } from '../../lib/pem.ts';
import type { PemBlock } from '../../lib/pem.ts';
import { enabledInput, enabledView } from '../module.ts';
import type { EdgeModule } from '../module.ts';
import * as errors from './errors.ts';

const Input = Type.Object(
  { enabled: enabledInput, ca_pem: Type.String() },
  { $id: 'MutualTlsModuleReplace', additionalProperties: false },
);

const View = Type.Object(
  { enabled: enabledView, ca_pem: Type.String() },
  { $id: 'MutualTlsModule', additionalProperties: false },
);

interface MutualTlsSettings {
  readonly enabled: boolean;
  readonly ca_pem: string;
}

/** The names of all are sent in each handshake. */
const maxAuthorities = 16;

/** Asks visitors for a certificate by one of the given authorities. */
export const mutualTls: EdgeModule<Static<typeof Input>, MutualTlsSettings> = {
  name: 'mutual_tls',
  title: 'Mutual TLS',
  targets: ['agent_endpoint'],
  input: Input,
  view: View,
  errors: Object.values(errors),
  accept: ({ enabled = true, ca_pem }) => ({ enabled, ca_pem: readAuthorities(ca_pem) }),
  present: (settings) => settings,
  build: ({ ca_pem }) => ({ clientCa: ca_pem }),
};

/** Returns the certificates alone, without notes between them. */
function readAuthorities(pem: string): string {
  const blocks = readBlocks(pem);
  if (blocks.length === 0) throw refuse('there is none');
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
  return new UserError(errors.invalidClientCa, { reason, limit: maxAuthorities });
}
