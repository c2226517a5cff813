import type { ReactNode } from 'react';

import type { Health, HealthBook, HealthState } from '../api/health.ts';
import { useHealth } from '../api/health.ts';
import { VerdictBox, Verdict } from '../components/verdict.tsx';
import type { Tone } from '../components/verdict.tsx';
import type { Column } from '../components/table.tsx';
import { countOf, formatNumber } from '../lib/text.ts';
import { formatClock, formatSeconds } from '../lib/time.ts';

/** A glyph with a word each, the worst first. */
const states: Readonly<Record<HealthState, readonly [tone: Tone, words: string, rank: number]>> = {
  does_not_answer: ['deny', 'Does not answer', 0],
  no_agent: ['deny', 'Does not answer', 1],
  answers_in_part: ['warn', 'Answers in part', 2],
  slow: ['warn', 'Slow', 3],
  no_login_returns: ['warn', 'Nobody signs in', 3],
  unknown: ['off', 'Cannot be told', 4],
  nobody_yet: ['off', 'Nobody yet', 5],
  no_requests: ['off', 'No requests', 6],
  answers: ['allow', 'Answers', 7],
};

export function rankOf(state: HealthState | undefined): number {
  return state === undefined ? 4 : states[state][2];
}

/** States that somebody has to look at. */
export function isInTrouble(state: HealthState): boolean {
  return rankOf(state) <= 3;
}

/** Nothing until it is known: never an old green. */
export function StateWord({ state }: { readonly state: HealthState | undefined }) {
  if (state === undefined) return <span className="muted">…</span>;
  const [tone, words] = states[state];
  return <Verdict tone={tone}>{words}</Verdict>;
}

function shareText(part: number, whole: number): string {
  if (part === 0) return '0 %';
  const share = (100 * part) / Math.max(whole, part);
  return share < 0.01 ? '< 0.01 %' : `${share.toFixed(share >= 10 || Number.isInteger(share) ? 0 : 2)} %`;
}

export function timeText(ms: number | null): string {
  if (ms === null) return '–';
  return ms < 1000 ? `${Math.max(1, Math.round(ms))} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** Minutes that the counts are of. */
function minutesOf({ sinceMs }: HealthBook): number {
  return Math.min(60, Math.max(1, (Date.now() - sinceMs) / 60_000));
}

function rateText(requests: number, book: HealthBook): string {
  const rate = requests / minutesOf(book);
  if (requests === 0) return '0';
  return rate < 0.1 ? '< 0.1' : rate < 10 ? rate.toFixed(1) : formatNumber(Math.round(rate));
}

/** "the last hour", or since when there is anything. */
function windowWords(book: HealthBook): string {
  return minutesOf(book) > 59 ? 'the last hour' : `the time since ${formatClock(book.sinceMs)}`;
}

/** Errors and 95th percentile of a thing, for lists. */
export function healthColumns<Row extends { readonly id: string }>(
  book: HealthBook | undefined,
): readonly Column<Row>[] {
  return [
    {
      id: 'rate',
      head: 'Requests/min',
      priority: 'p3',
      isNumber: true,
      sortBy: ({ id }) => book?.find(id)?.requests ?? 0,
      cell: ({ id }) => <RateCell id={id} book={book} />,
    },
    {
      id: 'errors',
      head: 'Errors',
      priority: 'p2',
      isNumber: true,
      sortBy: ({ id }) => book?.find(id)?.errors ?? 0,
      cell: ({ id }) => <ErrorsCell health={book?.find(id)} />,
    },
  ];
}

export function RateCell({ id, book }: { readonly id: string; readonly book: HealthBook | undefined }) {
  const health = book?.find(id);
  return health === undefined || book === undefined ? '–' : rateText(health.requests, book);
}

export function ErrorsCell({ health }: { readonly health: Health | undefined }) {
  return health === undefined || health.requests === 0 ? '–' : shareText(health.errors, health.requests);
}

type Noun = readonly [one: string, many: string];
export const requestNoun: Noun = ['request', 'requests'];
export const connectionNoun: Noun = ['connection', 'connections'];

/** How many failed, of the last ten minutes or else of the hour: "3 of 9 requests of the last ten minutes failed". */
export function failedText(health: Health, book: HealthBook, noun: Noun = requestNoun): string {
  const isRecent = health.recent_requests > 0;
  const [part, whole] = isRecent ? [health.recent_errors, health.recent_requests] : [health.errors, health.requests];
  const window = isRecent ? 'the last ten minutes' : windowWords(book);
  const some = part >= whole ? `all ${countOf(whole, ...noun)}` : `${formatNumber(part)} of ${countOf(whole, ...noun)}`;
  return `${some} of ${window} failed`;
}

function titleOf(state: HealthState, health: Health | undefined, book: HealthBook, noun: Noun): string {
  const counted = health === undefined ? '' : `${countOf(health.requests, ...noun)} in ${windowWords(book)}`;
  switch (state) {
    case 'answers':
      return `Answers: ${counted}, errors ${health === undefined ? '' : shareText(health.errors, health.requests)}`;
    case 'answers_in_part':
    case 'does_not_answer':
      return `${states[state][1]}: ${health === undefined ? '' : failedText(health, book, noun)}`;
    case 'slow':
      return `Slow: 5 in 100 ${noun[1]} wait ${timeText(health?.p95_ms ?? null)} or longer`;
    case 'no_login_returns':
      return 'Nobody signs in: no login has come back from the provider';
    case 'no_agent':
      return 'Does not answer: no agent is connected';
    case 'no_requests':
      return `No ${noun[1]} in ${windowWords(book)}`;
    case 'nobody_yet':
      return 'Nobody has come yet';
    default:
      return 'Cannot be told how it does';
  }
}

const reasons: Readonly<Partial<Record<HealthState, string>>> = {
  no_agent: 'Nobody has an agent with a tunnel for it: visitors get 503.',
  no_requests: 'Whether it would answer is known when somebody comes.',
  nobody_yet: 'Whether it answers is known when somebody comes.',
  unknown: 'No gateway has said what happened to its traffic, or there are more edges than they tell apart.',
};

/** The verdict on an edge or backend, its figures, and the last error in words. */
export function HealthBox({
  thing,
  isOffline = false,
  noun = requestNoun,
  actions,
}: {
  readonly thing: { readonly id: string; readonly created_at: string };
  readonly isOffline?: boolean;
  readonly noun?: Noun;
  readonly actions?: ReactNode;
}) {
  const book = useHealth();
  if (book === undefined) return <section className="verdict" aria-busy="true" />;
  const health = book.find(thing.id);
  const state = book.stateOf(thing, isOffline);
  return (
    <VerdictBox
      tone={states[state][0]}
      title={titleOf(state, health, book, noun)}
      reason={state === 'answers' && health !== undefined && health.errors > 0 ? earlierText(health) : reasons[state]}
      actions={actions}
    >
      {health === undefined ? null : <Figures health={health} book={book} noun={noun} />}
      {health?.last_error === undefined ? null : <Said error={health.last_error} />}
    </VerdictBox>
  );
}

function earlierText({ errors, recent_errors: recent }: Health): string | undefined {
  return recent === 0 ? `${countOf(errors, 'error', 'errors')} earlier, none in the last ten minutes.` : undefined;
}

function Figures({ health, book, noun }: { readonly health: Health; readonly book: HealthBook; readonly noun: Noun }) {
  const { requests, errors, turned_away: away, p95_ms: p95 } = health;
  const name = noun[1].charAt(0).toUpperCase() + noun[1].slice(1);
  return (
    <div className="stats">
      <Figure label={name} value={rateText(requests, book)} unit="a minute" />
      <Figure label={noun === connectionNoun ? 'Errors' : 'Errors, answers 5xx'} value={shareText(errors, requests)} />
      {p95 === null ? null : <Figure label="Time, 95th percentile" value={timeText(p95)} />}
      <Figure label="Turned away" value={formatNumber(away)} />
    </div>
  );
}

function Figure({ label, value, unit }: { readonly label: string; readonly value: string; readonly unit?: string }) {
  return (
    <div>
      <span className="n">
        {value}
        {unit === undefined ? null : <small> {unit}</small>}
      </span>
      <span className="l">{label}</span>
    </div>
  );
}

/** Such as "GET /checkout was answered 502: The upstream server refused the connection." */
export function errorText({ message, method, path, status }: NonNullable<Health['last_error']>): ReactNode {
  if (method === undefined) return message;
  return (
    <>
      <code>
        {method} {path}
      </code>{' '}
      was answered {status}: {message}
    </>
  );
}

function Said({ error }: { readonly error: NonNullable<Health['last_error']> }) {
  return (
    <div className="said">
      <p>
        <b className="strong">Last error {formatSeconds(error.at)}</b> {errorText(error)}
      </p>
    </div>
  );
}
