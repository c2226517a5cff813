import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';

import { isLong, rounds } from '../support/long-form.ts';
import { Random } from '../e2e/gateway/support/random.ts';
import { awaitBytes, checkRecorded, converse, startRecordedGateway, statusesOf } from './support/recorded-gateway.ts';
import type { RecordedGateway, Step } from './support/recorded-gateway.ts';
import { startNodeReader } from './support/node-reader.ts';
import type { NodeReader } from './support/node-reader.ts';
import { smugglingForms } from './support/smuggling-corpus.ts';

/**
 * The gateway and Node's own server read the same bytes. Whatever a client sends, in whatever pieces: a request that the
 * gateway sends its upstream must be one that Node's server reads too, with the same method, target and body, and in the
 * same order. So it reads nothing as a request that another strict reader takes for something else.
 */

const plainRequests: readonly string[] = [
  'GET /a HTTP/1.1\r\nHost: app.test\r\n\r\n',
  'GET /b?x=1 HTTP/1.1\r\nHost: app.test\r\nAccept: */*\r\nX-A: 1\r\nx-a: 2\r\n\r\n',
  'HEAD /c HTTP/1.1\r\nHost: app.test\r\nConnection: keep-alive\r\n\r\n',
  'OPTIONS /d HTTP/1.1\r\nHost: app.test\r\nOrigin: https://app.test\r\n\r\n',
  'DELETE /e HTTP/1.1\r\nhost: APP.test:443\r\nX-Internal: 1\r\n\r\n',
  'GET /closed/f HTTP/1.1\r\nHost: app.test\r\n\r\n',
  'GET /g/%61;v=1//h HTTP/1.1\r\nHost: app.test\r\nX-Forwarded-For: 1.1.1.1\r\n\r\n',
];
const otherRequests: readonly string[] = [
  'POST /i HTTP/1.1\r\nHost: app.test\r\nContent-Length: 5\r\n\r\nabcde',
  'PUT /j HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 3\r\n\r\n',
  'GET /k HTTP/1.0\r\nHost: app.test\r\nConnection: keep-alive\r\n\r\n',
];
const forms = Object.values(smugglingForms).flatMap((group) => Object.values(group).map(({ bytes }) => bytes));
const corpus = [
  ...Array.from({ length: 100 }, () => plainRequests).flat(),
  ...Array.from({ length: 50 }, () => otherRequests).flat(),
  ...forms,
];
const last = 'GET /last HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n';

/** Header lines, which mutations insert where a line begins. */
const lines: readonly string[] = [
  ['Host: app.test', 'Host: other.test', 'Content-Length: 0', 'Content-Length: 5', 'X-Internal: 1', 'X_Mixed.Name: 1'],
  ['Transfer-Encoding: chunked', 'Connection: close', 'Connection: keep-alive', 'Connection: X-A', 'TE: trailers'],
  ['Connection: Upgrade\r\nUpgrade: websocket', 'Upgrade: h2c', 'Expect: 100-continue', 'Trailer: X-A', 'X-A:'],
  [
    'Proxy-Connection: close',
    'Proxy-Connection: keep-alive',
    'Keep-Alive: timeout=1',
    'X-A: \t 1 \t',
    ' folded',
    'X-A',
  ],
].flat();

/** Pieces of requests, which mutations insert anywhere. */
const tokens: readonly string[] = [
  [
    '\r\n',
    '\n',
    '\r',
    '\r\n\r\n',
    ' ',
    '\t',
    '\0',
    ':',
    ';',
    ',',
    '%',
    '..',
    '/',
    '//',
    '?',
    '#',
    '\\',
    '\x7f',
    '\xe9',
  ],
  ['HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'RTSP/1.0', 'GET', 'HEAD ', 'TRACE ', 'POST ', '/closed/x', '%2e%2e', '%2f'],
  ['https://app.test', '0\r\n\r\n', '3\r\nabc\r\n', ...lines.map((line) => `${line}\r\n`)],
].flat();

function insertLine(text: string, at: number, random: Random): string {
  const line = text.indexOf('\n', at) + 1;
  return `${text.slice(0, line)}${random.pick(lines)}\r\n${text.slice(line)}`;
}

const mutations: readonly ((text: string, at: number, random: Random) => string)[] = [
  (text, at, random) => text.slice(0, at) + String.fromCharCode(random.below(256)) + text.slice(at + 1),
  (text, at) => text.slice(0, at) + text.slice(at + 1),
  (text, at, random) => text.slice(0, at) + random.pick(tokens) + text.slice(at),
  insertLine,
  insertLine,
  insertLine,
  insertLine,
  (text, at, random) => text.slice(0, at) + text.slice(at + random.below(20)),
  (text, at, random) => text.slice(0, at + random.below(30)) + text.slice(at),
  (text, at) => text.slice(0, at) + text.slice(at).replace('\r\n', '\n'),
];

function mutate(request: string, random: Random): string {
  let text = request;
  // A third of the requests stay as they are.
  for (let left = random.pick([0, 0, 1, 1, 1, 2, 3]); left > 0 && text !== ''; left--) {
    text = random.pick(mutations)(text, random.below(text.length), random);
  }
  return text;
}

function cut(text: string, random: Random): string[] {
  const longest = random.pick([...Array.from({ length: 7 }, () => text.length), 200, 20, 3]);
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const end = at + 1 + (longest === text.length ? longest : random.below(longest));
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

function stepsOf(seed: number): readonly Step[] {
  // Spreads the seeds, as neighbouring ones begin with similar numbers.
  const random = new Random(Math.imul(seed + 1, 0x9e3779b1));
  const plain = Array.from({ length: random.below(3) }, () => random.pick(plainRequests));
  const requests = [
    ...plain,
    ...Array.from({ length: 1 + random.below(3) }, () => mutate(random.pick(corpus), random)),
  ];
  switch (random.below(6)) {
    case 0:
      return cut(requests.join('') + last, random);
    case 1:
      return [...requests, last];
    default:
      // Most clients wait for each answer.
      return [...requests.flatMap((request) => [...cut(request, random), awaitBytes] as const), last];
  }
}

interface Outcome {
  readonly statuses: readonly number[];
  /** What was read whole, in its order. */
  readonly requests: readonly ReadRequest[];
}

interface ReadRequest {
  readonly method: string;
  readonly target: string;
  readonly body: string;
}

async function carryOut({ gateway, recorder }: RecordedGateway, steps: readonly Step[]): Promise<Outcome> {
  recorder.requests.length = 0;
  const conversation = await converse(gateway.port, steps, patienceMs);
  assert.deepEqual(recorder.faults.splice(0), [], 'malformed bytes for the upstream');
  const requests = recorder.requests.splice(0);
  requests.forEach(checkRecorded);
  return {
    statuses: statusesOf(conversation),
    requests: requests.map(({ method, target, body }) => ({ method, target, body })),
  };
}

/** Time without a byte after which a conversation is over. */
const patienceMs = 40;

/** Throws unless each request is among those of Node, in the same order. */
function checkOrder(requests: readonly ReadRequest[], ofNode: readonly ReadRequest[]): void {
  let at = 0;
  for (const request of requests) {
    const found = ofNode.findIndex((other, index) => index >= at && isDeepStrictEqual(other, request));
    assert.ok(found >= 0, `${JSON.stringify(request)} is none of ${JSON.stringify(ofNode)}`);
    at = found + 1;
  }
}

async function compare(recorded: RecordedGateway, node: NodeReader, steps: readonly Step[]): Promise<Outcome> {
  const outcome = await carryOut(recorded, steps);
  checkOrder(outcome.requests, await node.read(steps.filter((step) => typeof step === 'string').join('')));
  return outcome;
}

async function runLane(seeds: Generator<number, void>, onOutcome: (outcome: Outcome) => void): Promise<void> {
  await using recorded = await startRecordedGateway();
  await using node = await startNodeReader();
  for (let next = seeds.next(); next.done !== true; next = seeds.next()) {
    const steps = stepsOf(next.value);
    try {
      onOutcome(await compare(recorded, node, steps));
    } catch (error) {
      // Ends the other lanes too.
      seeds.return();
      const text = steps.map((step) => (typeof step === 'string' ? JSON.stringify(step) : '(wait)')).join(' ');
      throw new Error(`TEST_SEED=${next.value} repeats this: ${text}`, { cause: error });
    }
  }
}

/** Conversations that brought a difference to light. */
const saved: Readonly<Record<string, readonly Step[]>> = {
  'Node’s parser obeys Proxy-Connection': [
    'GET /a HTTP/1.1\r\nHost: app.test\r\nProxy-Connection: close\r\n\r\n',
    awaitBytes,
    last,
  ],
  'bytes behind a request that closes cost its answer': [
    `GET /a HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n`,
    'GET /b HTTP/1.1\r\nHost: app.test\r\n\r\n',
  ],
  'Node closes after the answer to a request that expects to be told to continue': [
    'GET /closed/f HTTP/1.1\r\nHost: app.test\r\n\r\n',
    'GET /closed/f HTTP/1.1\r\nExpect: 100-continue\r\nHost: app.test\r\n\r\n',
    last,
  ],
  'two spaces were taken for one': ['GET  /a HTTP/1.1\r\nHost: app.test\r\n\r\n', awaitBytes, last],
};

test('the gateway reads no request that Node does not read, in saved conversations', async () => {
  await using recorded = await startRecordedGateway();
  await using node = await startNodeReader();
  for (const steps of Object.values(saved)) await compare(recorded, node, steps);
});

const cases = rounds(300, 50_000);
const first = isLong ? Date.now() % 1_000_000_000 : 0;
const only = process.env['TEST_SEED'];

function* seedsOf(): Generator<number, void> {
  if (only !== undefined) yield Number(only);
  else for (let at = 0; at < cases; at++) yield first + at;
}

/** Conversations that run at once: most of the time is spent waiting. */
const laneCount = 4;

test('the gateway reads no request that Node does not read, of mutated requests in random pieces', async (t) => {
  const seeds = seedsOf();
  const seen = { answered: 0, refused: 0, forwarded: 0 };
  const lanes = Array.from({ length: laneCount }, () =>
    runLane(seeds, ({ statuses, requests }) => {
      seen.answered += statuses.filter((status) => status === 200).length;
      seen.refused += statuses.filter((status) => status >= 400).length;
      seen.forwarded += requests.length;
    }),
  );
  await Promise.all(lanes);
  t.diagnostic(JSON.stringify(seen));
  // Mutations that break everything, or nothing, would prove little.
  if (only === undefined) assert.ok(seen.answered > cases / 2 && seen.refused > cases / 10, JSON.stringify(seen));
});
