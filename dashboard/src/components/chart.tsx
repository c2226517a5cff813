import { useId } from 'react';

import { formatNumber } from '../lib/text.ts';

/** `pass` is quiet; refused is hatched, so that it is told without colour. */
export interface Series {
  readonly name: string;
  readonly look: 'pass' | 'warn' | 'deny';
}

/** Traffic, from the bottom up. */
export const passAndDeny: readonly Series[] = [
  { name: 'Let in', look: 'pass' },
  { name: 'Refused', look: 'deny' },
];

interface Bar {
  readonly key: string;
  /** One number for each series, stacked from the bottom. */
  readonly values: readonly number[];
}

const width = 1000;
const height = 100;
/** Share of its place that a bar fills. */
const fill = 0.72;

/** Stacked bars over time. `sentence` says what they show, for everybody. */
export function BarChart({
  bars,
  series,
  sentence,
  ends,
  pixels = 132,
}: {
  readonly bars: readonly Bar[];
  readonly series: readonly Series[];
  readonly sentence: string;
  /** Words below the chart, from left to right. */
  readonly ends: readonly string[];
  readonly pixels?: number;
}) {
  const hatch = useId();
  const top = niceTop(Math.max(0, ...bars.map(({ values }) => sum(values))));
  return (
    <div className="stack tight">
      <div className="chart" style={{ '--h': `${pixels}px` } as React.CSSProperties}>
        <div className="y" aria-hidden="true">
          <span>{formatNumber(top)}</span>
          <span>{top % 2 === 0 && pixels > 100 ? formatNumber(top / 2) : ''}</span>
          <span>0</span>
        </div>
        <div className="plot">
          <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={sentence}>
            <defs>
              <pattern id={hatch} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
                <path className="c-hatch" d="M0 0v5" />
              </pattern>
            </defs>
            {[0, height / 2, height].map((y) => (
              <line key={y} className="c-grid" x1="0" x2={width} y1={y} y2={y} />
            ))}
            {series.map(({ name, look }, index) => {
              const path = pathOf(bars, index, top);
              return (
                <g key={name}>
                  <path className={`c-${look}`} d={path} />
                  {look === 'deny' ? <path fill={`url(#${hatch})`} d={path} /> : null}
                </g>
              );
            })}
          </svg>
        </div>
        <div className="x" aria-hidden="true">
          {ends.map((text) => (
            <span key={text}>{text}</span>
          ))}
        </div>
      </div>
      {series.length > 1 ? <Legend series={series} /> : null}
      <p className="muted fine">{sentence}</p>
    </div>
  );
}

function Legend({ series }: { readonly series: readonly Series[] }) {
  return (
    <div className="legend" aria-hidden="true">
      {series.map(({ name, look }) => (
        <span key={name}>
          <svg viewBox="0 0 10 10">
            <rect className={`c-${look}`} width="10" height="10" />
            {look === 'deny' ? <path className="c-hatch" d="M-2 8 8-2M2 12 12 2" /> : null}
          </svg>
          {name}
        </span>
      ))}
    </div>
  );
}

function pathOf(bars: readonly Bar[], index: number, top: number): string {
  const place = width / bars.length;
  return bars
    .map(({ values }, at) => {
      const value = values[index] ?? 0;
      if (value === 0) return '';
      const bottom = height - (sum(values.slice(0, index)) / top) * height;
      const tall = (value / top) * height;
      const x = (at + (1 - fill) / 2) * place;
      const across = (place * fill).toFixed(2);
      return `M${x.toFixed(2)} ${(bottom - tall).toFixed(2)}h${across}v${tall.toFixed(2)}h-${across}z`;
    })
    .join('');
}

/** The next round number at or above: 1, 2, 4, 10, 20, 40, 100, and so on. */
function niceTop(most: number): number {
  if (most <= 4) return Math.max(2, most + (most % 2));
  const power = 10 ** Math.floor(Math.log10(most));
  return power * ([1, 2, 4, 6, 8, 10].find((factor) => factor * power >= most) ?? 10);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
