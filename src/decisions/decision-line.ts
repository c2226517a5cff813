import { formatIp, parseIp } from '../lib/ip/address.ts';
import { BoundedCache } from '../lib/bounded-cache.ts';
import type { columns } from './columns.ts';

type Column = keyof typeof columns;
type Unwritten = 'number' | 'source' | 'source_high' | 'source_low';

/** One decision, without its number. Whole numbers, and texts as visitors have sent them. */
export type Decision = {
  readonly [Name in Exclude<Column, Unwritten>]: (typeof columns)[Name] extends 'VARCHAR' ? string : number;
} & { readonly source: string };

/** Longest texts, in UTF-16 units; longer ones are cut. */
const limits = { host: 253, method: 40, path: 512, reason: 300, person: 254, rule: 300, other: 300 } as const;
/** A line is a row, and a tab begins a column: neither these nor other control characters are kept. */
// oxlint-disable-next-line no-control-regex
const control = /[\u0000-\u001f\u007f\u2028\u2029]/g;
const replacement = '\ufffd';

/** Writes a decision as a line of its log. */
export function decisionLine(number: number, decision: Decision): string {
  const { at_ms, kind, verdict, request_id, edge_id, route_id, source, port, protocol, status, code } = decision;
  const { configuration_version, worker } = decision;
  const [duration, upstream] = [whole(decision.duration_us), whole(decision.upstream_us)];
  const [bytesIn, bytesOut] = [whole(decision.bytes_in), whole(decision.bytes_out)];
  const host = clean(decision.host, limits.host);
  const method = clean(decision.method, limits.method);
  const path = clean(decision.path, limits.path);
  const module = clean(decision.module, limits.other);
  const rule = clean(decision.rule, limits.rule);
  const by = clean(decision.would_be_refused_by, limits.other);
  const reason = clean(decision.reason, limits.reason);
  const person = clean(decision.person, limits.person);
  const backend = clean(decision.backend_id, limits.other);
  return (
    `${number}\t${at_ms}\t${kind}\t${verdict}\t${request_id}\t${edge_id}\t${route_id}\t${sourceFields(source)}\t${port}\t` +
    `${host}\t${method}\t${path}\t${protocol}\t${status}\t${code}\t${module}\t${rule}\t${by}\t${reason}\t${person}\t${backend}\t` +
    `${duration}\t${upstream}\t${bytesIn}\t${bytesOut}\t${configuration_version}\t${worker}\n`
  );
}

/** A number that its column cannot hold would cost the row: 64 bits end far beyond, and NaN is none. */
function whole(value: number): number {
  return Number.isNaN(value) ? 0 : Math.min(value, Number.MAX_SAFE_INTEGER);
}

function clean(text: string, limit: number): string {
  if (text === '') return text;
  const kept = text.length > limit ? text.slice(0, limit) : text;
  return (kept.search(control) === -1 ? kept : kept.replaceAll(control, replacement)).toWellFormed();
}

const remembered = 1_000;
const known = new BoundedCache<string, string>(remembered);
const noSource = '\t0\t0';

function sourceFields(source: string): string {
  let fields = known.get(source);
  if (fields === undefined) known.set(source, (fields = readSource(source)));
  return fields;
}

function readSource(source: string): string {
  const address = parseIp(source);
  if (address === undefined) return noSource;
  const { high, low } = sourceHalves(address);
  return `${formatIp(address)}\t${high}\t${low}`;
}

const mapped = 0xffffn << 32n;

/** The two halves of an address as an IPv6 address. */
export function sourceHalves(address: NonNullable<ReturnType<typeof parseIp>>): {
  readonly high: bigint;
  readonly low: bigint;
} {
  const { family, word0, word1, word2, word3 } = address;
  if (family === 4) return { high: 0n, low: mapped | BigInt(word0 >>> 0) };
  return { high: join(word0, word1), low: join(word2, word3) };
}

function join(first: number, second: number): bigint {
  return (BigInt(first >>> 0) << 32n) | BigInt(second >>> 0);
}
