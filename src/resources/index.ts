import { apiKeysResource } from './api-keys/index.ts';
import { ipPoliciesResource } from './ip-policies/index.ts';
import { ipPolicyRulesResource } from './ip-policy-rules/index.ts';
import { ipRestrictionsResource } from './ip-restrictions/index.ts';
import { principalsResource } from './principals/index.ts';
import type { Resource } from './resource.ts';

/** Every resource. A new one is one folder and one line here. */
export const resources: readonly Resource[] = [
  principalsResource,
  apiKeysResource,
  ipPoliciesResource,
  ipPolicyRulesResource,
  ipRestrictionsResource,
];
