import { useId, useMemo, useState } from 'react';
import type { KeyboardEvent, MouseEvent } from 'react';
import { useLocation } from 'wouter';

import type { Change } from '../../../../client/src/index.ts';
import { useList } from '../../api/queries.ts';
import { Button, ButtonGroup } from '../../components/button.tsx';
import { Form } from '../../components/form.tsx';
import { Glyph } from '../../components/verdict.tsx';
import { momentOf } from '../../lib/moment.ts';
import { formatNumber } from '../../lib/text.ts';
import { formatDay } from '../../lib/time.ts';
import { useUrlState } from '../../lib/url-state.ts';
import type { Past } from './past.ts';
import { clockWords, momentWords, shortWords, typedWords } from './words.ts';

const hourMs = 3_600_000;
const sizes = { day: 24 * hourMs, week: 7 * 24 * hourMs, year: 365 * 24 * hourMs } as const;
type Range = keyof typeof sizes;
const ranges: readonly (readonly [Range, string])[] = [
  ['day', 'Day'],
  ['week', 'Week'],
  ['year', 'Year'],
];
/** Changes that are drawn. */
const mostTicks = 300;

/** Chooses the moment: by typing a time or a version, by arrow keys change by change, or by a click among the changes. */
export function MomentPicker({ past, other }: { readonly past: Past; readonly other: string | undefined }) {
  const [params, setParams] = useUrlState();
  const range = ranges.find(([each]) => each === params.get('range'))?.[0] ?? 'day';
  const { at, moment, earlier, later } = past;
  const to = (version: number | undefined): void => {
    if (version !== undefined) setParams({ at: String(version) });
  };
  return (
    <section className="panel">
      <header>
        <h2>Moment</h2>
        <ButtonGroup
          label="Range"
          value={range}
          options={ranges}
          onChange={(value) => setParams({ range: value === 'day' ? undefined : value })}
        />
      </header>
      <div className="pad moment">
        <div className="bar">
          <Typed key={at} label="Show" shown={typedWords(at, moment)} onMoment={(value) => setParams({ at: value })} />
          <Typed
            key={`other ${other ?? ''}`}
            label="compared with"
            shown={other ?? 'now'}
            onMoment={(value) => setParams({ with: value })}
            onNow={() => setParams({ with: undefined })}
          />
          <span className="grow" />
          <Button small icon="left" disabled={earlier === null} onClick={() => to(earlier?.version)}>
            Change before
          </Button>
          <Button small icon="right" disabled={later === null} onClick={() => to(later?.version)}>
            Change after
          </Button>
        </div>
        <Ticks past={past} sizeMs={sizes[range]} onVersion={to} />
      </div>
    </section>
  );
}

/** A moment in a field of text, which is taken with Enter or when the focus leaves. */
function Typed({
  label,
  shown,
  onMoment,
  onNow,
}: {
  readonly label: string;
  readonly shown: string;
  readonly onMoment: (moment: string) => void;
  readonly onNow?: () => void;
}) {
  const id = useId();
  const [text, setText] = useState(shown);
  const [isWrong, setWrong] = useState(false);
  const take = (): void => {
    if (text === shown) return;
    if (onNow !== undefined && /^(?:now)?$/i.test(text.trim())) {
      onNow();
      return;
    }
    const moment = momentOf(text);
    setWrong(moment === undefined);
    if (moment !== undefined) onMoment(moment);
  };
  return (
    <Form label={label} onSubmit={take}>
      <span className="row wrap">
        <label className="label" htmlFor={id}>
          {label}
        </label>
        <input
          className="input when"
          id={id}
          value={text}
          aria-invalid={isWrong ? true : undefined}
          aria-describedby={`${id}-about`}
          onChange={(event) => setText(event.target.value)}
          onBlur={take}
        />
        <span id={`${id}-about`} className={isWrong ? 'error' : 'vh'}>
          {isWrong ? <Glyph tone="deny" /> : null}
          {isWrong
            ? 'Type a time of UTC, such as 16 Nov 2026, 13:58:00, or a version.'
            : `A time of UTC, or a version${onNow === undefined ? '' : ', or now'}.`}
        </span>
      </span>
    </Form>
  );
}

/** Changes around the moment on a line of time, with a handle that the arrow keys move from change to change. */
function Ticks({
  past: { at, moment, earlier, later, first },
  sizeMs,
  onVersion,
}: {
  readonly past: Past;
  readonly sizeMs: number;
  readonly onVersion: (version: number | undefined) => void;
}) {
  const [, navigate] = useLocation();
  const timeMs = Date.parse(/^\d+$/.test(at) ? (moment.created_at ?? '') : at);
  const window = useMemo(() => windowOf(timeMs, sizeMs), [timeMs, sizeMs]);
  const { data: changes = [], hasMore } = useList('ChangesList', {
    query: { since: secondsOf(window.fromMs), until: secondsOf(window.toMs) },
    wanted: mostTicks,
  });
  const shareOf = (ms: number): number =>
    Math.min(1, Math.max(0, (ms - window.fromMs) / (window.toMs - window.fromMs)));
  const drawn = changes.slice(0, mostTicks);
  const onKey = (event: KeyboardEvent): void => {
    const target = targets({ earlier, later, first })[event.key];
    if (target === undefined) return;
    event.preventDefault();
    if (target === 'now') navigate('/changes?at=');
    else onVersion(target?.version);
  };
  const onClick = (event: MouseEvent<HTMLDivElement>): void => {
    const box = event.currentTarget.getBoundingClientRect();
    onVersion(nearest(drawn, window.fromMs + ((event.clientX - box.left) / box.width) * (window.toMs - window.fromMs)));
  };
  const knob = Number.isNaN(timeMs) ? 0 : shareOf(timeMs);
  return (
    <div className="ticks">
      <div
        className="line"
        role="slider"
        tabIndex={0}
        aria-label="Moment, change by change"
        aria-orientation="horizontal"
        aria-valuemin={first === null ? moment.version : Math.min(first.version - 1, moment.version)}
        aria-valuemax={Math.max(later?.version ?? 0, moment.version)}
        aria-valuenow={moment.version}
        aria-valuetext={`${momentWords(at, moment)}, version ${formatNumber(moment.version)}`}
        onKeyDown={onKey}
        onClick={onClick}
      >
        <svg viewBox="0 0 1000 40" preserveAspectRatio="none" aria-hidden="true">
          <path className="t-base" d="M0 38H1000" />
          <path className="t-tick" d={drawn.map((each) => tick(shareOf(Date.parse(each.created_at)))).join('')} />
        </svg>
        <i className="knob" style={{ left: `${knob * 100}%` }}>
          <span className={knob > 0.9 ? 'right' : knob < 0.1 ? 'left' : ''}>{shortWords(at, moment)}</span>
        </i>
      </div>
      <div className="x">
        {[0, 0.25, 0.5, 0.75].map((share) => (
          <span key={share} className={share === 0.25 || share === 0.75 ? 'p2' : undefined}>
            {labelOf(window.fromMs + share * (window.toMs - window.fromMs), sizeMs)}
          </span>
        ))}
        <span>{window.isUntilNow ? 'now' : labelOf(window.toMs, sizeMs)}</span>
      </div>
      <p className="fine muted">
        {drawn.length === 0
          ? 'No change in this range.'
          : `${hasMore ? `The newest ${formatNumber(drawn.length)} changes` : drawn.length === 1 ? 'One change' : `${formatNumber(drawn.length)} changes`} in this range.`}{' '}
        Times are of UTC. The arrow keys go from change to change.
      </p>
    </div>
  );
}

type Target = Past['earlier'] | 'now' | undefined;

function targets({
  earlier,
  later,
  first,
}: Pick<Past, 'earlier' | 'later' | 'first'>): Readonly<Record<string, Target>> {
  return { ArrowLeft: earlier, ArrowDown: earlier, ArrowRight: later, ArrowUp: later, Home: first, End: 'now' };
}

/** The range before now, or around a moment that is older. */
function windowOf(timeMs: number, sizeMs: number): { fromMs: number; toMs: number; isUntilNow: boolean } {
  const nowMs = Math.ceil(Date.now() / 60_000) * 60_000;
  const isUntilNow = Number.isNaN(timeMs) || timeMs >= nowMs - sizeMs;
  const toMs = isUntilNow ? nowMs : timeMs + sizeMs / 2;
  return { fromMs: toMs - sizeMs, toMs, isUntilNow };
}

function secondsOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

function labelOf(ms: number, sizeMs: number): string {
  return sizeMs === sizes.day ? clockWords(ms).slice(0, 5) : formatDay(ms);
}

function tick(share: number): string {
  return `M${(share * 1000).toFixed(1)} 38V24`;
}

function nearest(changes: readonly Change[], ms: number): number | undefined {
  let best: Change | undefined;
  for (const change of changes) if (best === undefined || distance(change, ms) < distance(best, ms)) best = change;
  return best?.version;
}

function distance({ created_at: at }: Change, ms: number): number {
  return Math.abs(Date.parse(at) - ms);
}
