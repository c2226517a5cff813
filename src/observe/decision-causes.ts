import { causeOf, refusals } from '../errors/refusals.ts';
import type { RefusalCause } from '../errors/refusals.ts';
import { refusedByPolicy } from '../errors/shared.ts';

/** Causes by which kept decisions are counted. `quota`: a bound of the account or the installation was reached. */
export const decisionCauses = [
  'rule',
  'policy',
  'rate',
  'certificate',
  'password',
  'token',
  'login',
  'quota',
  'other',
] as const;
export type DecisionCause = (typeof decisionCauses)[number];

const names: Readonly<Record<RefusalCause, DecisionCause>> = {
  rule: 'rule',
  rate: 'rate',
  certificate: 'certificate',
  password: 'password',
  token: 'token',
  login: 'login',
  signature: 'token',
  user_agent: 'rule',
  other: 'other',
};

/** Errors for want of a place: connections, requests that wait, bodies that are held. The gateway defines most of them. */
const quotaCodes = [
  20114, 20115, 20116, 20117, 20118, 20119, 20120, 20121, 20126, 20127, 20140, 20150, 20342, 20367, 20390,
];

/** Causes by the number of an error. Other errors are faults, not refusals. */
export const causesByCode: ReadonlyMap<number, DecisionCause> = new Map([
  ...refusals.map(({ code }) => [code, names[causeOf(code)]] as const),
  [refusedByPolicy.code, 'policy'] as const,
  ...quotaCodes.map((code) => [code, 'quota'] as const),
]);

/** Causes by the module or action that refused a connection: these have no number. */
export const causesByModule: ReadonlyMap<string, DecisionCause> = new Map([
  ['ip_restriction', 'rule'],
  ['restrict-ips', 'rule'],
  ['rate_limit', 'rate'],
  ['rate-limit', 'rate'],
  ['mutual_tls', 'certificate'],
  ['deny', 'policy'],
  ['policy', 'policy'],
  ['traffic_policy', 'policy'],
]);
