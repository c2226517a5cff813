import { showNumber } from './report.ts';

export interface Point {
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
/** Height of zero. */
const ground = height - bottom;

/** Draws a small line chart: sizes along the bottom, the figure from zero up, each point labelled with its value. */
export function drawChart({ title, unit, points }: Chart): string {
  const { across, up } = scalesOf(points.map(({ x, y }) => ({ x: Math.log10(x), y })));
  const placed = points.map(({ x, y }) => ({ x, y, left: across(Math.log10(x)), top: up(y) }));
  const marks = placed.flatMap(({ x, y, left: cx, top: cy }) => [
    `<circle cx="${cx.toFixed(1)}" cy="${cy.toFixed(1)}" r="3" fill="#1f5fa8"/>`,
    text(cx, cy - 7, showNumber(y), 'middle'),
    text(cx, height - 10, x.toLocaleString('en-US'), 'middle'),
  ]);
  return frame(title, unit, [lineThrough(placed), ...marks]);
}

/** Draws a figure over time, from zero up, with its highest value and the length of time as labels. */
export function drawTimeline({ title, unit, points, xUnit }: Chart & { readonly xUnit: string }): string {
  const { across, up } = scalesOf(points);
  const placed = points.map(({ x, y }) => ({ left: across(x), top: up(y) }));
  const highest = points.reduce((most, point) => (point.y > most.y ? point : most), { x: 0, y: 0 });
  const last = points.at(-1)?.x ?? 0;
  return frame(title, unit, [
    lineThrough(placed),
    text(across(highest.x), up(highest.y) - 5, showNumber(highest.y), 'middle'),
    text(width - right, height - 10, `${showNumber(last)} ${xUnit}`, 'end'),
  ]);
}

interface Scales {
  readonly across: (x: number) => number;
  readonly up: (y: number) => number;
}

/** Scales from the first to the last point, and from zero to somewhat more than the highest one. */
function scalesOf(points: readonly Point[]): Scales {
  const places = points.map(({ x }) => x);
  const [first, last] = [Math.min(...places), Math.max(...places)];
  const highest = Math.max(...points.map(({ y }) => y)) * 1.25 || 1;
  return {
    across: (x) => left + ((x - first) / (last - first || 1)) * (width - left - right),
    up: (y) => ground - (y / highest) * (ground - top),
  };
}

function lineThrough(points: readonly { readonly left: number; readonly top: number }[]): string {
  const line = points.map((point) => `${point.left.toFixed(1)},${point.top.toFixed(1)}`).join(' ');
  return `<polyline points="${line}" fill="none" stroke="#1f5fa8" stroke-width="2"/>`;
}

function frame(title: string, unit: string, content: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    text(10, 17, title, 'start', 'bold'),
    text(left - 8, ground + 4, '0', 'end'),
    text(left - 8, top + 4, unit, 'end'),
    `<line x1="${left}" y1="${ground}" x2="${width - right}" y2="${ground}" stroke="#bbb"/>`,
    ...content,
    '</svg>',
    '',
  ].join('\n');
}

function text(x: number, y: number, content: string, anchor: 'start' | 'middle' | 'end', weight = 'normal'): string {
  const place = `x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}"`;
  return `<text ${place} font-family="sans-serif" font-size="11" font-weight="${weight}" fill="#222">${content}</text>`;
}
