import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { isLong, rounds } from '../support/long-form.ts';
import { Random } from '../e2e/gateway/support/random.ts';
import { responses, tokens } from './support/response-corpus.ts';
import { readByGateway, readByNode } from './support/response-readers.ts';
import type { Arrival, Reading } from './support/response-readers.ts';

/**
 * The gateway frames responses anew, so a response that its parser reads differently than another would is a security
 * hole. Node's client (llhttp) reads the same bytes here. The gateway's parser may refuse more, but never accept a
 * response that Node's refuses, nor read another one from the same bytes.
 */

const corpus = Object.values(responses);
const requests = [
  { method: 'GET', upgrade: false },
  { method: 'HEAD', upgrade: false },
  { method: 'GET', upgrade: true },
] as const;

/** Differences that are allowed. */
const allowed = {
  /**
   * The answer to HEAD ends with its head (RFC 9112, 6.3), so the connection can be used again. Node decides that
   * before it looks at the method, and closes where neither a length nor chunks are announced.
   */
  headWithoutLength: ({ to }: Arrival): boolean => to.method === 'HEAD',
  /** Node obeys `Proxy-Connection` like `Connection`, but it has no meaning for an origin (RFC 9112, C.2.2). */
  proxyConnection: ({ pieces }: Arrival): boolean =>
    /^proxy-connection:/im.test(Buffer.concat(pieces).toString('latin1')),
  /**
   * The final response still comes after an interim one with `Connection: close` or of HTTP/1.0, and is framed by
   * itself. Node reads nothing more.
   */
  closingInterim: (arrival: Arrival, ours: Reading, nodes: Reading): boolean =>
    (ours.interimCloses || allowed.proxyConnection(arrival)) && ours.interims.length > 0 && nodes.head === undefined,
};

/** Throws if the two readings differ in a way that is not allowed. */
function compare(arrival: Arrival, ours: Reading, nodes: Reading): void {
  const stopped = allowed.closingInterim(arrival, ours, nodes);
  const seen = Math.min(ours.interims.length, stopped ? nodes.interims.length : Infinity);
  assert.deepEqual(ours.interims.slice(0, seen), nodes.interims.slice(0, seen), 'interim responses');
  if (ours.head === undefined || stopped) return;
  assert.deepEqual(ours.head, nodes.head, 'head');
  if (ours.end === 'broken') {
    // Each parser may stop at the first wrong byte, with or without the bytes before it.
    const shared = Math.min(ours.body.length, nodes.body.length);
    assert.equal(ours.body.slice(0, shared), nodes.body.slice(0, shared), 'start of the body');
    return;
  }
  assert.deepEqual({ ...ours, reusable: nodes.reusable, interimCloses: false }, nodes);
  if (ours.reusable && !nodes.reusable) {
    assert.ok(allowed.headWithoutLength(arrival) || allowed.proxyConnection(arrival), 'the connection is used again');
  }
}

function cut(bytes: Buffer, random: Random): Buffer[] {
  const pieces: Buffer[] = [];
  const longest = random.pick([1, 3, 20, 1000]);
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + random.below(longest);
    pieces.push(bytes.subarray(at, end));
    at = end;
  }
  return pieces;
}

const mutations: readonly ((text: string, at: number, random: Random) => string)[] = [
  (text, at, random) => text.slice(0, at) + String.fromCharCode(random.below(256)) + text.slice(at + 1),
  (text, at) => text.slice(0, at) + text.slice(at + 1),
  (text, at, random) => text.slice(0, at) + random.pick(tokens) + text.slice(at),
  (text, at, random) => text.slice(0, at) + random.pick(tokens) + text.slice(at),
  // Inserts at the start of a line, where headers, chunk sizes and trailers begin.
  (text, at, random) => {
    const line = text.indexOf('\n', at) + 1;
    return text.slice(0, line) + random.pick(tokens) + text.slice(line);
  },
  (text, at, random) => {
    const other = random.pick(corpus);
    return text.slice(0, at) + other.slice(random.below(other.length));
  },
  (text, at, random) => text.slice(0, at) + text.slice(at + random.below(20)),
  (text, at, random) => text.slice(0, at + random.below(30)) + text.slice(at),
  (text, at) => text.slice(0, at) + text.slice(at).replace('\r\n', '\n'),
];

function mutate(random: Random): string {
  let text = random.pick(corpus);
  for (let left = random.below(4); left > 0 && text !== ''; left--) {
    text = random.pick(mutations)(text, random.below(text.length), random);
  }
  return text;
}

function arrivalOf(seed: number): Arrival {
  // Spreads the seeds, as neighbouring ones begin with similar numbers.
  const random = new Random(Math.imul(seed + 1, 0x9e3779b1));
  // Most are responses to GET, as the others have no body.
  const to = random.pick([requests[0], requests[0], requests[0], ...requests]);
  return { to, pieces: cut(Buffer.from(mutate(random), 'latin1'), random) };
}

suite('a response as it is written', () => {
  for (const [name, text] of Object.entries(responses)) {
    for (const to of requests) {
      test(`${name}, to ${to.method}${to.upgrade ? ' with an offer of another protocol' : ''}`, async () => {
        const bytes = Buffer.from(text, 'latin1');
        const whole = { to, pieces: [bytes] };
        const single = { to, pieces: Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)) };
        const ours = readByGateway(whole);
        assert.deepEqual(readByGateway(single), ours);
        compare(whole, ours, await readByNode(whole));
        compare(single, ours, await readByNode(single));
      });
    }
  }
});

const cases = rounds(2000, 200_000);
const first = isLong ? Date.now() % 1_000_000_000 : 0;
const only = process.env['TEST_SEED'];

test('a mutated response in random pieces is read as Node’s client reads it, or refused', async (t) => {
  const seeds = only === undefined ? Array.from({ length: cases }, (_, at) => first + at) : [Number(only)];
  const ends = { whole: 0, broken: 0, upgraded: 0 };
  for (const seed of seeds) {
    const arrival = arrivalOf(seed);
    const bytes = Buffer.concat(arrival.pieces);
    const ours = readByGateway(arrival);
    ends[ours.end] += 1;
    try {
      assert.deepEqual(readByGateway({ to: arrival.to, pieces: [bytes] }), ours, 'in one piece and in several');
      compare(arrival, ours, await readByNode(arrival));
    } catch (error) {
      const text = JSON.stringify(bytes.toString('latin1'));
      throw new Error(`TEST_SEED=${seed} repeats this: ${arrival.to.method} answered with ${text}`, { cause: error });
    }
  }
  t.diagnostic(JSON.stringify(ends));
  // Mutations that break everything, or nothing, would prove little.
  if (only === undefined) assert.ok(ends.whole > cases / 10 && ends.broken > cases / 10);
});
