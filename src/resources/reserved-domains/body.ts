import { UserError } from '../../errors/user-error.ts';
import * as errors from './errors.ts';
import type { ManagementPolicy, ReservedDomain } from './table.ts';

interface GivenPolicy {
  readonly authority?: string;
  readonly private_key_type?: string;
}

interface Body {
  readonly certificate_id?: string;
  readonly certificate_management_policy?: GivenPolicy;
  readonly resolves_to?: readonly { readonly value: string }[];
}

/** Throws for what the schema cannot express. Terraform repeats the certificate that a domain has beside a policy. */
export function checkBody(
  { certificate_id = '', certificate_management_policy: policy, resolves_to: places = [] }: Body,
  previous?: ReservedDomain,
): void {
  if (policy !== undefined && certificate_id !== '' && certificate_id !== previous?.certificate_id) {
    throw new UserError(errors.certificateAndPolicy);
  }
  if (places.length > 1 || places.some(({ value }) => value !== 'global')) {
    throw new UserError(errors.resolvesToNotOffered);
  }
}

export function withDefaults(policy: GivenPolicy | undefined): ManagementPolicy | undefined {
  if (policy === undefined) return undefined;
  return { authority: 'letsencrypt', private_key_type: policy.private_key_type === 'rsa' ? 'rsa' : 'ecdsa' };
}

/** A certificate of one's own and a policy replace each other; what the body leaves out stays. */
export function changedCertificate(
  { certificate_id: given, certificate_management_policy: policy }: Body,
  previous: ReservedDomain,
): { readonly certificate_id: string | undefined; readonly policy: ManagementPolicy | undefined } {
  const { certificate_id, certificate_management_policy } = previous;
  if (policy === undefined) {
    if (given) return { certificate_id: given, policy: undefined };
    const isDetached = given === '' && certificate_management_policy === undefined;
    return { certificate_id: isDetached ? undefined : certificate_id, policy: certificate_management_policy };
  }
  // One that was uploaded is let go; one that was issued serves until the next is there.
  const kept = certificate_management_policy === undefined ? undefined : certificate_id;
  return { certificate_id: kept, policy: withDefaults(policy) };
}
