import { showNumber } from './report.ts';

export interface Point {
  /** Position on a logarithmic scale. */
  readonly x: number;
  readonly y: number;
}

export interface Chart {
  readonly title: string;
  readonly unit: string;
  readonly points: readonly Point[];
}

const width = 280;
const height = 170;
const left = 52;
const right = 20;
const top = 34;
const bottom = 28;

/** Draws a small line chart: sizes along the bottom, the figure from zero up, each point labelled with its value. */
export function drawChart({ title, unit, points }: Chart): string {
  const sizes = points.map(({ x }) => Math.log10(x));
  const [first, last] = [Math.min(...sizes), Math.max(...sizes)];
  const highest = Math.max(...points.map(({ y }) => y)) * 1.25 || 1;
  const across = (x: number) => left + ((Math.log10(x) - first) / (last - first || 1)) * (width - left - right);
  const up = (y: number) => height - bottom - (y / highest) * (height - top - bottom);
  const line = points.map(({ x, y }) => `${across(x).toFixed(1)},${up(y).toFixed(1)}`).join(' ');
  const marks = points.flatMap(({ x, y }) => [
    `<circle cx="${across(x).toFixed(1)}" cy="${up(y).toFixed(1)}" r="3" fill="#1f5fa8"/>`,
    text(across(x), up(y) - 7, showNumber(y), 'middle'),
    text(across(x), height - 10, x.toLocaleString('en-US'), 'middle'),
  ]);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    text(10, 17, title, 'start', 'bold'),
    text(left - 8, up(0) + 4, '0', 'end'),
    text(left - 8, top + 4, unit, 'end'),
    `<line x1="${left}" y1="${up(0)}" x2="${width - right}" y2="${up(0)}" stroke="#bbb"/>`,
    `<polyline points="${line}" fill="none" stroke="#1f5fa8" stroke-width="2"/>`,
    ...marks,
    '</svg>',
    '',
  ].join('\n');
}

function text(x: number, y: number, content: string, anchor: 'start' | 'middle' | 'end', weight = 'normal'): string {
  const place = `x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}"`;
  return `<text ${place} font-family="sans-serif" font-size="11" font-weight="${weight}" fill="#222">${content}</text>`;
}
