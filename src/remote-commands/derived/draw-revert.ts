import type { Revert, RevertedChange } from '../../../client/src/index.ts';
import { oneLine } from '../../lib/terminal-text.ts';
import { fieldsOf, labelOf, shorten } from './label.ts';

type Fields = Readonly<Record<string, unknown>>;

const signs = { create: '+', update: '~', delete: '-' } as const;
/** Fields that say nothing about what is set back. */
const unshown = new Set(['id', 'account_id', 'created_at', 'rules', 'rules_that_differ']);
/** Rules of one policy that are shown. */
const shownRules = 10;

/** The effect of a revert, as a person would say it. */
export function drawRevert(document: unknown): readonly string[] {
  // The documented answer of this operation.
  const { changes } = document as Revert;
  return changes.flatMap(drawChange);
}

function drawChange({ action, kind, resource_id: id, before, after }: RevertedChange): readonly string[] {
  const [was, becomes] = [fieldsOf(before), fieldsOf(after)];
  const head = `${signs[action]} ${kind.replaceAll('_', ' ')} ${[labelOf({ ...was, ...becomes }), `(${id})`].join(' ').trim()}`;
  const rules = drawRules(was, becomes).map((line) => `    ${line}`);
  if (action !== 'update') return [head, ...rules];
  const names = [...new Set([...Object.keys(was), ...Object.keys(becomes)])].filter((name) => !unshown.has(name));
  const fields = names
    .filter((name) => JSON.stringify(was[name]) !== JSON.stringify(becomes[name]))
    .map((name) => `    ${name}: ${shorten(was[name])} -> ${shorten(becomes[name])}`);
  return [head, ...fields, ...rules];
}

/** Counts the rules that go and come, and shows the first of them. */
function drawRules(was: Fields, becomes: Fields): readonly string[] {
  const [gone, come] = [rulesOf(was), rulesOf(becomes)];
  if (gone.length === 0 && come.length === 0) return [];
  const counts = [
    ...(gone.length === 0 ? [] : [`${count(gone.length)} removed`]),
    ...(come.length === 0 ? [] : [`${count(come.length)} added`]),
  ];
  const total = ({ rules = 0 }: Fields): string => JSON.stringify(rules);
  return [
    `rules: ${counts.join(', ')} (${total(was)} -> ${total(becomes)})`,
    ...few(gone.map((rule) => `  - ${rule}`)),
    ...few(come.map((rule) => `  + ${rule}`)),
  ];
}

function few(lines: readonly string[]): readonly string[] {
  const rest = lines.length - shownRules;
  return rest <= 1 ? lines : [...lines.slice(0, shownRules), `  … and ${rest} more`];
}

function count(rules: number): string {
  return `${rules} ${rules === 1 ? 'rule' : 'rules'}`;
}

/** A rule is written as in a file of rules, with its description where it has one. */
function rulesOf(fields: Fields): readonly string[] {
  const rules = fields['rules_that_differ'];
  if (!Array.isArray(rules)) return [];
  return rules.map((rule: unknown) => {
    if (typeof rule === 'string') return ruleWords(rule);
    const { cidr, action, description } = fieldsOf(rule);
    const sign = action === 'deny' ? '!' : '';
    return ruleWords(`${sign}${String(cidr)}`) + (description === undefined ? '' : `  ${shorten(description)}`);
  });
}

function ruleWords(rule: string): string {
  return oneLine(rule.startsWith('!') ? `deny ${rule.slice(1)}` : `allow ${rule}`);
}
