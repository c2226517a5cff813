import { Type } from 'typebox';

import { decodeText, mediaType, parseBody } from '../../api/body.ts';
import { textFields } from '../../api/text-fields.ts';
import type { TextFields } from '../../api/text-fields.ts';
import { duplicateEntry } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import type { FlaggedCidr } from '../../lib/ip/cidr-list.ts';
import { acceptCidr, flagOf } from './cidr-rules.ts';
import { invalidRuleLine, tooManyRules } from './errors.ts';
import { actions } from './table.ts';
import type { Action } from './table.ts';

const ruleLimit = 100_000;

export interface WantedRule extends TextFields {
  readonly cidr: string;
  readonly action: Action;
  /** CIDR and action in the form of the matcher. */
  readonly range: FlaggedCidr;
}

/** The rules that a policy is to have. */
export interface RuleList {
  readonly byCidr: ReadonlyMap<string, WantedRule>;
  /** Rules sorted by the text of their CIDRs, in the order of the index: inserting them takes half the time. */
  readonly inOrder: readonly WantedRule[];
}

export const ReplaceRules = Type.Array(
  Type.Union([
    Type.String({ description: 'A CIDR; "!" before it means deny.', examples: ['203.0.113.0/24'] }),
    Type.Object(
      {
        cidr: Type.String({ examples: ['203.0.113.0/24'] }),
        action: Type.Optional(
          Type.Union(
            actions.map((each) => Type.Literal(each)),
            { description: 'Default allow.', default: 'allow' },
          ),
        ),
        ...textFields,
      },
      { additionalProperties: false },
    ),
  ]),
  { description: 'All rules that the policy has from now on.' },
);

export function parseRuleList(contentType: string | undefined, encoding: string | undefined, bytes: Buffer): unknown {
  const isText = contentType !== undefined && mediaType(contentType) === 'text/plain' && encoding === undefined;
  if (!isText) return parseBody(contentType, encoding, bytes);
  const lineByCidr = new Map<string, number>();
  return decodeText(bytes)
    .split(/\r?\n/)
    .flatMap((text, at) => {
      const rule = (text.split('#', 1)[0] ?? '').trim();
      if (rule === '') return [];
      const line = at + 1;
      const cidr = cidrOfLine(rule, line);
      const earlier = lineByCidr.get(cidr);
      if (earlier !== undefined)
        throw new UserError(invalidRuleLine, { line, reason: `${cidr} is in line ${earlier} already.` });
      lineByCidr.set(cidr, line);
      return [rule];
    });
}

/** Validates the rule while the number of its line is known. */
function cidrOfLine(rule: string, line: number): string {
  try {
    return acceptRule(rule).cidr;
  } catch (error) {
    if (error instanceof UserError) throw new UserError(invalidRuleLine, { line, reason: error.message });
    throw error;
  }
}

type RuleInput = string | (TextFields & { readonly cidr: string; readonly action?: Action });

export function acceptRules(inputs: readonly RuleInput[]): RuleList {
  if (inputs.length > ruleLimit) throw new UserError(tooManyRules, { limit: ruleLimit, count: inputs.length });
  const byCidr = new Map<string, WantedRule>();
  for (const input of inputs) {
    const rule = acceptRule(input);
    if (byCidr.has(rule.cidr)) throw new UserError(duplicateEntry, { field: 'The list', id: rule.cidr });
    byCidr.set(rule.cidr, rule);
  }
  // Every key was just put there.
  const inOrder = [...byCidr.keys()].toSorted().map((cidr) => byCidr.get(cidr)!);
  return { byCidr, inOrder };
}

function acceptRule(input: RuleInput): WantedRule {
  if (typeof input !== 'string') return { ...input, ...acceptRange(input.cidr, input.action ?? 'allow') };
  return input.startsWith('!') ? acceptRange(input.slice(1).trim(), 'deny') : acceptRange(input, 'allow');
}

function acceptRange(text: string, action: Action): WantedRule {
  const { cidr, canonical } = acceptCidr(text);
  return { cidr: canonical, action, range: { cidr, flags: flagOf(action) } };
}
