import assert from 'node:assert/strict';
import { test } from 'node:test';

import { decision, openDecisions } from '../../test/support/decisions.ts';
import { scratchFolder } from '../../test/support/scratch.ts';
import { parseCidr } from '../lib/ip/cidr.ts';
import { answerLinks } from './answer-links.ts';
import type { Asked } from './messages.ts';
import { readAnswer, readQuestion, writeQuestion } from './over-links.ts';
import { sourceRange } from './source-range.ts';

const overLink = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const parsed = parseCidr('2001:db8::/32');
assert.ok(parsed.ok);
const list: Asked<'list'> = {
  accountId: 'ac_one',
  limit: 10,
  before: 2 ** 52,
  beforeSuffix: '0123abcd',
  source: sourceRange(parsed.cidr),
  edgeId: "' OR true --",
};
const range = { accountId: 'ac_one', fromMs: 0, toMs: 3_600_000 };
const summary: Asked<'summary'> = { ...range, stepMs: 60_000, anyOf: [{ dimension: 'edge', key: 'edghts_1' }] };
const top: Asked<'top'> = { ...range, by: 'source', order: 'refused', limit: 5 };

test('questions come as they were asked', () => {
  assert.deepEqual(readQuestion(overLink(writeQuestion('list', list))), { kind: 'list', asked: list });
  assert.deepEqual(readQuestion(overLink(writeQuestion('summary', summary))), { kind: 'summary', asked: summary });
  assert.deepEqual(readQuestion(overLink(writeQuestion('top', top))), { kind: 'top', asked: top });
});

test('what is no question about decisions is refused', () => {
  const bad: readonly unknown[] = [
    null,
    [],
    'decisions',
    { ...writeQuestion('list', list), about: 'secrets' },
    { ...writeQuestion('list', list), kind: 'close' },
    { ...writeQuestion('list', list), kind: 'constructor' },
    { about: 'decisions', kind: 'list', asked: [] },
    ...[
      { accountId: undefined },
      { accountId: '../ac_two' },
      { accountId: 'a'.repeat(65) },
      { limit: undefined },
      { limit: '1; DROP TABLE x' },
      { limit: 0 },
      { limit: 1e9 },
      { limit: 1.5 },
      { fromMs: '0' },
      { source: ['1', '2', '3'] },
      { source: ['1', '2', '3', 'x'] },
      { anyOf: 'edge' },
      { anyOf: [{ dimension: 'path', key: 'x' }] },
      { anyOf: Array.from({ length: 1_001 }, () => ({ dimension: 'edge', key: 'x' })) },
      { person: { toString: 'x' } },
      { person: 'x'.repeat(10_001) },
    ].map((fields) => ({ about: 'decisions', kind: 'list', asked: { accountId: 'ac_one', limit: 1, ...fields } })),
    ...[{ stepMs: undefined }, { stepMs: 0 }, { stepMs: 1 }, { toMs: undefined }].map((fields) => ({
      about: 'decisions',
      kind: 'summary',
      asked: { ...range, stepMs: 60_000, ...fields },
    })),
    ...[{ by: 'lock' }, { by: undefined }, { order: 'key; --' }, { toMs: -1 }].map((fields) => ({
      about: 'decisions',
      kind: 'top',
      asked: { ...top, ...fields },
    })),
  ];
  for (const [at, each] of bad.entries()) {
    // The last of the top has an order and a range that ends before it begins: nothing, and no fault.
    if (at === bad.length - 1) assert.ok(readQuestion(each));
    else assert.throws(() => readQuestion(each), JSON.stringify(each)?.slice(0, 200));
  }
});

test('answers come as they were given, of the account that was asked for, and say where none are kept', async () => {
  await using decisions = await openDecisions(scratchFolder());
  decisions.add('ac_one', decision({ path: '/one', source: '2001:db8::7' }));
  decisions.add('ac_two', decision({ path: '/two' }));
  const answer = answerLinks(decisions);
  const { beforeSuffix: _suffix, edgeId: _edge, ...asked } = list;
  const reply = await answer(overLink(writeQuestion('list', asked)), () => false);
  assert.ok(reply.state === 'answered');
  assert.deepEqual([reply.gateway, reply.dropped], [decisions.gateway, 0]);
  const { rows } = readAnswer('list', overLink(reply.answer));
  assert.deepEqual(rows, (await decisions.ask('list', asked)).rows);
  assert.deepEqual([rows.length, rows[0]?.path, typeof rows[0]?.source_high], [1, '/one', 'bigint']);
  assert.deepEqual(await answerLinks(undefined)(overLink(writeQuestion('top', top)), () => false), {
    state: 'keeps_none',
  });
  await assert.rejects(answer({ about: 'vaults' }, () => false));
  process.kill(decisions.keeperPid ?? assert.fail(), 'SIGKILL');
  assert.deepEqual(await answer(overLink(writeQuestion('list', asked)), () => false), { state: 'failed' });
});

test('a page goes on at the same place at every gateway', async () => {
  await using decisions = await openDecisions(scratchFolder());
  const atMs = Date.now();
  for (const path of ['/0', '/1', '/2']) decisions.add('ac_one', decision({ path, at_ms: atMs }));
  const pathsBefore = async (beforeSuffix: string) => {
    const asked = { accountId: 'ac_one', limit: 9, before: atMs * 1000 + 1, beforeSuffix };
    return (await decisions.ask('list', asked)).rows.map(({ path }) => path);
  };
  assert.deepEqual(await pathsBefore('00000000'), ['/0']);
  assert.deepEqual(await pathsBefore('ffffffff'), ['/1', '/0']);
});
