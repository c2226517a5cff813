import type { TrafficEvent } from '../../../../client/src/index.ts';
import { formatMs, verdictWords } from '../../parts/traffic-words.ts';

/** The answer of an HTTPS edge; a TCP connection has none. */
export function statusWords({ status, phase, verdict }: TrafficEvent): string {
  if (status !== undefined) return String(status);
  if (verdict === 'refused') return 'reset';
  return phase === 'opened' ? 'open' : 'closed';
}

/** Such as "Let in, 201 in 38 ms". */
export function titleOfEvent(event: TrafficEvent): string {
  const word = event.verdict === 'warned' ? 'Let in, warned' : verdictWords[event.verdict];
  const status = event.status === undefined ? '' : `, ${event.status}`;
  if (event.phase === 'opened') return `${word}, still open`;
  const time = event.duration_ms === undefined ? '' : `${formatMs(event.duration_ms)} ms`;
  if (event.kind === 'tcp') return time === '' ? word : `${word}, closed after ${time}`;
  return time === '' ? `${word}${status}` : `${word}${status} in ${time}`;
}

export const filterNames = ['edge', 'verdict', 'status', 'slower', 'q'] as const;

/** Whether an event passes what the URL asks for. */
export function fitsFilter(event: TrafficEvent, params: URLSearchParams): boolean {
  const [edge, verdict, status, slower, text] = filterNames.map((name) => params.get(name));
  if (edge !== null && event.edge_id !== edge) return false;
  if (verdict !== null && event.verdict !== verdict) return false;
  if (status !== null && String(event.status ?? '').charAt(0) !== status) return false;
  if (slower !== null && (event.duration_ms ?? 0) < Number(slower)) return false;
  if (text === null || text === undefined) return true;
  return `${event.client_ip} ${event.method ?? 'tcp'} ${event.hostport}${event.path ?? ''}`
    .toLowerCase()
    .includes(text.toLowerCase());
}
