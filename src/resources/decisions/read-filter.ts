import { invalidTime, wrongIdKind } from '../../api/errors.ts';
import type { DecisionFilter } from '../../decisions/messages.ts';
import { sourceRange } from '../../decisions/source-range.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { parseIp } from '../../lib/ip/address.ts';
import { cidrOfAddress, parseCidr } from '../../lib/ip/cidr.ts';
import { decisionPrefix as prefix } from '../decision-view.ts';
import { badDecisionFilter } from './errors.ts';

export const verdicts = ['allowed', 'warned', 'refused'] as const;

/** Reads the place that a page begins behind. */
export function readBefore(id: string | undefined): Pick<DecisionFilter, 'before' | 'beforeSuffix'> {
  if (id === undefined) return {};
  const [, number, beforeSuffix] = /^dec_(\d{17})([0-9a-f]{8})$/.exec(id) ?? [];
  if (number === undefined) throw new UserError(wrongIdKind, { field: 'before_id', id: quote(id), prefix });
  return { before: Number(number), beforeSuffix };
}

export function readTime(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw new UserError(invalidTime, { value: quote(text) });
  return ms;
}

export function readSource(text: string | undefined): DecisionFilter['source'] {
  if (text === undefined) return undefined;
  const address = text.includes('/') ? undefined : parseIp(text);
  if (address !== undefined) return sourceRange(cidrOfAddress(address));
  const parsed = parseCidr(text);
  if (parsed.ok) return sourceRange(parsed.cidr);
  throw bad('source', text, `it ${parsed.reason}`);
}

export function readVerdict(text: string | undefined): string | undefined {
  if (text === undefined || verdicts.some((each) => each === text)) return text;
  throw bad('verdict', text, `a verdict is one of ${verdicts.join(', ')}`);
}

export function readStatus(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d\d$/.test(text)) throw bad('status', text, 'a status is a number of three digits');
  return Number(text);
}

export function bad(name: string, value: string, reason: string): UserError {
  return new UserError(badDecisionFilter, { name, value: quote(value), reason });
}
