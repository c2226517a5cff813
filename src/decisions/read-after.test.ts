import assert from 'node:assert/strict';
import { appendFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { decision, openDecisions as open } from '../../test/support/decisions.ts';
import { scratchFolder } from '../../test/support/scratch.ts';
import type { Decisions } from './decisions.ts';
import type { DecisionRow } from './columns.ts';
import type { AfterQuestion, DecisionsAfter } from './messages.ts';
import { readAnswer, readQuestion, writeAnswer, writeQuestion } from './over-links.ts';

const account = 'ac_one';
const hourMs = 3_600_000;
const all = [{ kind: 'https' }, { kind: 'tcp' }] as const;

const ask = (decisions: Decisions, given: Partial<AfterQuestion> = {}): Promise<DecisionsAfter> =>
  decisions.ask('after', { accountId: account, after: 0, limit: 100, followed: all, ...given });

async function pathsBehind(decisions: Decisions, given: Partial<AfterQuestion> = {}): Promise<readonly string[]> {
  return (await rowsBehind(decisions, given)).map(({ path }) => path);
}

/** Reads on until there is no more. */
async function rowsBehind(decisions: Decisions, given: Partial<AfterQuestion> = {}): Promise<readonly DecisionRow[]> {
  const found: DecisionRow[] = [];
  let { after = 0 } = given;
  for (;;) {
    const { rows, seen, hasMore } = await ask(decisions, { limit: 2, ...given, after });
    found.push(...rows);
    if (!hasMore) return found;
    assert.ok(seen > after, 'the place moves on');
    after = seen;
  }
}

describe('decisions behind a place', () => {
  test('come once each, oldest first, from closed and open files, and after a restart', async () => {
    const folder = scratchFolder();
    const atMs = Date.now();
    const add = (decisions: Decisions, from: number, to: number) => {
      for (let at = from; at < to; at++)
        decisions.add(account, decision({ at_ms: atMs, path: `/${at}`, kind: at % 3 === 0 ? 'tcp' : 'https' }));
      return decisions.flush();
    };
    const expected = Array.from({ length: 12 }, (_, at) => `/${at}`);
    {
      await using decisions = await open(folder);
      assert.deepEqual(await ask(decisions), { rows: [], seen: 0, hasMore: false, isCut: false });
      await add(decisions, 0, 5);
      assert.deepEqual(await pathsBehind(decisions), expected.slice(0, 5), 'open');
      await decisions.tend(atMs + hourMs);
      await add(decisions, 5, 8);
      await add(decisions, 8, 12);
      assert.deepEqual(await pathsBehind(decisions), expected, 'closed, and open');
      const rows = await rowsBehind(decisions);
      const places = rows.map(({ number }) => Number(number));
      for (const [at, after] of places.entries()) {
        assert.deepEqual(await pathsBehind(decisions, { after }), expected.slice(at + 1));
        // Beside the place, whichever file it is in.
        const { rows: next } = await ask(decisions, { after: after - 1, limit: 1 });
        assert.equal(next[0]?.path, `/${at}`);
      }
      const tcp = await pathsBehind(decisions, { followed: [{ kind: 'tcp' }] });
      assert.deepEqual(tcp, ['/0', '/3', '/6', '/9']);
      const row = rows.at(-1);
      // The engine reads the same line.
      const [same] = (await decisions.ask('list', { accountId: account, limit: 1 })).rows;
      assert.deepEqual(row, same);
      assert.deepEqual(
        (await decisions.ask('after', { accountId: 'ac_two', after: 0, limit: 9, followed: all })).rows,
        [],
      );
    }
    await using decisions = await open(folder);
    assert.deepEqual(await pathsBehind(decisions), expected);
  });

  test('at a path are those about a person', async () => {
    await using decisions = await open(scratchFolder());
    const atMs = Date.now();
    const path = '/in';
    decisions.add(account, decision({ at_ms: atMs, path, person: 'ada@example.com' }));
    decisions.add(account, decision({ at_ms: atMs, path, person: '' }));
    decisions.add(account, decision({ at_ms: atMs, path: '/', person: 'ada@example.com' }));
    decisions.add(account, decision({ at_ms: atMs, path, person: 'bob@example.com', kind: 'tcp' }));
    await decisions.flush();
    const peopleOf = async () =>
      (await ask(decisions, { followed: [{ kind: 'https', path }] })).rows.map(({ person }) => person);
    assert.deepEqual(await peopleOf(), ['ada@example.com']);
    await decisions.tend(atMs + hourMs);
    assert.deepEqual(await peopleOf(), ['ada@example.com'], 'closed');
  });

  test('that were removed before are missed, once, also after a restart', async () => {
    const folder = scratchFolder();
    const atMs = Date.now();
    const oldMs = atMs - 8 * 86_400_000;
    {
      await using decisions = await open(folder);
      for (const [path, at_ms] of [
        ['/old', oldMs],
        ['/new', atMs],
      ] as const) {
        decisions.add(account, decision({ at_ms, path }));
        await decisions.flush();
        await decisions.tend(atMs + hourMs);
      }
      const { rows, seen, isCut } = await ask(decisions, { after: oldMs * 1000 - 1 });
      assert.deepEqual([rows.map(({ path }) => path), isCut], [['/new'], true]);
      assert.equal((await ask(decisions, { after: seen })).isCut, false);
      assert.equal((await ask(decisions, { after: oldMs * 1000 })).isCut, false, 'nothing behind it is gone');
    }
    await using decisions = await open(folder);
    assert.equal((await ask(decisions, { after: oldMs * 1000 - 1 })).isCut, true);
    assert.equal((await ask(decisions, { after: oldMs * 1000 })).isCut, false);
  });

  test('that were removed, with nothing behind them, are missed once', async () => {
    const atMs = Date.now();
    const oldMs = atMs - 8 * 86_400_000;
    await using decisions = await open(scratchFolder());
    decisions.add(account, decision({ at_ms: oldMs, path: '/old' }));
    await decisions.flush();
    await decisions.tend(atMs + hourMs);
    const { rows, seen, isCut } = await ask(decisions, { after: oldMs * 1000 - 1 });
    assert.deepEqual([rows, isCut], [[], true]);
    assert.equal((await ask(decisions, { after: seen })).isCut, false);
  });

  test('in a log of an earlier run are read in slices, and one that a crash has torn is none', async () => {
    const folder = scratchFolder();
    const atMs = Date.now();
    const long = 'x'.repeat(500);
    {
      const decisions = await open(folder);
      for (let at = 0; at < 2_000; at++) decisions.add(account, decision({ at_ms: atMs, path: `/${at}/${long}` }));
      await decisions.flush();
      process.kill(decisions.keeperPid ?? 0, 'SIGKILL');
      await decisions[Symbol.asyncDispose]();
    }
    const [log = ''] = readdirSync(join(folder, 'open'));
    appendFileSync(join(folder, 'open', log), `${atMs * 1000 + 5_000}\t12`);
    await using decisions = await open(folder);
    const paths = await pathsBehind(decisions, { limit: 300 });
    assert.deepEqual([paths.length, new Set(paths).size], [2_000, 2_000]);
    assert.equal(paths[1_999]?.startsWith('/1999/'), true);
  });

  test('over links are asked for by fields that are checked, and answered whole', async () => {
    await using decisions = await open(scratchFolder());
    decisions.add(account, decision({ path: '/one' }));
    await decisions.flush();
    const asked: AfterQuestion = {
      accountId: account,
      after: 0,
      limit: 5,
      followed: [{ kind: 'https', path: '/one' }],
    };
    const sent = (given: object) =>
      readQuestion(JSON.parse(JSON.stringify({ ...writeQuestion('after', asked), ...given })));
    assert.deepEqual(sent({}), { kind: 'after', asked });
    const answer = await ask(decisions);
    assert.deepEqual(readAnswer('after', JSON.parse(JSON.stringify(writeAnswer('after', answer)))), answer);
    for (const changed of [
      { after: '1' },
      { after: undefined },
      { limit: 501 },
      { limit: 0 },
      { followed: [] },
      { followed: [{ kind: 'udp' }] },
      { followed: Array.from({ length: 11 }, () => ({ kind: 'tcp' })) },
      { followed: [{ kind: 'tcp', path: 7 }] },
      { followed: undefined },
      { accountId: '../x' },
    ])
      assert.throws(() => sent({ asked: { ...asked, ...changed } }), JSON.stringify(changed));
  });
});
