import type { Condition, Health, HealthBook, HealthState } from '../api/health.ts';
import type { Tone } from '../components/verdict.tsx';
import { countOf, formatNumber } from '../lib/text.ts';
import { formatClock } from '../lib/time.ts';
import type { Fault } from './conditions.ts';

/** A glyph with a word each, the worst first. */
export const states: Readonly<Record<HealthState, readonly [tone: Tone, words: string, rank: number]>> = {
  does_not_answer: ['deny', 'Does not answer', 0],
  backend_down: ['deny', 'Does not answer', 1],
  no_agent: ['deny', 'Does not answer', 1],
  answers_in_part: ['warn', 'Answers in part', 2],
  backend_in_part: ['warn', 'Answers in part', 3],
  slow: ['warn', 'Slow', 3],
  no_login_returns: ['warn', 'Nobody signs in', 3],
  unknown: ['off', 'Unknown', 4],
  all_refused: ['off', 'All refused', 5],
  nobody_yet: ['off', 'Nobody yet', 5],
  no_requests: ['off', 'No requests', 6],
  checks_answer: ['allow', 'Answers', 7],
  answers: ['allow', 'Answers', 7],
};

export function rankOf(state: HealthState | undefined): number {
  return state === undefined ? 4 : states[state][2];
}

/** States that somebody has to look at. */
export function isInTrouble(state: HealthState): boolean {
  return rankOf(state) <= 3;
}

export function shareText(part: number, whole: number): string {
  if (part === 0) return '0 %';
  const share = (100 * part) / Math.max(whole, part);
  return share < 0.01 ? '< 0.01 %' : `${share.toFixed(share >= 10 || Number.isInteger(share) ? 0 : 2)} %`;
}

export function timeText(ms: number | null): string {
  if (ms === null) return '–';
  return ms < 1000 ? `${Math.max(1, Math.round(ms))} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** Minutes that the counts are of. */
function minutesOf({ sinceMs }: HealthBook, createdAt?: string): number {
  const firstMs = Math.max(sinceMs, createdAt === undefined ? 0 : Date.parse(createdAt));
  return Math.min(60, Math.max(1, (Date.now() - firstMs) / 60_000));
}

export function rateText(requests: number, book: HealthBook, createdAt?: string): string {
  const rate = requests / minutesOf(book, createdAt);
  if (requests === 0) return '0';
  return rate < 0.1 ? '< 0.1' : rate < 10 ? rate.toFixed(1) : formatNumber(Math.round(rate));
}

/** "in the last hour", or since when there is anything. */
function windowWords(book: HealthBook, createdAt?: string): string {
  const sinceMs = Math.max(book.sinceMs, createdAt === undefined ? 0 : Date.parse(createdAt));
  return Date.now() - sinceMs > 59 * 60_000 ? 'in the last hour' : `since ${formatClock(sinceMs)}`;
}

export type Noun = readonly [one: string, many: string];
export const requestNoun: Noun = ['request', 'requests'];
export const connectionNoun: Noun = ['connection', 'connections'];

/** How many failed, of the last ten minutes or else of the hour: "3 of 9 requests failed in the last ten minutes". */
function failedText(health: Health, book: HealthBook, noun: Noun = requestNoun): string {
  const isRecent = health.recent_requests > 0;
  const [part, whole] = isRecent ? [health.recent_errors, health.recent_requests] : [health.errors, health.requests];
  const window = isRecent ? 'in the last ten minutes' : windowWords(book);
  const some = part >= whole ? `all ${countOf(whole, ...noun)}` : `${formatNumber(part)} of ${countOf(whole, ...noun)}`;
  return `${some} failed ${window}`;
}

/** A thing that the box is about. */
export interface Thing {
  readonly id: string;
  readonly created_at: string;
}

export interface Told {
  readonly thing: Thing;
  readonly state: HealthState;
  readonly health: Health | undefined;
  readonly book: HealthBook;
  readonly noun: Noun;
  readonly fault: Fault | undefined;
}

export function titleOf({ thing, state, health, book, noun, fault }: Told): string {
  const window = windowWords(book, thing.created_at);
  const counted = health === undefined ? '' : `${countOf(health.requests, ...noun)} ${window}`;
  const behind =
    fault === undefined
      ? ''
      : fault.id === thing.id
        ? fault.words
        : `${fault.name}${/^\d/.test(fault.words) ? ':' : ''} ${fault.words}`;
  switch (state) {
    case 'answers':
      return `Answers: ${counted}, errors ${health === undefined ? '' : shareText(health.errors, health.requests)}`;
    case 'answers_in_part':
    case 'does_not_answer':
      return `${states[state][1]}: ${health === undefined ? 'see its backends' : failedText(health, book, noun)}`;
    case 'slow':
      return `Slow: 5 in 100 ${noun[1]} wait ${timeText(health?.p95_ms ?? null)} or longer`;
    case 'no_login_returns':
      return `Nobody signs in: ${loginsText(health)}`;
    case 'no_agent':
      return 'Does not answer: no agent is connected';
    case 'backend_down':
      return `Does not answer: ${fault?.id === thing.id ? 'all its addresses are down' : behind}`;
    case 'backend_in_part':
      return `Answers in part: ${behind}`;
    case 'checks_answer':
      return `Answers its checks: no ${noun[1]} ${window}`;
    case 'all_refused':
      return `All refused: nobody has got through ${window}`;
    case 'no_requests':
      return `No ${noun[1]} ${window}`;
    case 'nobody_yet':
      return 'Nobody has come yet';
    default:
      return 'Unknown';
  }
}

/** Logins from which it is no chance that none comes back, as the server has it. */
const tellingLogins = 3;

function areLoginsLost(health: Health | undefined): boolean {
  return health?.logins !== undefined && health.logins.back === 0 && health.logins.begun >= tellingLogins;
}

/** Such as "12 visitors left for the provider since 12:06, and none came back". */
function loginsText(health: Health | undefined): string {
  const begun = health?.logins?.begun ?? 0;
  return `${countOf(begun, 'visitor', 'visitors')} left for the provider, and none came back`;
}

export function reasonOf({ state, health, fault }: Told, condition: Condition): string | undefined {
  switch (state) {
    case 'answers':
      if (areLoginsLost(health)) return `But nobody signs in anew: ${loginsText(health)}.`;
      return health === undefined || health.errors === 0 ? undefined : earlierText(health);
    case 'backend_down':
    case 'backend_in_part':
      return fault?.reason;
    case 'no_login_returns':
      return 'The provider tells visitors why, but does not tell Gatehouse. Often the callback address is not registered there.';
    case 'no_agent':
      return 'No agent has a tunnel for it: visitors get 503.';
    case 'no_requests':
    case 'nobody_yet':
      return condition === 'up' ? 'Its backend answers.' : 'You will see whether it answers when somebody comes.';
    case 'unknown':
      return 'No gateway has reported on its traffic, or there are more edges than gateways count separately.';
    default:
      return undefined;
  }
}

function earlierText({ errors, recent_errors: recent }: Health): string | undefined {
  return recent === 0 ? `${countOf(errors, 'error', 'errors')} earlier, none in the last ten minutes.` : undefined;
}

type RefusalCause = NonNullable<Health['last_refusal']>['cause'];

const causeWords: Readonly<Record<RefusalCause, string>> = {
  rule: 'by IP rules',
  rate: 'by a rate limit',
  certificate: 'without a valid certificate',
  password: 'without the right password',
  token: 'without a valid token',
  login: 'without a permitted login',
  signature: 'without a valid signature',
  user_agent: 'by their user agent',
  other: 'for a fault of the request',
};

/** Causes of refusals, with their counts: "40 by a rate limit, 2 by IP rules". */
export function refusedText({ turned_away_by: causes }: Health): string {
  return causes.map(({ cause, count }) => `${formatNumber(count)} ${causeWords[cause]}`).join(', ');
}
