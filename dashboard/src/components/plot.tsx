import { useEffect, useRef } from 'react';
import type uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

import { intervalAt } from '../lib/plot-series.ts';
import type { PlotSeries } from '../lib/plot-series.ts';
import { formatNumber } from '../lib/text.ts';

const colours: Readonly<Record<PlotSeries['look'], string>> = {
  pass: '--chart-pass',
  warn: '--chart-warn',
  deny: '--chart-deny',
  usual: '--text-2',
  line: '--accent-fill',
  second: '--chart-pass',
};
const isBar = (look: PlotSeries['look']): boolean => look === 'pass' || look === 'warn' || look === 'deny';

/** The time that is drawn, whether something is known of it or not; in seconds since 1970. */
export interface PlotSpan {
  readonly from: number;
  readonly to: number;
  /** Length of an interval. */
  readonly step: number;
}

interface PlotProps {
  readonly span: PlotSpan;
  /** Beginnings of the intervals, in seconds since 1970. */
  readonly times: readonly number[];
  readonly series: readonly PlotSeries[];
  /** Says what the picture shows, for those who do not see it. */
  readonly sentence: string;
  /** Times of changes, in seconds since 1970. */
  readonly marks: readonly number[];
  /** Opens what lies behind a point. */
  readonly onPoint?: ((at: number) => void) | undefined;
  readonly pixels?: number;
}

/** A picture of values over time, drawn by uPlot, which is loaded with the first of them. */
export function Plot({ span, times, series, sentence, marks, onPoint, pixels = 110 }: PlotProps) {
  const frame = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot>(undefined);
  const newest = useRef({ marks, onPoint, span });
  useEffect(() => {
    newest.current = { marks, onPoint, span };
    drawn.current?.redraw(false);
  }, [marks, onPoint, span]);
  const looks = series.map(({ look }) => look).join(' ');
  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    let isGone = false;
    let end: (() => void) | undefined;
    void import('uplot').then(({ default: Drawing }) => {
      if (isGone) return;
      const options = optionsOf(series, element.clientWidth, pixels, newest);
      const plot = new Drawing(options, [[...times], ...series.map(({ values }) => [...values])], element);
      drawn.current = plot;
      end = follow(plot, element, pixels);
    });
    return () => {
      isGone = true;
      end?.();
      drawn.current?.destroy();
      drawn.current = undefined;
    };
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- values come by the effect below, without a new drawing
  }, [looks, pixels]);
  useEffect(() => {
    drawn.current?.setData([[...times], ...series.map(({ values }) => [...values])]);
  }, [times, series]);
  return (
    <div className="plot-frame">
      <div
        ref={frame}
        className={onPoint === undefined ? 'drawing' : 'drawing opens'}
        role="img"
        aria-label={sentence}
      />
      <PlotLegend series={series} />
      <p className="muted fine">{sentence}</p>
    </div>
  );
}

/** A legend: bars and lines by their looks, and a sentence for those who do not see them. */
function PlotLegend({ series }: { readonly series: readonly PlotSeries[] }) {
  const shown = series.filter(({ values }) => values.some((value) => value !== null && value > 0));
  return (
    <div className="legend" aria-hidden="true">
      {shown.map(({ name, look }) => (
        <span key={name}>
          <svg viewBox="0 0 10 10">
            {isBar(look) ? (
              <rect className={`c-${look}`} width="10" height="10" />
            ) : (
              <path className={`plot-line ${look}`} d="M0 5h10" />
            )}
            {look === 'deny' ? <path className="c-hatch" d="M-2 8 8-2M2 12 12 2" /> : null}
          </svg>
          {name}
        </span>
      ))}
    </div>
  );
}

interface Newest {
  readonly current: {
    readonly span: PlotSpan;
    readonly marks: readonly number[];
    readonly onPoint?: ((at: number) => void) | undefined;
  };
}

/** A theme changes colours, and a window its width. Returns what ends both. */
function follow(plot: uPlot, element: HTMLElement, pixels: number): () => void {
  const sizes = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: pixels }));
  sizes.observe(element);
  const redraw = (): void => plot.redraw(false);
  const themes = new MutationObserver(redraw);
  themes.observe(document.documentElement, { attributes: true });
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  scheme.addEventListener('change', redraw);
  return () => {
    sizes.disconnect();
    themes.disconnect();
    scheme.removeEventListener('change', redraw);
  };
}

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

const axisFont = '11px system-ui, sans-serif';

function optionsOf(series: readonly PlotSeries[], width: number, height: number, newest: Newest): uPlot.Options {
  const axis: uPlot.Axis = {
    stroke: () => colour('--text-3'),
    font: axisFont,
    grid: { stroke: () => colour('--chart-grid'), width: 1 },
    ticks: { show: false },
  };
  return {
    width,
    height,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    padding: [8, 20, 0, 0],
    scales: {
      x: { time: true, range: () => [newest.current.span.from, newest.current.span.to] },
      y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] },
    },
    axes: [
      {
        ...axis,
        size: 22,
        grid: { show: false },
        values: (plot, splits) => splits.map((each) => timeLabel(plot, each)),
      },
      {
        ...axis,
        size: 44,
        values: (_, splits) => splits.map((each) => (Number.isInteger(each) ? formatNumber(each) : '')),
      },
    ],
    series: [{}, ...series.map((each) => lineOf(each, newest))],
    hooks: {
      ready: [(plot) => listen(plot, newest)],
      draw: [(plot) => drawMarks(plot, newest.current.marks)],
    },
  };
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const days = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

function timeLabel({ scales }: uPlot, seconds: number): string {
  const { min = 0, max = 0 } = scales['x'] ?? {};
  const isLong = (max ?? 0) - (min ?? 0) > 2 * 86_400;
  return (isLong ? days : clock).format(new Date(seconds * 1000));
}

function lineOf({ name, look }: PlotSeries, newest: Newest): uPlot.Series {
  const stroke = () => colour(colours[look]);
  if (isBar(look))
    return {
      label: name,
      width: 0,
      fill: (plot) => fillOf(plot, look),
      paths: barsOf(newest),
      points: { show: false },
    };
  return {
    label: name,
    stroke,
    width: look === 'line' ? 2 : 1.5,
    ...(look === 'usual' ? { dash: [5, 4] } : look === 'second' ? { dash: [2, 2] } : {}),
    points: { show: true, size: 4, stroke, fill: stroke, filter: loners },
  };
}

/** Values whose neighbours are unknown would be lines without length. */
const loners: uPlot.Series.Points.Filter = (plot, at) =>
  [...(plot.data[at] ?? [])].flatMap((value, place, all) =>
    value !== null && (all[place - 1] ?? null) === null && (all[place + 1] ?? null) === null ? [place] : [],
  );

const share = 0.72;

/** Bars from the axis up, each over its interval. */
const barsOf =
  (newest: Newest): uPlot.Series.PathBuilder =>
  (plot, at, from, to) => {
    const path = new Path2D();
    const [times, values] = [plot.data[0], plot.data[at] ?? []];
    const { from: first, to: last, step } = newest.current.span;
    const place = (plot.bbox.width * step) / (last - first);
    const zero = plot.valToPos(0, 'y', true);
    for (let each = from; each <= to; each++) {
      const value = values[each] ?? 0;
      if (value === null || value === 0) continue;
      const left = plot.valToPos(times[each] ?? 0, 'x', true);
      const top = plot.valToPos(value, 'y', true);
      path.rect(left + (place * (1 - share)) / 2, top, Math.max(1, place * share), zero - top);
    }
    return { stroke: null, fill: path };
  };

/** Refused is hatched, so that it is told without colour. */
function fillOf({ ctx }: uPlot, look: PlotSeries['look']): CanvasRenderingContext2D['fillStyle'] {
  const plain = colour(colours[look]);
  if (look !== 'deny') return plain;
  const tile = document.createElement('canvas');
  [tile.width, tile.height] = [6, 6];
  const pen = tile.getContext('2d');
  if (pen === null) return plain;
  pen.fillStyle = plain;
  pen.fillRect(0, 0, 6, 6);
  pen.strokeStyle = colour('--bg');
  pen.lineWidth = 1.5;
  for (const shift of [-6, 0, 6]) {
    pen.moveTo(shift, 6);
    pen.lineTo(shift + 6, 0);
  }
  pen.stroke();
  return ctx.createPattern(tile, 'repeat') ?? plain;
}

function listen(plot: uPlot, newest: Newest): void {
  plot.over.addEventListener('click', () => {
    const { left = -1 } = plot.cursor;
    const { span, onPoint } = newest.current;
    // The plot's own cursor finds the nearest beginning, which is the next one in the second half of an interval.
    const at = left < 0 ? undefined : intervalAt([...plot.data[0]], span.step, plot.posToVal(left, 'x'));
    if (at !== undefined) onPoint?.(at);
  });
}

function drawMarks(plot: uPlot, marks: readonly number[]): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = colour('--accent-fill');
  ctx.fillStyle = colour('--accent-fill');
  ctx.setLineDash([3, 3]);
  for (const mark of marks) {
    const left = Math.round(plot.valToPos(mark, 'x', true));
    if (left < bbox.left || left > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(left, bbox.top);
    ctx.lineTo(left, bbox.top + bbox.height);
    ctx.stroke();
    ctx.fillRect(left - 3, bbox.top - 3, 6, 6);
  }
  ctx.restore();
}
