import type { Outcome, Variant } from './rounds.ts';
import type { Summary } from './statistics.ts';

/** The results of one benchmark. */
export interface Section {
  readonly title: string;
  readonly lines: readonly string[];
  readonly verdicts: readonly Verdict[];
}

/** A goal, compared with its measurement. */
export interface Verdict {
  readonly goal: string;
  readonly what: string;
  readonly measured: string;
  readonly wanted: string;
  readonly met: boolean;
}

export function atLeast(goal: string, what: string, measured: number, wanted: number): Verdict {
  return { goal, what, measured: showNumber(measured), wanted: `≥ ${wanted}`, met: measured >= wanted };
}

export function atMost(goal: string, what: string, measured: number, wanted: number): Verdict {
  return { goal, what, measured: showNumber(measured), wanted: `≤ ${wanted}`, met: measured <= wanted };
}

/** Formats a number with three significant digits and grouped thousands. */
export function showNumber(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(Math.max(0, 2 - Math.floor(Math.log10(Math.max(Math.abs(value), 0.01)))));
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)];
}

export interface Column {
  /** Key of the figure. */
  readonly figure: string;
  readonly head: string;
}

/**
 * Makes a table with one row for each variant: ratios to the variant `base`, then median and spread of each figure. The
 * ratio of CPU time, where it was measured, is inverted (base ÷ variant), so that more is better in both columns.
 */
export function compare(
  variants: readonly Variant[],
  outcomes: readonly Outcome[],
  columns: readonly Column[],
  base: string,
): readonly string[] {
  const key = columns[0]?.figure ?? '';
  const unit = outcomes[variants.findIndex(({ name }) => name === base)];
  const byCpu = columns.some(({ figure }) => figure === 'cpuUs');
  const rows = variants.map(({ name }, at) => {
    const outcome = outcomes[at];
    const ratio = figureOf(outcome, key).median / figureOf(unit, key).median;
    const cpuRatio = figureOf(unit, 'cpuUs').median / figureOf(outcome, 'cpuUs').median;
    return [
      name,
      `**${showNumber(ratio)}**`,
      ...(byCpu ? [showNumber(cpuRatio)] : []),
      ...columns.map(({ figure }) => showSummary(figureOf(outcome, figure))),
      showRounds(outcome, key),
    ];
  });
  const heads = ['variant', `× ${base}`, ...(byCpu ? ['by CPU time'] : []), ...columns.map(({ head }) => head)];
  return table([...heads, 'rounds kept'], rows);
}

export function figureOf(outcome: Outcome | undefined, name: string): Summary {
  return outcome?.figures[name] ?? { median: Number.NaN, spread: Number.NaN, count: 0 };
}

export function showSummary({ median, spread }: Summary): string {
  return Number.isFinite(median) ? `${showNumber(median)} ± ${(spread * 100).toFixed(1)} %` : '–';
}

function showRounds(outcome: Outcome | undefined, key: string): string {
  const { count } = figureOf(outcome, key);
  return `${count} of ${count + (outcome?.dropped ?? 0)}${outcome?.disturbed === true ? ' (disturbed)' : ''}`;
}
