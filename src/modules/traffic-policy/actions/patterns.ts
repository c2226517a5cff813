import { EvaluationFault } from '../../../lib/cel/run.ts';
import { PatternFault, Regex } from '../../../lib/regex/regex.ts';
import type { Match } from '../../../lib/regex/regex.ts';
import type { ConfigReader } from '../document/config-reader.ts';
import { bytesOf, mostPatternSteps } from '../document/reads.ts';
import type { Template } from '../document/template.ts';
import { invalidRegex } from '../errors.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';

/** Texts that are filled in stand for themselves, unless they are the whole pattern. */
export function patternOf(from: Template, visit: PolicyVisit): string {
  const pieces = from.pieces(visit);
  if (pieces.length === 1) return pieces[0]?.text ?? '';
  return pieces.map(({ text, isValue }) => (isValue ? text.replaceAll(/[\\.+*?()|[\]{}^$]/g, '\\$&') : text)).join('');
}

export function regexOf(source: string, config: ConfigReader): Regex {
  const { patterns, memory } = config.context.reads;
  try {
    const regex = new Regex(source);
    patterns.steps += regex.size;
    memory.bytes += regex.size * bytesOf.step;
    if (patterns.steps <= mostPatternSteps) return regex;
    throw new PatternFault(
      `those of the policy have more than ${mostPatternSteps} steps together; use fewer or shorter ones`,
    );
  } catch (error) {
    if (error instanceof PatternFault) throw config.fault(invalidRegex, 'from', error.message);
    throw error;
  }
}

export function compileNow(source: string, visit: PolicyVisit): Regex {
  visit.spend(100 + source.length * 4);
  try {
    return new Regex(source);
  } catch (error) {
    if (error instanceof PatternFault)
      throw new EvaluationFault(`the regular expression cannot be used: ${error.message}`);
    throw error;
  }
}

/** The parts of a text with the groups that it names, as in `$1` and `$name`. */
export function* cutGroups(text: string): Generator<readonly [text: string, name: string | undefined]> {
  let end = 0;
  for (const found of text.matchAll(/\$(?:(\d{1,2})|([A-Za-z_]\w*)|\$)/g)) {
    yield [text.slice(end, found.index), undefined];
    const name = found[1] ?? found[2];
    yield name === undefined ? ['$', undefined] : ['', name];
    end = found.index + found[0].length;
  }
  yield [text.slice(end), undefined];
}

export function groupOf(name: string, match: Match, regex: Regex | undefined): string {
  const number = /^\d/.test(name) ? Number(name) : (regex?.groupNames.indexOf(name) ?? -1) + 1;
  return (number === 0 && !/^\d/.test(name) ? undefined : match.groups[number]) ?? '';
}
