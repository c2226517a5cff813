import type { ReactNode } from 'react';

import { useHealth } from '../api/health.ts';
import type { Health } from '../api/health.ts';
import { useLive } from '../api/live.ts';
import { ButtonLink } from '../components/button.tsx';
import { VerdictBox } from '../components/verdict.tsx';
import type { Tone } from '../components/verdict.tsx';
import { formatNumber } from '../lib/text.ts';
import { formatSeconds } from '../lib/time.ts';
import { useConditions } from './conditions.ts';
import {
  connectionNoun,
  rateText,
  reasonOf,
  refusedText,
  requestNoun,
  shareText,
  states,
  timeText,
  titleOf,
} from './health-words.ts';
import type { Noun, Thing, Told } from './health-words.ts';

export interface FaultVerdict {
  readonly tone: Tone;
  readonly title: string;
  readonly reason: ReactNode;
}

/** The verdict on an edge or backend, its figures, and the last error and the last refusal in words. */
export function HealthBox({
  thing,
  leadsTo,
  noun = requestNoun,
  fault: known,
  actions,
}: {
  readonly thing: Thing;
  /** The backends that it leads to; a backend is its own. */
  readonly leadsTo: readonly string[];
  readonly noun?: Noun;
  /** The verdict where the page knows more of what is wrong. */
  readonly fault?: FaultVerdict | undefined;
  readonly actions?: ReactNode;
}) {
  const book = useHealth();
  const conditions = useConditions();
  useLive(liveLists);
  if (book === undefined || conditions === undefined) return <section className="verdict" aria-busy="true" />;
  const health = book.find(thing.id);
  const isBackend = leadsTo.length === 1 && leadsTo[0] === thing.id;
  const condition = conditions.of(leadsTo);
  const state = isBackend ? conditions.stateOf(thing) : book.stateOf(thing, condition);
  const told: Told = { thing, state, health, book, noun, fault: conditions.faultOf(leadsTo) };
  const isBehind = state === 'backend_down' || state === 'backend_in_part';
  return (
    <VerdictBox
      tone={known?.tone ?? states[state][0]}
      title={known?.title ?? titleOf(told)}
      reason={known === undefined ? reasonOf(told, condition) : known.reason}
      actions={
        <>
          {isBehind && told.fault !== undefined && told.fault.id !== thing.id ? (
            <ButtonLink to={`/backends/${told.fault.id}`}>See the backend</ButtonLink>
          ) : null}
          {actions}
        </>
      }
    >
      {health === undefined ? null : <Figures health={health} thing={thing} book={book} noun={noun} />}
      {health?.last_error === undefined ? null : <Said error={health.last_error} />}
      {health?.last_refusal === undefined ? null : <LastRefusal health={health} refusal={health.last_refusal} />}
    </VerdictBox>
  );
}

/** Agents come and go by themselves. */
const liveLists = ['TunnelGroupBackendsList'] as const;

function Figures({ health, thing, book, noun }: Pick<Told, 'thing' | 'book' | 'noun'> & { readonly health: Health }) {
  const { requests, errors, turned_away: away, p95_ms: p95 } = health;
  const name = noun[1].charAt(0).toUpperCase() + noun[1].slice(1);
  return (
    <div className="stats">
      <Figure label={name} value={rateText(requests, book, thing.created_at)} unit="a minute" />
      <Figure label={noun === connectionNoun ? 'Errors' : 'Errors, answers 5xx'} value={shareText(errors, requests)} />
      {p95 === null ? null : <Figure label="Time, 95th percentile" value={timeText(p95)} />}
      <Figure label="Refused" value={formatNumber(away)} />
    </div>
  );
}

function LastRefusal({
  health,
  refusal: { at, message, client_ip: ip },
}: {
  readonly health: Health;
  readonly refusal: NonNullable<Health['last_refusal']>;
}) {
  return (
    <div className="said">
      <p>
        <b className="strong">Refused: </b>
        {refusedText(health)}
      </p>
      <p>
        <b className="strong">Last refusal {formatSeconds(at)}</b> <code>{ip}</code>: {message}
      </p>
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
