import { decodeText } from '../../api/body/body.ts';
import type { TextFields } from '../../api/body/text-fields.ts';
import { duplicateEntry } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import type { FlaggedCidr } from '../../lib/ip/cidr-list.ts';
import { Pace } from '../../lib/pace.ts';
import { sortInTurns } from '../../lib/sort-in-turns.ts';
import { textsOf } from '../configuration-kind.ts';
import type { Action, RuleEntry } from '../rule-entries.ts';
import { acceptCidr } from './cidr-rules.ts';
import { invalidRuleLine, tooManyRules } from './errors.ts';
import { flaggedCidr } from './read-rules.ts';

const ruleLimit = 100_000;

export interface WantedRule extends TextFields {
  readonly cidr: string;
  readonly action: Action;
}

/** The rules that a policy is to have. */
export interface RuleList {
  readonly byCidr: ReadonlyMap<string, WantedRule>;
  /** Rules sorted by the text of their CIDRs, in the order of the index: inserting them takes half the time. */
  readonly inOrder: readonly WantedRule[];
  /** Any of them has a description or metadata. */
  readonly hasTexts: boolean;
}

export function hasText({ description, metadata }: TextFields): boolean {
  return description !== undefined || metadata !== undefined;
}

/**
 * The rules in the form of the matcher, one by one. They are made from their texts when they are needed: a hundred thousand
 * objects that live on are work for the collector, which traffic waits for.
 */
export function* rangesOf({ inOrder }: RuleList): Generator<FlaggedCidr> {
  for (const { cidr, action } of inOrder) yield flaggedCidr(cidr, action);
}

/** Longest line; those of a list that somebody wrote have a hundredth of it. */
const lineLimitBytes = 16 * 1024;
const newline = 0x0a;

/** Parses a list of one CIDR a line, a few lines at a time. */
export async function parseRuleLines(bytes: Buffer, isAbandoned: () => boolean): Promise<readonly string[]> {
  const rules: string[] = [];
  const lineByCidr = new Map<string, number>();
  const pace = new Pace(isAbandoned);
  let line = 0;
  for (const part of lineParts(bytes)) {
    for (const text of decodeText(part).split('\n')) {
      line += 1;
      // A byte order mark counts as blank.
      const rule = (text.split('#', 1)[0] ?? '').trim();
      if (rule === '') continue;
      const cidr = cidrOfLine(rule, line);
      const earlier = lineByCidr.get(cidr);
      if (earlier !== undefined)
        throw new UserError(invalidRuleLine, { line, reason: `${cidr} is in line ${earlier} already.` });
      lineByCidr.set(cidr, line);
      rules.push(rule);
    }
    if (part.length > lineLimitBytes)
      throw new UserError(invalidRuleLine, { line, reason: `it is longer than ${lineLimitBytes} bytes. Shorten it.` });
    if (pace.isDue) await pace.giveWay();
  }
  return rules;
}

/** Parts of whole lines, without the line break between them; one that is longer than a line may be is the last. */
function* lineParts(bytes: Buffer): Generator<Buffer> {
  let from = 0;
  while (bytes.length - from > lineLimitBytes) {
    const end = bytes.lastIndexOf(newline, from + lineLimitBytes);
    if (end < from) {
      yield bytes.subarray(from, from + lineLimitBytes + 1);
      return;
    }
    yield bytes.subarray(from, end);
    from = end + 1;
  }
  yield bytes.subarray(from);
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

export async function acceptRules(inputs: readonly RuleEntry[]): Promise<RuleList> {
  if (inputs.length > ruleLimit) throw new UserError(tooManyRules, { limit: ruleLimit, count: inputs.length });
  const byCidr = new Map<string, WantedRule>();
  const pace = new Pace();
  let hasTexts = false;
  for (const input of inputs) {
    const rule = acceptRule(input);
    hasTexts ||= hasText(rule);
    if (byCidr.has(rule.cidr)) throw new UserError(duplicateEntry, { field: 'The list', id: rule.cidr });
    byCidr.set(rule.cidr, rule);
    if (pace.isDue) await pace.giveWay();
  }
  const inOrder: WantedRule[] = [];
  for (const cidr of await sortInTurns([...byCidr.keys()])) {
    // Every key was just put there.
    inOrder.push(byCidr.get(cidr)!);
    if (pace.isDue) await pace.giveWay();
  }
  return { byCidr, inOrder, hasTexts };
}

/** A text where that says everything. */
export function toEntry(rule: WantedRule): RuleEntry {
  const { cidr, action } = rule;
  const texts = textsOf(rule);
  if (Object.keys(texts).length > 0) return { cidr, ...(action === 'deny' ? { action } : {}), ...texts };
  return action === 'deny' ? `!${cidr}` : cidr;
}

function acceptRule(input: RuleEntry): WantedRule {
  if (typeof input !== 'string') return { ...input, ...acceptRange(input.cidr, input.action ?? 'allow') };
  return input.startsWith('!') ? acceptRange(input.slice(1).trim(), 'deny') : acceptRange(input, 'allow');
}

function acceptRange(text: string, action: Action): WantedRule {
  return { cidr: acceptCidr(text).canonical, action };
}
