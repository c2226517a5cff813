import { countOf, formatNumber } from '../../lib/text.ts';
import { isAtLeast } from './rehearsal.ts';
import type { Rehearsal, Turned, TriedVisits } from './rehearsal.ts';

/** The effect of saving, in numbers. */
export function saveWords({ visits }: Rehearsal): string {
  if (typeof visits === 'string') return 'Save without a rehearsal';
  const { refused, admitted } = visits;
  const least = isAtLeast(visits) ? 'at least ' : '';
  if (refused.sources > 0) return `Save and refuse ${least}${sourcesOf(refused)}`;
  if (admitted.sources > 0) return `Save and let in ${least}${sourcesOf(admitted)}`;
  return isAtLeast(visits) || visits.unknown > 0 ? 'Save, nobody known notices' : 'Save, nobody notices';
}

export function sourcesOf({ sources }: Turned): string {
  return countOf(sources, 'source', 'sources');
}

/** What the change was tried on. */
export function triedWords(what: string, visits: TriedVisits): string {
  const { requests, gateways, leftOut } = visits;
  const on = gateways.all > 1 ? ` on ${formatNumber(gateways.answered)} of ${formatNumber(gateways.all)} gateways` : '';
  const left = leftOut === 0 ? 'none left out' : `${formatNumber(leftOut)} were not kept`;
  return `${what}, tried on every decision that is kept: ${countOf(requests, 'request', 'requests')}${on}, ${left}.`;
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

/** Such as "0.011 %": a part of all, with as many digits as tell something. */
export function shareWords(part: number, all: number): string {
  if (all === 0 || part === 0) return '0 %';
  const percent = (part / all) * 100;
  if (percent >= 99.95 && part < all) return 'nearly all';
  return `${percent >= 10 ? percent.toFixed(0) : percent >= 1 ? percent.toFixed(1) : percent.toPrecision(2)} %`;
}
