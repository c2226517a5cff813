import {
  clientCertificateRefused,
  clientCertificateRequired,
  credentialsRequired,
  loginFailed,
  rateLimited,
  refusedByModule,
  refusedByPolicy,
  refusedByRestriction,
  signInRequired,
  tokenRefused,
  tokenRequired,
  tooManyWrongPasswords,
  userAgentRefused,
  visitorRefused,
  webhookRefused,
  webhookRefusedUnauthorized,
} from './shared.ts';
import type { ErrorDefinition } from './user-error.ts';

/** Causes of refusals. `other`: a fault of the request itself, or a path that leads nowhere. */
export const refusalCauses = [
  'rule',
  'rate',
  'certificate',
  'password',
  'token',
  'login',
  'signature',
  'user_agent',
  'other',
] as const;
export type RefusalCause = (typeof refusalCauses)[number];

const byCause: Readonly<Partial<Record<RefusalCause, readonly ErrorDefinition[]>>> = {
  rule: [refusedByModule, refusedByPolicy, refusedByRestriction],
  rate: [rateLimited],
  certificate: [clientCertificateRequired, clientCertificateRefused],
  password: [credentialsRequired, tooManyWrongPasswords],
  token: [tokenRefused, tokenRequired],
  login: [signInRequired, visitorRefused, loginFailed],
  signature: [webhookRefused, webhookRefusedUnauthorized],
  user_agent: [userAgentRefused],
};

/** Errors by which the gateway refuses a client: metrics count such requests as refused, not as failed. */
export const refusals: readonly ErrorDefinition[] = Object.values(byCause).flat();

const causes = new Map(
  refusalCauses.flatMap((cause) => (byCause[cause] ?? []).map(({ code }) => [code, cause] as const)),
);

export function causeOf(code: number): RefusalCause {
  return causes.get(code) ?? 'other';
}
