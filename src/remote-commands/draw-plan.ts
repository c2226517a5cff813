import type { ConfigurationApplied, ConfigurationStep } from '../../client/src/index.ts';
import type { Colour, Paint } from './output.ts';
import { oneLine } from '../lib/terminal-text.ts';

const signs: Readonly<Record<ConfigurationStep['action'], readonly [string, Colour]>> = {
  create: ['+', 'green'],
  change: ['~', 'yellow'],
  delete: ['-', 'red'],
};
type Difference = Pick<ConfigurationApplied, 'steps' | 'created' | 'changed' | 'deleted' | 'unchanged'>;

type Plan = Difference & Pick<ConfigurationApplied, 'admits_new'>;

/** Lines that a long value or list takes; the rest is counted. */
const shownMembers = 20;

/** The difference between the files and the server, as a person would draw it. */
export function drawPlan({ steps, admits_new, ...counts }: Plan, paint: Paint): readonly string[] {
  if (steps.length === 0) return ['No changes.'];
  const drawn = steps.flatMap((step) => drawStep(step, paint));
  const { created, changed, deleted, unchanged } = counts;
  return [
    ...drawn,
    '',
    `${created} to create, ${changed} to change, ${deleted} to delete, ${unchanged} unchanged.`,
    ...drawAdmissions(admits_new, paint),
  ];
}

const answers = {
  no: 'Nobody new is let in.',
  yes: 'Somebody new is let in:',
  unknown: 'Whether somebody new is let in is unknown:',
} as const;

/** Servers of an older release do not say. */
function drawAdmissions(admits: ConfigurationApplied['admits_new'], paint: Paint): readonly string[] {
  if (admits === undefined) return [];
  const shown = admits.admissions.slice(0, shownMembers).map(({ to, text }) => `  ${oneLine(to)}: ${oneLine(text)}`);
  const rest = admits.total > shown.length ? [`  … and ${admits.total - shown.length} more`] : [];
  const colour = admits.answer === 'no' ? 'green' : 'yellow';
  return [paint(colour, answers[admits.answer]), ...shown, ...rest];
}

/** The difference between two moments, in the same form. */
export function drawDifference({ steps, ...counts }: Difference, paint: Paint): readonly string[] {
  if (steps.length === 0) return ['No changes.'];
  const drawn = steps.flatMap((step) => drawStep(step, paint));
  const { created, changed, deleted, unchanged } = counts;
  return [...drawn, '', `${created} created, ${changed} changed, ${deleted} deleted, ${unchanged} unchanged.`];
}

function drawStep({ action, kind, name, fields }: ConfigurationStep, paint: Paint): readonly string[] {
  const [sign, colour] = signs[action];
  const head = paint(colour, `${sign} ${kind} ${oneLine(name)}`);
  if (action === 'delete') return [head];
  return [head, ...fields.flatMap((field) => drawField(field, action, paint))];
}

function drawField(
  { field, before, after }: ConfigurationStep['fields'][number],
  action: string,
  paint: Paint,
): readonly string[] {
  if (field === 'rules')
    return [`    ${field}:`, ...drawMembers(before, '-', paint), ...drawMembers(after, '+', paint)];
  if (action === 'create') return [`    ${field}: ${show(after)}`];
  if (before === null) return [paint('green', `    + ${field}: ${show(after)}`)];
  if (after === null) return [paint('red', `    - ${field}: ${show(before)}`)];
  return [`    ${paint('yellow', '~')} ${field}: ${show(before)} ${paint('grey', '→')} ${show(after)}`];
}

function drawMembers(members: unknown, sign: '+' | '-', paint: Paint): readonly string[] {
  const list: readonly unknown[] = Array.isArray(members) ? members : [];
  const shown = list.slice(0, shownMembers).map((member) => `      ${sign} ${show(member)}`);
  const rest = list.length > shownMembers ? [`      ${sign} … and ${list.length - shownMembers} more`] : [];
  return [...shown, ...rest].map((line) => paint(sign === '+' ? 'green' : 'red', line));
}

function show(value: unknown): string {
  return oneLine(typeof value === 'string' && value !== '' ? value : JSON.stringify(value));
}
