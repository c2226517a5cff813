import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { decision, openDecisions, Seen } from '../../test/support/decisions.ts';
import { scratchFolder } from '../../test/support/scratch.ts';
import type { Decisions } from './decisions.ts';
import type { StoreOptions } from './messages.ts';

const account = 'ac_one';
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const nowMs = Date.now();
const daysAgo = (days: number): number => nowMs - days * dayMs;

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .toSorted();
}

/** Keeps one decision for each of these days, each in a closed file, oldest first. */
async function keepDays(decisions: Decisions, ...days: readonly number[]): Promise<void> {
  for (const day of days) {
    decisions.add(account, decision({ at_ms: daysAgo(day), path: `/${day}` }));
    await decisions.flush();
    await decisions.tend(nowMs + hourMs);
  }
}

async function pathsOf(decisions: Decisions, limit = 100, fields: object = {}): Promise<string> {
  const paths: string[] = [];
  for (let before: number | undefined; ;) {
    const { rows, cutAt } = await decisions.ask('list', { accountId: account, limit, before, ...fields });
    paths.push(...rows.map(({ path }) => path));
    before = rows.length === limit ? Number(rows.at(-1)?.number) : cutAt;
    if (before === undefined) return paths.join(' ');
  }
}

const open = (archive: string, folder = scratchFolder(), seen = new Seen(), more: Partial<StoreOptions> = {}) =>
  openDecisions(folder, { archive, days: 2, ...more }, seen);

describe('the archive', () => {
  test('gets each closed file once, by account and day, and is read for what is older than the store', async () => {
    const [archive, folder] = [scratchFolder(), scratchFolder()];
    let before: readonly string[] = [];
    {
      await using decisions = await open(archive, folder);
      await keepDays(decisions, 40, 35, 5, 1);
      await decisions.tend(nowMs);
      before = filesIn(archive);
      assert.equal(before.length, 4);
      for (const [at, day] of [40, 35, 5, 1].entries()) {
        const date = new Date(daysAgo(day)).toISOString().slice(0, 10);
        assert.match(before[at] ?? '', new RegExp(`^ac_one/${date}/${decisions.gateway}-[\\d-]+\\.2\\.parquet$`));
      }
      assert.equal(filesIn(join(folder, 'accounts')).filter((name) => name.endsWith('.parquet')).length, 1);
      assert.equal(await pathsOf(decisions), '/1 /5 /35 /40');
      assert.equal(await pathsOf(decisions, 1), '/1 /5 /35 /40');
      assert.equal(await pathsOf(decisions, 100, { fromMs: daysAgo(36), toMs: daysAgo(2) }), '/5 /35');
      assert.equal(await pathsOf(decisions, 100, { accountId: 'ac_none' }), '');
      const range = { accountId: account, fromMs: daysAgo(39), toMs: nowMs };
      const { points, keptFromMs } = await decisions.ask('summary', { ...range, stepMs: dayMs });
      assert.equal(
        points.reduce((sum, { counts }) => sum + (counts['requests'] ?? 0), 0),
        3,
      );
      assert.ok(keptFromMs <= daysAgo(39));
      const { entries } = await decisions.ask('top', { ...range, by: 'path', order: 'requests', limit: 9 });
      assert.deepEqual(
        entries.map(({ key }) => key),
        ['/1', '/35', '/5'],
      );
    }
    await using again = await open(archive, folder);
    await again.tend(nowMs + hourMs);
    assert.deepEqual(filesIn(archive), before);
    assert.equal(await pathsOf(again), '/1 /5 /35 /40');
  });

  test('is shared by gateways, each of which reads what it has kept itself', async () => {
    const archive = scratchFolder();
    await using one = await open(archive);
    await using other = await open(archive);
    for (const each of [one, other]) {
      each.add(account, decision({ at_ms: daysAgo(9), path: each === one ? '/one' : '/other' }));
      await each.flush();
      await each.tend(nowMs + hourMs);
    }
    assert.equal(filesIn(archive).length, 2);
    assert.deepEqual([await pathsOf(one), await pathsOf(other)], ['/one', '/other']);
  });

  test('that is absent or cannot be written costs nothing but itself, is told once, and is made up for', async () => {
    const parent = scratchFolder();
    const archive = join(parent, 'mount');
    const seen = new Seen();
    const folder = scratchFolder();
    {
      await using decisions = await open(archive, folder, seen, { days: 7 });
      await keepDays(decisions, 6, 1);
      await decisions.tend(nowMs + hourMs);
      assert.equal(await pathsOf(decisions), '/1 /6');
      assert.deepEqual(readdirSync(parent), [], 'a missing mount is not made');
      assert.deepEqual(seen.archive, { waiting: 2, aside: 0, lost: 0 });
      assert.equal(seen.lines.filter((line) => line.includes('GATEHOUSE_DECISIONS_ARCHIVE')).length, 1);
    }
    mkdirSync(archive);
    // A copy that a crash has left.
    mkdirSync(join(archive, account));
    await using decisions = await open(archive, folder, seen, { days: 7 });
    await decisions.tend(nowMs + hourMs);
    assert.deepEqual([filesIn(archive).length, seen.archive], [2, { waiting: 0, aside: 0, lost: 0 }]);
  });

  test('that has lost a file, or gets it half, is told, and what it never had is not shown as nothing', async () => {
    const parent = scratchFolder();
    const archive = join(parent, 'mount');
    const seen = new Seen();
    await using decisions = await open(archive, scratchFolder(), seen);
    await keepDays(decisions, 9);
    await decisions.tend(nowMs);
    assert.deepEqual(seen.archive, { waiting: 0, aside: 0, lost: 1 });
    assert.ok(seen.lines.some((line) => line.startsWith('decisions were removed before the archive had them')));
    mkdirSync(join(archive, account), { recursive: true });
    const asked = { accountId: account, fromMs: daysAgo(20), toMs: nowMs, stepMs: dayMs };
    const { keptFromMs } = await decisions.ask('summary', asked);
    assert.ok(keptFromMs > daysAgo(9));
  });

  test('with what others have put there is read as if it were not there', async () => {
    const archive = scratchFolder();
    await using decisions = await open(archive);
    await keepDays(decisions, 9);
    await decisions.tend(nowMs);
    const [file = assert.fail()] = filesIn(archive);
    const day = join(archive, file, '..');
    writeFileSync(join(day, `.${file.split('/').at(-1)}.unfinished`), 'half');
    writeFileSync(join(day, 'notes.parquet'), 'mine');
    mkdirSync(join(archive, account, 'not-a-day'));
    mkdirSync(join(archive, 'ac_two'));
    renameSync(join(archive, account, 'not-a-day'), join(archive, 'ac_two', '2026-01-01'));
    assert.equal(await pathsOf(decisions), '/9');
    rmSync(join(archive, account), { recursive: true });
    assert.equal(await pathsOf(decisions), '');
    chmodSync(archive, 0o700);
  });
});
