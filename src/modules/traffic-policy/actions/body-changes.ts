import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { heldBodiesInUse } from '../../../errors/shared.ts';
import { retryLater, UserError } from '../../../errors/user-error.ts';
import { Budget, EvaluationFault } from '../../../lib/cel/run.ts';
import { FairTurns, TooMuchWaits } from '../../../lib/fair-turns.ts';
import type { Match, Regex } from '../../../lib/regex/regex.ts';
import type { ConfigReader } from '../document/config-reader.ts';
import type { Piece, Template } from '../document/template.ts';
import { constantTemplate } from '../document/template.ts';
import { invalidConfig, invalidValue } from '../errors.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';
import { compileNow, cutGroups, groupOf, patternOf, regexOf } from './patterns.ts';

/** Most bytes of a body that is changed, and of what it becomes. */
export const longestBody = 524_288;
const longestResult = longestBody;
const tooLong = `the body would be longer than ${longestResult} bytes`;
const mostReplacements = 20;
/** Texts and groups of what is put in place of one match. */
const mostParts = 100;
const mostMatches = 10_000;
const tooManyParts = `it has more than ${mostParts} texts and groups; write less in it`;
/** Work for one body, some 0.4 s of it by turns with others, and of one turn. */
const unitsOfBody = 16_000_000;
const unitsOfTurn = 60_000;
/** Matches that later expressions read. */
const mostShown = 50;
const longestShown = 1024;

/** Bodies that are changed at the same time in this process. */
const turns = new FairTurns({ atOnce: 4, ofOwner: 2, waiting: 50 });

/** Headers that are true only of the bytes as they came, in lower case. */
export const headersOfBytes: ReadonlySet<string> = new Set([
  'accept-ranges',
  'content-digest',
  'content-md5',
  'digest',
  'repr-digest',
]);

/** A place of a body that was replaced. */
export interface Replaced {
  /** Index of the replacement. */
  readonly index: number;
  readonly text: string;
}

interface Replacement {
  readonly from: Template;
  /** Undefined: it has expressions. */
  readonly fixed: Regex | undefined;
  readonly to: Template;
}

/** A replacement with its expressions filled in, for one visit. */
interface ReadyReplacement {
  readonly regex: Regex;
  readonly to: readonly ToPart[];
}

/** A text, or a group of the match. */
type ToPart = { readonly text: string } | { readonly group: string };

/** Changes one body. */
export type ChangeBody = (body: Buffer) => Promise<{ readonly body: Buffer; readonly replaced: readonly Replaced[] }>;

/** Reads `replacements`. Returns what makes them ready for a visit, which may throw `EvaluationFault`. */
export function readReplacements(config: ConfigReader): (visit: PolicyVisit) => ChangeBody {
  const given = config.required('replacements', config.objects('replacements', mostReplacements));
  if (given.length === 0)
    throw config.fault(invalidConfig, 'replacements', 'there is none; give at least one with from');
  const replacements = given.map((each): Replacement => {
    const from = each.required('from', each.template('from'));
    const to = each.template('to') ?? constantTemplate('');
    const fixed = from.constant === undefined ? undefined : regexOf(from.constant, each);
    if (to.constant !== undefined && partsOf([{ text: to.constant, isValue: false }]) === undefined)
      throw each.fault(invalidValue, 'to', tooManyParts);
    each.finish();
    return { from, fixed, to };
  });
  return (visit) => {
    const ready = replacements.map(({ from, fixed, to }) => ({
      regex: fixed ?? compileNow(patternOf(from, visit), visit),
      to: filledParts(to, visit),
    }));
    return (body) => changeInTurns(visit.engine.accountId, ready, body);
  };
}

async function changeInTurns(
  owner: string,
  replacements: readonly ReadyReplacement[],
  body: Buffer,
): ReturnType<ChangeBody> {
  try {
    return await turns.run(owner, async () => {
      const change = changing(replacements, body);
      for (;;) {
        const { done, value } = change.next();
        if (done === true) return value;
        await nextTurn();
      }
    });
  } catch (error) {
    if (error instanceof TooMuchWaits) throw new UserError(heldBodiesInUse, retryLater);
    throw error;
  }
}

/** Changes a body; whoever drives it may rest after each step. Throws `EvaluationFault`. */
function* changing(
  replacements: readonly ReadyReplacement[],
  body: Buffer,
): Generator<undefined, Awaited<ReturnType<ChangeBody>>> {
  const encoding = isUtf8(body) ? 'utf8' : 'latin1';
  const work = new Budget(unitsOfBody);
  const replaced: Replaced[] = [];
  let text = body.toString(encoding);
  for (const [index, { regex, to }] of replacements.entries())
    text = yield* replacing(text, regex, to, work, (found) => {
      if (replaced.length < mostShown) replaced.push({ index, text: found.slice(0, longestShown) });
    });
  // Other bytes than those of UTF-8 stand for themselves, and what was put between them is UTF-8.
  const bytes =
    encoding === 'utf8'
      ? Buffer.from(text, 'utf8')
      : Buffer.from(
          text.replaceAll(/[^\0-\xff]+/g, (part) => Buffer.from(part, 'utf8').toString('latin1')),
          'latin1',
        );
  if (replaced.length > 0 && bytes.length > longestResult) throw new EvaluationFault(tooLong);
  return { body: bytes, replaced };
}

function* replacing(
  text: string,
  regex: Regex,
  to: readonly ToPart[],
  work: Budget,
  note: (found: string) => void,
): Generator<undefined, string> {
  const parts: string[] = [];
  let [from, end, count, length, restedAt] = [0, 0, 0, 0, work.left];
  let before = -1;
  while (from <= text.length) {
    const match: Match | undefined = yield* regex.search(text, from, work.spend, unitsOfTurn);
    if (match === undefined) break;
    const isEmpty = match.start === match.end;
    // An empty match right behind another one is a part of it.
    if (!isEmpty || match.start !== before) {
      if (++count > mostMatches) throw new EvaluationFault(`the body has more than ${mostMatches} matches`);
      const filled = fill(to, match, regex, work);
      note(match.groups[0] ?? '');
      parts.push(text.slice(end, match.start), filled);
      length += match.start - end + filled.length;
      if (length > longestResult) throw new EvaluationFault(tooLong);
      end = match.end;
      before = match.end;
    }
    from = isEmpty ? match.end + widthAt(text, match.end) : match.end;
    if (restedAt - work.left < unitsOfTurn) continue;
    restedAt = work.left;
    yield undefined;
  }
  if (count === 0) return text;
  if (length + text.length - end > longestResult) throw new EvaluationFault(tooLong);
  parts.push(text.slice(end));
  return parts.join('');
}

/** Undefined: there are too many. */
function partsOf(pieces: readonly Piece[]): readonly ToPart[] | undefined {
  const parts: ToPart[] = [];
  for (const { text, isValue } of pieces) {
    if (isValue) parts.push({ text });
    else
      for (const [part, group] of cutGroups(text)) {
        if (group !== undefined) parts.push({ group });
        else if (part !== '') parts.push({ text: part });
        if (parts.length > mostParts) return undefined;
      }
  }
  return parts;
}

function filledParts(to: Template, visit: PolicyVisit): readonly ToPart[] {
  const parts = partsOf(to.pieces(visit));
  if (parts === undefined) throw new EvaluationFault(tooManyParts);
  return parts;
}

function fill(parts: readonly ToPart[], match: Match, regex: Regex, work: Budget): string {
  work.spend(2 + parts.length * 8);
  let text = '';
  for (const part of parts) {
    text += 'group' in part ? groupOf(part.group, match, regex) : part.text;
    if (text.length > longestResult) throw new EvaluationFault(tooLong);
  }
  work.spend(text.length / 64);
  return text;
}

/** Characters of JavaScript that the one at a place takes. */
function widthAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xff_ff ? 2 : 1;
}
