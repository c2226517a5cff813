import type { Decision } from '../../src/decisions/decision-line.ts';
import { Decisions } from '../../src/decisions/decisions.ts';
import type { StoreOptions } from '../../src/decisions/messages.ts';

const usual: Decision = {
  at_ms: 0,
  kind: 'https',
  verdict: 'allowed',
  request_id: '',
  edge_id: 'edghts_1',
  route_id: 'edghtsrt_1',
  source: '203.0.113.9',
  port: 0,
  host: 'shop.example.com',
  method: 'GET',
  path: '/',
  protocol: '2',
  status: 200,
  code: 0,
  module: '',
  rule: '',
  would_be_refused_by: '',
  reason: '',
  person: '',
  backend_id: 'bkdstc_1',
  duration_us: 1500,
  upstream_us: 900,
  bytes_in: 0,
  bytes_out: 120,
  configuration_version: 7,
  worker: 1,
};

/** A decision of now, with these fields. */
export function decision(fields: Partial<Decision> = {}): Decision {
  return { ...usual, at_ms: Date.now(), ...fields };
}

/** Remembers what a store of decisions tells. */
export class Seen {
  kept = 0;
  dropped = 0;
  bytes = 0;
  archive = { waiting: 0, aside: 0, lost: 0 };
  readonly lines: string[] = [];
  readonly log = {
    info: () => {},
    warn: (fields: object, message: string) => this.lines.push(`${message} ${JSON.stringify(fields)}`),
    error: (fields: object, message: string) => this.lines.push(`${message} ${JSON.stringify(fields)}`),
  };
  readonly observer = {
    decisionsKept: (rows: number) => (this.kept += rows),
    decisionsDropped: (rows: number) => (this.dropped += rows),
    decisionsSize: (bytes: number) => (this.bytes = bytes),
    decisionsArchive: (files: Seen['archive']) => (this.archive = files),
  };
}

/** Opens a store of decisions with the usual bounds. */
export function openDecisions(
  folder: string,
  options: Partial<StoreOptions> = {},
  seen = new Seen(),
  answerMs?: number,
): Promise<Decisions> {
  const all = { folder, days: 7, maxBytes: 2 ** 30, archive: undefined, ...options };
  const parts = { options: all, log: seen.log, observer: seen.observer };
  return Decisions.open(answerMs === undefined ? parts : { ...parts, answerMs });
}
