import type { Random } from '../../../e2e/gateway/support/random.ts';
import { newId } from '../../../../src/lib/ids.ts';
import type { Prepared } from '../account.ts';
import { hostileIds } from '../hostile-texts.ts';
import type { ApiOperation } from '../operations.ts';
import { randomBody } from './bodies.ts';
import type { Pool } from './pool.ts';

/** A request as it goes on the wire. */
export interface FuzzRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

export interface RequestSource {
  readonly operation: ApiOperation;
  /** A call of the operation that succeeded, or would. */
  readonly prepared: Prepared;
  readonly token: string;
  /** Ids of the caller's account. */
  readonly own: Pool;
  /** Ids of another account. */
  readonly foreign: Pool;
}

const contentTypes = [
  'application/json; charset=utf-8',
  'APPLICATION/JSON',
  'application/json;charset=utf-16',
  'application/vnd.api+json',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json, text/plain',
  '',
  ';',
];

const queries = [
  'limit=1',
  'limit=100',
  'limit=0',
  'limit=101',
  'limit=1e2',
  'limit=%31',
  'limit=',
  'limit=1&limit=2',
  'before_id=',
  'beforeId=x',
  'filter=1',
  'kind=ip_policy',
  'since=2026-01-01T00:00:00Z',
  'until=x',
  'actor=%00',
  '%zz',
  '__proto__=1',
  'constructor[prototype]=1',
  '=',
  '&&',
  '?',
  `limit=${'9'.repeat(300)}`,
];

/** The guard against locking oneself out stays on, or the run would lock itself out. */
const oddHeaders: readonly (readonly [string, string])[] = [
  ['if-match', '*'],
  ['if-match', '"x"'],
  ['if-match', 'W/"x", "y"'],
  ['if-match', ''],
  ['if-none-match', '*'],
  ['idempotency-key', 'same'],
  ['idempotency-key', 'a b'],
  ['idempotency-key', 'x'.repeat(256)],
  ['idempotency-key', '\u00e9'],
  ['gatehouse-allow-lockout', 'maybe'],
  ['x-http-method-override', 'DELETE'],
  ['x-forwarded-for', '203.0.113.9'],
  ['expect', '100-continue'],
  ['accept', 'text/html;q=1, */*;q=0'],
  ['accept-encoding', 'gzip, br;q=0'],
  ['content-encoding', 'gzip'],
  ['range', 'bytes=0-1'],
  ['x-large', 'x'.repeat(12_000)],
  ['service-version', '1'],
  ['service-version', '2 '],
  ['service-version', ''],
];

const badTokens = ['', 'x', 'ak_2', '\u00ff'.repeat(20), `${'a'.repeat(27)}_${'b'.repeat(43)}`, 'x'.repeat(9000)];

export function randomRequest(random: Random, source: RequestSource): FuzzRequest {
  const { operation } = source;
  const method = random.below(40) === 0 ? random.pick(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) : operation.method;
  const wantsBody = operation.bodySchema !== undefined ? random.below(20) > 0 : random.below(20) === 0;
  const body = wantsBody && method !== 'GET' ? makeBody(random, source) : undefined;
  return { method, target: randomTarget(random, source), headers: randomHeaders(random, source, body), body };
}

function makeBody(random: Random, { operation, prepared, own, foreign }: RequestSource): Buffer {
  const ids = [...own.ids, ...foreign.ids, newId('ipp'), newId('usr')];
  return randomBody(random, { schema: operation.bodySchema ?? {}, example: prepared.body ?? {}, ids });
}

function randomTarget(random: Random, source: RequestSource): string {
  const { operation, prepared } = source;
  const path = operation.params.reduce(
    (filled, name, at) => filled.replace(`{${name}}`, () => randomId(random, source, prepared.ids[at] ?? '')),
    operation.path,
  );
  if (random.below(6) > 0) return path;
  const query = random.below(3) === 0 ? `before_id=${random.pick(source.foreign.ids)}` : random.pick(queries);
  return `${path}?${query}`;
}

function randomId(random: Random, { own, foreign }: RequestSource, prepared: string): string {
  const [kind = ''] = prepared.split('_', 1);
  switch (random.below(10)) {
    case 0:
      return random.pick(hostileIds(prepared, random.pick(own.ids)));
    case 1:
      return foreign.pick(kind, random) ?? newId(kind);
    case 2:
      return random.pick(own.ids);
    case 3:
    case 4:
      return prepared;
    default:
      return own.pick(kind, random) ?? prepared;
  }
}

function randomHeaders(random: Random, { token }: RequestSource, body: Buffer | undefined): Record<string, string> {
  const bearer = random.below(50) === 0 ? random.pick(badTokens) : token;
  const headers: Record<string, string> = { authorization: `Bearer ${bearer}`, 'service-version': '2' };
  if (body !== undefined) {
    headers['content-type'] = random.below(12) === 0 ? random.pick(contentTypes) : 'application/json';
    headers['content-length'] = String(body.length);
  }
  if (random.below(6) === 0) {
    const [name, value] = random.pick(oddHeaders);
    headers[name] = value;
  }
  return headers;
}
