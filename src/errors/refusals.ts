import {
  clientCertificateRefused,
  clientCertificateRequired,
  credentialsRequired,
  refusedByModule,
  refusedByRestriction,
  tooManyWrongPasswords,
  userAgentRefused,
} from './shared.ts';
import type { ErrorDefinition } from './user-error.ts';

/** Errors by which the gateway refuses a client: metrics count such requests as refused, not as failed. */
export const refusals: readonly ErrorDefinition[] = [
  refusedByModule,
  refusedByRestriction,
  credentialsRequired,
  tooManyWrongPasswords,
  userAgentRefused,
  clientCertificateRequired,
  clientCertificateRefused,
];
