import {
  clientCertificateRefused,
  clientCertificateRequired,
  credentialsRequired,
  rateLimited,
  refusedByModule,
  refusedByRestriction,
  signInRequired,
  tokenRefused,
  tokenRequired,
  tooManyWrongPasswords,
  userAgentRefused,
  webhookRefused,
  webhookRefusedUnauthorized,
} from './shared.ts';
import type { ErrorDefinition } from './user-error.ts';

/** Errors by which the gateway refuses a client: metrics count such requests as refused, not as failed. */
export const refusals: readonly ErrorDefinition[] = [
  refusedByModule,
  refusedByRestriction,
  credentialsRequired,
  signInRequired,
  tokenRefused,
  tokenRequired,
  tooManyWrongPasswords,
  rateLimited,
  userAgentRefused,
  webhookRefused,
  webhookRefusedUnauthorized,
  clientCertificateRequired,
  clientCertificateRefused,
];
