import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, test } from 'node:test';

import { scratchFolder } from '../../test/support/scratch.ts';
import { ArchiveProgress } from './archive-progress.ts';
import { Archive } from './archive.ts';
import type { ClosedPart } from './parts.ts';
import { decisionsEnd } from './tables.ts';

const day = '1970-01-01';
const gateway = 'dst_1';

/** A store with files of accounts, each account with those of these numbers, and an archive for them. */
function start(numbers: Readonly<Record<string, readonly number[]>>, times: Partial<{ hangsMs: number }> = {}) {
  const [local, base] = [scratchFolder(), scratchFolder()];
  const accounts = new Map<string, ClosedPart[]>();
  for (const [accountId, all] of Object.entries(numbers)) {
    mkdirSync(join(local, accountId));
    const parts = all.map((number): ClosedPart => {
      const path = join(local, accountId, `${number}-${number}-${number}-${number}${decisionsEnd}`);
      writeFileSync(path, `decision ${number}`);
      const range = { firstNumber: number, lastNumber: number, minAtMs: number, maxAtMs: number };
      return { accountId, path, table: '', rows: 1, bytes: 10, ...range };
    });
    accounts.set(accountId, parts);
  }
  const localFolder = (accountId: string): string => join(local, accountId);
  const usual = { retryMs: 20, longestMs: 40, hangsMs: 60_000, ...times };
  const archive = new Archive({ base, gateway, localFolder, times: usual });
  const nameOf = (number: number): string => `${gateway}-${number}-${number}-${number}-${number}${decisionsEnd}`;
  return {
    archive,
    accounts,
    folderOf: (accountId: string): string => join(base, accountId, day),
    nameOf,
    /** Numbers of the files that are there. */
    copied: (accountId: string): readonly number[] => {
      const folder = join(base, accountId, day);
      const names = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [];
      const files = names.filter((entry) => entry.isFile() && !entry.name.startsWith('.'));
      return files.map(({ name }) => Number(name.split('-')[1])).toSorted((a, b) => a - b);
    },
    doneTo: (accountId: string): number => {
      const path = join(local, accountId, 'archived');
      return existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0;
    },
    until: async (isSo: () => boolean): Promise<void> => {
      while (!isSo()) {
        await sleep(5);
        void archive.copyDue(accounts);
      }
    },
  };
}

/** Has whoever opens the file wait until somebody reads from it. */
function block(folder: string, name: string): { readonly release: () => void } {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `.${name}.unfinished`);
  execFileSync('mkfifo', [path]);
  return {
    release: () => {
      closeSync(openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
    },
  };
}

describe('files of decisions are copied to the archive', { timeout: 60_000 }, () => {
  test('although one of them always fails, which is set aside, named, and tried again', async () => {
    const { archive, accounts, folderOf, nameOf, copied, doneTo, until } = start({ ac_1: [1, 2, 3], ac_2: [4] });
    const obstacle = join(folderOf('ac_1'), nameOf(1));
    mkdirSync(join(obstacle, 'in the way'), { recursive: true });
    await archive.copyDue(accounts);
    assert.deepEqual([copied('ac_1'), copied('ac_2')], [[2, 3], [4]]);
    const { waiting, aside, fault, names, lost } = archive.stateOf(accounts);
    assert.deepEqual([waiting, aside, fault, lost], [1, 1, undefined, 0]);
    assert.deepEqual(
      names.map(({ file }) => file),
      [`1-1-1-1${decisionsEnd}`],
    );
    assert.match(names[0]?.cause ?? '', /EISDIR|ENOTEMPTY|directory/);
    assert.deepEqual([doneTo('ac_1'), doneTo('ac_2')], [0, 4], 'a start looks for those after it again');
    rmSync(obstacle, { recursive: true });
    await until(() => archive.stateOf(accounts).waiting === 0);
    assert.deepEqual([copied('ac_1'), doneTo('ac_1'), archive.stateOf(accounts).aside], [[1, 2, 3], 3, 0]);
  });

  test('although one of them hangs, and the archive is read on when another one has succeeded', async () => {
    const { archive, accounts, folderOf, nameOf, copied, until } = start({ ac_1: [1], ac_2: [2] }, { hangsMs: 30 });
    const blocked = block(folderOf('ac_1'), nameOf(1));
    try {
      await archive.copyDue(accounts);
      assert.deepEqual([copied('ac_1'), copied('ac_2')], [[], [2]]);
      const { waiting, aside, fault, names } = archive.stateOf(accounts);
      assert.deepEqual([waiting, aside, fault], [1, 1, undefined]);
      assert.match(names[0]?.cause ?? '', /^it takes longer than 0.03 seconds/);
      const found = await archive.find('ac_2', { fromMs: 0, toMs: 10 }, 10);
      assert.equal(found?.parts.length, 1);
    } finally {
      blocked.release();
    }
    await until(() => archive.stateOf(accounts).waiting === 0);
    assert.deepEqual(copied('ac_1'), [1]);
  });

  test('by no more than two at a time where it hangs, which costs no question, and goes on when it is over', async () => {
    const numbers = { ac_1: [1], ac_2: [2], ac_3: [3], ac_4: [4] };
    const { archive, accounts, folderOf, nameOf, copied, until } = start(numbers, { hangsMs: 30 });
    const blocked = ['ac_1', 'ac_2', 'ac_3'].map((accountId, at) => block(folderOf(accountId), nameOf(at + 1)));
    try {
      for (let pass = 0; pass < 5; pass++) {
        await archive.copyDue(accounts);
        await sleep(25);
      }
      const { waiting, fault, names } = archive.stateOf(accounts);
      assert.match(fault ?? '', /^it takes longer than/);
      assert.deepEqual([waiting, names, copied('ac_4')], [4, [], []]);
      assert.equal(await archive.find('ac_4', { fromMs: 0, toMs: 10 }, 10), undefined);
    } finally {
      blocked[0]?.release();
      blocked[1]?.release();
    }
    // The third waits until somebody tries it.
    await until(() => copied('ac_4').length === 1 && archive.stateOf(accounts).aside === 1);
    blocked[2]?.release();
    await until(() => archive.stateOf(accounts).waiting === 0);
    assert.equal(archive.stateOf(accounts).fault, undefined);
  });

  test('but not one after the other where all fail: then the archive is at fault, and no file is named', async () => {
    const all = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    const { archive, accounts, folderOf, nameOf, copied, until } = start({ ac_1: all });
    for (const number of all) mkdirSync(join(folderOf('ac_1'), nameOf(number), 'in the way'), { recursive: true });
    await archive.copyDue(accounts);
    const { aside, fault, names } = archive.stateOf(accounts);
    assert.deepEqual([aside, names], [3, []]);
    assert.match(fault ?? '', /directory|ENOTEMPTY|EISDIR/);
    for (const number of all) rmSync(join(folderOf('ac_1'), nameOf(number)), { recursive: true });
    await until(() => archive.stateOf(accounts).waiting === 0);
    assert.deepEqual(copied('ac_1'), all);
  });

  test('unless the store had to remove them before, which is counted once', async () => {
    const { archive, accounts, folderOf, nameOf } = start({ ac_1: [1, 2] });
    mkdirSync(join(folderOf('ac_1'), nameOf(1), 'in the way'), { recursive: true });
    await archive.copyDue(accounts);
    const [first = assert.fail(), second = assert.fail()] = accounts.get('ac_1') ?? [];
    assert.deepEqual([archive.losesWith(second), archive.losesWith(first)], [false, true]);
    accounts.set('ac_1', []);
    const { waiting, aside, lost } = archive.stateOf(accounts);
    assert.deepEqual([waiting, aside, lost], [0, 0, 1]);
  });
});

test('a file that was set aside rests longer and longer, up to a bound, and not where it was not its fault', () => {
  const folder = scratchFolder();
  const part = { accountId: 'ac_1', path: 'one', lastNumber: 1 } as ClosedPart;
  const other = { accountId: 'ac_1', path: 'other', lastNumber: 2 } as ClosedPart;
  const never = (): boolean => false;
  const progress = new ArchiveProgress(() => folder, { firstMs: 60_000, longestMs: 60_000 });
  assert.equal(progress.next([part, other], never), part);
  assert.equal(
    progress.next([part, other], (each) => each === part),
    other,
  );
  progress.failed(part, 'full');
  assert.equal(progress.next([part, other], never), other);
  progress.retryAll();
  assert.equal(progress.next([part, other], never), part);
  progress.failed(part, 'full');
  progress.done(other, [part, other]);
  assert.deepEqual([progress.isDone(part), progress.isDone(other)], [false, true]);
  const again = new ArchiveProgress(() => folder, { firstMs: 1, longestMs: 0 });
  assert.equal(again.isDone(other), false, 'nothing before it may be left out after a start');
  progress.done(part, [part, other]);
  assert.equal(new ArchiveProgress(() => folder, { firstMs: 1, longestMs: 0 }).isDone(other), true);
  // No pause is longer than the bound: this one is none.
  for (let tries = 0; tries < 2_000; tries++) again.failed(part, 'full');
  assert.equal(again.next([{ ...part, lastNumber: 3 }], never)?.path, 'one');
});
