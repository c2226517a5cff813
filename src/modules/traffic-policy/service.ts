/** What others may use of policies beside the module. */
export { toBytes } from './actions/header-texts.ts';
export { toFormerPaths, toPhases } from './document/former-policy.ts';
export { checkTarget } from './document/check-target.ts';
export { acceptPolicy, preparePolicy, readStoredPolicy } from './document/known-policies.ts';
export { guardsOfPolicy } from './document/guards-of-policy.ts';
export { ipPolicyIdsIn } from './document/read-policy.ts';
export type { Policy } from './document/read-policy.ts';
export type { DescribedRequest } from './trial/described-visit.ts';
export { tryPolicy } from './trial/try-policy.ts';
export type { Trial } from './trial/try-policy.ts';
export { toText } from './variables/header-values.ts';
