import { formatCidr } from '../../../lib/ip/cidr.ts';
import type { Policy } from './read-policy.ts';

/** Addresses that an action lets in: ranges and IP policies decide together. */
export interface Restriction {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly policyIds: readonly string[];
}

/** By what a policy decides who comes in, as far as that can be told without a visitor. */
export interface PolicyGuards {
  /** Restrictions that every visitor meets. */
  readonly restrictions: readonly Restriction[];
  /** IP policies that decide along with ranges, or only for some visitors. */
  readonly mixedPolicyIds: readonly string[];
  /** True: every visitor must show something, or is refused. */
  readonly asksEverybody: boolean;
  /** True: every visitor is answered in place of what is behind it. */
  readonly answersEverybody: boolean;
  /** True: it may keep somebody out, and for whom cannot be told. */
  readonly isUnknown: boolean;
}

/** Actions after which those behind them are not met. */
const leaving = new Set(['custom-response', 'redirect', 'forward-internal']);
/** Actions that answer in place of what is behind them. */
const answering = new Set(['custom-response', 'redirect']);
/** Actions that leave the decision to something that is not looked at. */
const unknowable = new Set(['forward-internal', 'terminate-tls']);
/** The action that guards, and keeps nobody out for good. */
const passing = 'rate-limit';

export function guardsOfPolicy({ rules }: Policy): PolicyGuards {
  const restrictions: Restriction[] = [];
  const mixed: string[] = [];
  let asksEverybody = false;
  let answersEverybody = false;
  let isUnknown = false;
  let mayHaveLeft = false;
  for (const { conditions, actions } of [...rules.on_tcp_connect, ...rules.on_http_request]) {
    for (const { type, guards, built } of actions) {
      const isMet = conditions.length === 0 && !mayHaveLeft;
      if (type === 'restrict-ips') {
        const { ranges, ipPolicyIds: policyIds = [] } = built.facts ?? {};
        const isSole =
          ranges !== undefined && (policyIds.length === 0 || ranges.allow.length + ranges.deny.length === 0);
        if (isSole && isMet && guards)
          restrictions.push({ allow: ranges.allow.map(formatCidr), deny: ranges.deny.map(formatCidr), policyIds });
        else {
          mixed.push(...policyIds);
          isUnknown ||= guards;
        }
      } else if (guards && type !== passing) {
        if (isMet) asksEverybody = true;
        else isUnknown = true;
      } else if (answering.has(type)) {
        // Whom an expression sends elsewhere, such as to a login, does not get what others get.
        if (isMet) answersEverybody = true;
        else isUnknown = true;
      }
      if (unknowable.has(type)) isUnknown = true;
      if (leaving.has(type)) mayHaveLeft = true;
    }
  }
  const isAnswerDecided = rules.on_http_response.some(({ guards }) => guards);
  return {
    restrictions,
    mixedPolicyIds: mixed,
    asksEverybody,
    answersEverybody,
    isUnknown: isUnknown || isAnswerDecided,
  };
}
