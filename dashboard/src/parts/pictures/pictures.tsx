import { useMemo } from 'react';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';

import type { Change, DecisionSummary } from '../../../../client/src/index.ts';
import { useDecisionSummary, useMostRefused } from '../../api/decision-summary.ts';
import { useList } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { ButtonGroup } from '../../components/button.tsx';
import { Plot } from '../../components/plot.tsx';
import { ErrorState, Skeleton } from '../../components/states.tsx';
import { rangeOf } from '../../lib/picture-times.ts';
import { countOf, formatNumber } from '../../lib/text.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { countedOf, pastRequests } from '../past-requests.ts';
import type { CountedFilter, Range, RequestFilter } from '../past-requests.ts';
import { causesText, filterOf, inWords, isMarked, labelOf, missingWords, picturesOf } from './picture-data.ts';
import type { PictureKind } from './picture-data.ts';
import { PictureTable } from './picture-table.tsx';

const ranges: readonly (readonly [Range, string])[] = [
  ['hour', 'Hour'],
  ['day', 'Day'],
  ['week', 'Week'],
];

/** Requests, errors, refusals by cause and times over an hour, a day or a week, with what is usual and the changes in between. */
export function Pictures({
  of,
  title = 'Traffic',
  kind = 'traffic',
  note,
  otherwise,
}: {
  /** Filters of the page "Past requests", to which every point leads. */
  readonly of: CountedFilter;
  readonly title?: string;
  readonly kind?: PictureKind;
  /** Says what is counted here, and what is not. */
  readonly note?: ReactNode;
  /** Shown where no decisions are kept. */
  readonly otherwise?: ReactNode;
}) {
  const [params, setParams] = useUrlState();
  const range = ranges.find(([each]) => each === params.get('pictures'))?.[0] ?? 'hour';
  const { data: summary, error, retry } = useDecisionSummary(countedOf(of), range);
  if (summary !== undefined && summary.counted_from === undefined)
    return <NotKept summary={summary}>{otherwise}</NotKept>;
  return (
    <section className="panel pictures">
      <header>
        <h2>
          {title}
          <small>{inWords[summary === undefined ? range : rangeOf(summary)]}</small>
        </h2>
        <ButtonGroup
          label="Range of the pictures"
          value={range}
          options={ranges}
          onChange={(value) => setParams({ pictures: value === 'hour' ? undefined : value })}
        />
      </header>
      {error !== undefined && summary === undefined ? (
        <ErrorState title="The pictures could not be read" error={error} onRetry={retry} />
      ) : summary === undefined ? (
        <div className="pad">
          <Skeleton />
        </div>
      ) : (
        <Drawn summary={summary} range={rangeOf(summary)} of={of} kind={kind} note={note} />
      )}
    </section>
  );
}

function NotKept({ summary, children }: { readonly summary: DecisionSummary; readonly children: ReactNode }) {
  const isOff = summary.gateways.every(({ state }) => state === 'keeps_none');
  return (
    <>
      {children}
      <p className="muted fine">
        {isOff ? (
          <>
            {children === undefined || children === null
              ? 'There is no picture: no'
              : 'Only the last hour is remembered: no'}{' '}
            gateway keeps decisions. <code>GATEHOUSE_DECISIONS</code> names a folder to keep them in, and then a day and
            a week are shown, with what is usual.
          </>
        ) : (
          'No decision about a visitor is kept yet.'
        )}
      </p>
    </>
  );
}

interface DrawnProps {
  readonly summary: DecisionSummary;
  readonly range: Range;
  readonly of: CountedFilter;
}

function Drawn({
  summary,
  range,
  of,
  kind,
  note,
}: DrawnProps & { readonly kind: PictureKind; readonly note: ReactNode }) {
  const [, navigate] = useLocation();
  const { points, step } = summary;
  const changes = useChanges(summary);
  const marks = useMemo(() => changes.map(({ created_at: at }) => Date.parse(at) / 1000), [changes]);
  const span = useMemo(
    () => ({ from: Date.parse(summary.since) / 1000, to: Date.parse(summary.until) / 1000, step: summary.step }),
    [summary],
  );
  const times = useMemo(() => points.map(({ at }) => Date.parse(at) / 1000), [points]);
  const pictures = useMemo(() => picturesOf(summary, range, kind), [summary, range, kind]);
  const open = (at: number): void => {
    const point = points[at];
    if (point !== undefined) navigate(pastRequests(filterOf(point, step, of)));
  };
  return (
    <>
      <div className={pictures.length === 1 ? 'minis one' : 'minis'}>
        {pictures.map(({ name, figure, unit, usual, series, sentence }) => (
          <div key={name}>
            <h3>{name}</h3>
            <span className="n">
              {figure}
              {unit === undefined ? null : <small> {unit}</small>}
            </span>
            <p>{usual}</p>
            <Plot span={span} times={times} series={series} sentence={sentence} marks={marks} onPoint={open} />
          </div>
        ))}
      </div>
      <div className="pad stack tight">
        <Refused summary={summary} range={range} of={of} />
        <Changes changes={changes} summary={summary} range={range} />
        {note === undefined ? null : <p className="fine muted">{note}</p>}
        {missingWords(summary).map((words) => (
          <p key={words} className="fine muted">
            {words}
          </p>
        ))}
        <PictureTable summary={summary} range={range} links={of} />
      </div>
    </>
  );
}

/** Changes that are marked. */
const mostMarks = 50;

/** Changes of the configuration within the range, which only admins may read. */
function useChanges({ since, until }: DecisionSummary): readonly Change[] {
  const { role } = useSession();
  const { data } = useList('ChangesList', { query: { since, until }, wanted: mostMarks, enabled: role === 'admin' });
  return useMemo(() => (data ?? []).filter(isMarked).slice(0, mostMarks), [data]);
}

function Changes({
  changes,
  summary: { since },
  range,
}: {
  readonly changes: readonly Change[];
  readonly summary: DecisionSummary;
  readonly range: Range;
}) {
  if (changes.length === 0) return null;
  const times = [...new Set(changes.map(({ created_at: at }) => labelOf(at, range)))].slice(0, 3);
  return (
    <p className="fine">
      <Link to={`/changes?since=${since.slice(0, 10)}`}>
        {countOf(changes.length, 'change', 'changes')} of the configuration
      </Link>{' '}
      <span className="muted">
        {changes.length === 1 ? 'is' : 'are'} marked, the newest at {times.join('; ')}.
      </span>
    </p>
  );
}

/** By what visitors were refused, and who most often. */
function Refused({ summary, range, of }: DrawnProps) {
  const words = causesText(summary);
  const most = useMostRefused(countedOf(of), range, words !== undefined);
  if (words === undefined) return null;
  const refused = (more: RequestFilter): string => pastRequests({ ...of, verdict: 'refused', range, ...more });
  return (
    <p className="fine">
      <b className="strong">Refused:</b> {words}. {most.length === 0 ? null : 'Most often '}
      {most.map(({ key, refused: count }, at) => (
        <span key={key}>
          {at === 0 ? '' : ', '}
          <Link className="mono" to={refused({ source: key })}>
            {key}
          </Link>{' '}
          ({formatNumber(count)})
        </span>
      ))}
      {most.length === 0 ? null : '. '}
      <Link to={refused({})}>See them</Link>
    </p>
  );
}
