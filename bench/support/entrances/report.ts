import { showNumber } from '../report.ts';
import type { RowFigures } from './measure-row.ts';
import type { Row } from './rows.ts';
import type { TargetName } from './targets.ts';

/** Multiple of their calm that neighbours may notice. */
const allowedRatio = 2;
/** Share of a core that may go on after those who attack have left. */
const allowedAfter = 0.05;

export const heads = [
  'row',
  'entrance',
  'program',
  '× calm, 1 / 8',
  'goal',
  'edge ms: calm → 1 → 8 (p99)',
  'API ms: calm → 1 → 8 (p99)',
  'longest turn, CPU ms',
  'CPU ms/MB',
  'MB/s, 1 / 8',
  'closed',
  'core after',
] as const;

/** Neighbours do not notice, and nothing goes on after those who attack have left. */
export function isGood({ ratio, after }: RowFigures): boolean {
  return Math.max(ratio.one, ratio.eight) <= allowedRatio && after < allowedAfter;
}

export function showRow(row: Row, name: TargetName, figures: RowFigures): string {
  const { ratio, edge, api, processorMsPerMegabyte, megabytesPerSecond, closed, after, turnMs } = figures;
  const cells = [
    row.name,
    row.summary,
    name,
    `**${showNumber(ratio.one)}** / **${showNumber(ratio.eight)}**`,
    isGood(figures) ? 'yes' : '**no**',
    showTimes(edge),
    showTimes(api),
    Number.isNaN(turnMs.calm) ? '–' : [turnMs.calm, turnMs.one, turnMs.eight].map(showNumber).join(' → '),
    showNumber(processorMsPerMegabyte),
    `${showNumber(megabytesPerSecond.one)} / ${showNumber(megabytesPerSecond.eight)}`,
    String(closed),
    `${(after * 100).toFixed(0)} %`,
  ];
  return `| ${cells.join(' | ')} |`;
}

function showTimes({ calm, one, eight }: RowFigures['edge']): string {
  if (Number.isNaN(calm.p50)) return '–';
  return [calm, one, eight].map(({ p50, p99 }) => `${showNumber(p50)} (${showNumber(p99)})`).join(' → ');
}
