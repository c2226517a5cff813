import { countOf } from '../../lib/text.ts';
import { formatMoment } from '../../lib/time.ts';
import { isAtLeast } from './rehearsal.ts';
import type { Rehearsal, Turned, TriedVisits } from './rehearsal.ts';

/** The effect of saving, in numbers. */
export function saveWords({ visits }: Rehearsal): string {
  if (typeof visits === 'string') return 'Save without a rehearsal';
  const { newly_refused: refused, newly_admitted: admitted, cannot_tell: unknown } = visits;
  if (refused.requests > 0) return `Save and refuse ${leastWords(visits, refused)}`;
  if (admitted.requests > 0) return `Save and let in ${leastWords(visits, admitted)}`;
  return visits.is_partial || unknown.requests > 0 ? 'Save, nobody known notices' : 'Save, nobody notices';
}

/** Such as "at least 3 sources". */
export function leastWords(visits: TriedVisits, turned: Turned): string {
  return `${isAtLeast(visits, turned) ? 'at least ' : ''}${countOf(turned.sources, 'source', 'sources')}`;
}

/** What the change was tried on. */
export function triedWords(what: string, { requests, since, is_partial: isPartial }: TriedVisits): string {
  const time = since === null ? '' : ` since ${formatMoment(since)}`;
  return `${what}, tried on ${isPartial ? '' : 'every one of '}${countOf(requests, 'request', 'requests')} that are kept${time}${isPartial ? '' : ', none left out'}.`;
}

const kinds: Readonly<Record<string, string>> = {
  https_edges: 'HTTPS edge',
  tcp_edges: 'TCP edge',
  tls_edges: 'TLS edge',
  cloud_endpoints: 'endpoint',
};

/** A place that people reach, whose kind the server names as files do. */
export function placeWords(to: string): string {
  const [kind = '', ...rest] = to.split(' ');
  return [kinds[kind] ?? kind, ...rest].join(' ');
}

/** Such as "0.011 %": a share with as many digits as tell something. */
export function shareWords(share: number): string {
  const percent = share * 100;
  if (share >= 1) return '100 %';
  if (percent >= 99.5) return 'nearly all';
  return `${percent >= 10 ? percent.toFixed(0) : percent >= 1 ? percent.toFixed(1) : percent === 0 ? '0' : Number(percent.toPrecision(2)).toString()} %`;
}
