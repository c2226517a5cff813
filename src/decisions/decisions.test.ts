import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, test } from 'node:test';

import { decision, openDecisions as open, Seen } from '../../test/support/decisions.ts';
import { scratchFolder } from '../../test/support/scratch.ts';
import { parseCidr } from '../lib/ip/cidr.ts';
import type { Decisions } from './decisions.ts';
import type { DecisionFilter } from './messages.ts';
import { sourceRange } from './source-range.ts';

const account = 'ac_one';
const hourMs = 3_600_000;

async function pathsOf(decisions: Decisions, filter: Partial<DecisionFilter> = {}): Promise<readonly string[]> {
  const { rows, cutAt } = await decisions.ask('list', { accountId: account, limit: 100, ...filter });
  assert.equal(cutAt, undefined);
  return rows.map(({ path }) => path);
}

function files(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}

const isClosed = (path: string): boolean => path.endsWith('.parquet') && path.includes('/accounts/');

describe('decisions', () => {
  test('are read newest first, page by page, by each filter, from open and closed files alike', async () => {
    const folder = scratchFolder();
    await using decisions = await open(folder);
    const atMs = Date.now();
    decisions.add(account, decision({ at_ms: atMs, path: '/1', source: '198.51.100.7', request_id: 'op_1' }));
    decisions.add(account, decision({ at_ms: atMs, path: '/2', verdict: 'refused', rule: 'ipx_1 ipx_2', code: 3203 }));
    decisions.add(account, decision({ at_ms: atMs + 10, path: '/3', person: 'ada@example.com' }));
    await decisions.flush();
    await decisions.tend(atMs + hourMs);
    assert.equal(files(folder).filter(isClosed).length, 1);
    decisions.add(account, decision({ at_ms: atMs + 20, path: '/4', edge_id: 'edghts_2', source: '2001:db8::7' }));

    assert.deepEqual(await pathsOf(decisions), ['/4', '/3', '/2', '/1']);
    const first = await decisions.ask('list', { accountId: account, limit: 3 });
    const before = Number(first.rows.at(-1)?.number);
    assert.deepEqual(await pathsOf(decisions, { before }), ['/1']);
    assert.deepEqual(await pathsOf(decisions, { edgeId: 'edghts_2' }), ['/4']);
    assert.deepEqual(await pathsOf(decisions, { verdict: 'refused' }), ['/2']);
    assert.deepEqual(await pathsOf(decisions, { person: 'ada@example.com' }), ['/3']);
    assert.deepEqual(await pathsOf(decisions, { rule: 'ipx_2' }), ['/2']);
    assert.deepEqual(await pathsOf(decisions, { rule: 'ipx' }), []);
    assert.deepEqual(await pathsOf(decisions, { requestId: 'op_1' }), ['/1']);
    assert.deepEqual(await pathsOf(decisions, { fromMs: atMs + 10, toMs: atMs + 20 }), ['/3']);
    assert.deepEqual(await pathsOf(decisions, { edgeId: "' OR true --" }), []);
    const inRange = async (text: string) => {
      const parsed = parseCidr(text);
      assert.ok(parsed.ok);
      return pathsOf(decisions, { source: sourceRange(parsed.cidr) });
    };
    assert.deepEqual(await inRange('198.51.100.0/24'), ['/1']);
    assert.deepEqual(await inRange('203.0.113.9/32'), ['/3', '/2']);
    assert.deepEqual(await inRange('2001:db8::/32'), ['/4']);
    assert.deepEqual(await inRange('2001:db8::7/128'), ['/4']);
    assert.deepEqual(await inRange('2001:db8::8/128'), []);
    const { source_high: _high, source_low: _low, number: _number, at_ms: at, ...row } = first.rows[2] ?? assert.fail();
    assert.equal(Number(at), atMs);
    const { at_ms: _atMs, ...expected } = decision({ path: '/2', verdict: 'refused', rule: 'ipx_1 ipx_2', code: 3203 });
    assert.deepEqual(
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]),
      ),
      expected,
    );
  });

  test('hold whatever visitors send, bounded, and in the row that it is of', async () => {
    const folder = scratchFolder();
    await using decisions = await open(folder);
    const odd = [
      '/"quoted",\'\\',
      '/tab\tline\nreturn\rnul\u0000',
      '/\ud800\udfff\ud800',
      '/ü😀',
      '\\N',
      'x'.repeat(70_000),
      '\u2028',
    ];
    for (const path of odd)
      decisions.add(account, decision({ path, host: path, method: path, person: path, reason: path }));
    const shown = async () => (await decisions.ask('list', { accountId: account, limit: 100 })).rows.toReversed();
    const expected = [
      '/"quoted",\'\\',
      '/tab\ufffdline\ufffdreturn\ufffdnul\ufffd',
      '/\ud800\udfff\ufffd',
      '/ü😀',
      '\\N',
      'x'.repeat(512),
      '\ufffd',
    ];
    assert.deepEqual(
      (await shown()).map(({ path }) => path),
      expected,
    );
    await decisions.tend(Date.now() + hourMs);
    const closed = await shown();
    assert.deepEqual(
      closed.map(({ path }) => path),
      expected,
    );
    assert.ok(
      closed.every(({ edge_id: edge, status, worker }) => edge === 'edghts_1' && status === 200 && worker === 1),
    );
    assert.deepEqual(
      closed.map(({ host, method, person }) => [host.length, method.length, person.length])[5],
      [253, 40, 254],
    );
  });

  test('are kept with numbers that no column holds, which a visitor can announce', async () => {
    await using decisions = await open(scratchFolder());
    for (const [at, bytes] of [2 ** 63, 1e21, Infinity, NaN].entries())
      decisions.add(account, decision({ path: `/${at}`, bytes_in: bytes, bytes_out: bytes, duration_us: bytes }));
    const expected = ['/3', '/2', '/1', '/0'];
    assert.deepEqual(await pathsOf(decisions), expected);
    await decisions.tend(Date.now() + hourMs);
    assert.deepEqual(await pathsOf(decisions), expected);
  });

  test('are for the user of the gateway only, also in a folder that others may read', async () => {
    const folder = scratchFolder();
    chmodSync(folder, 0o755);
    await using decisions = await open(folder);
    decisions.add(account, decision());
    await decisions.flush();
    await decisions.tend(Date.now() + hourMs);
    decisions.add(account, decision());
    await decisions.flush();
    const modes = readdirSync(folder, { recursive: true, withFileTypes: true }).map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [name, statSync(path).mode & 0o077];
    });
    assert.ok(modes.length > 6);
    assert.deepEqual(
      modes.filter(([, mode]) => mode !== 0),
      [],
    );
  });

  test('leave what is of others in their folder', async () => {
    const folder = scratchFolder();
    for (const each of ['accounts', 'temporary', 'open']) {
      mkdirSync(join(folder, each));
      writeFileSync(join(folder, each, 'notes.txt'), 'mine');
    }
    await using decisions = await open(folder);
    decisions.add(account, decision({ path: '/kept' }));
    assert.deepEqual(await pathsOf(decisions), ['/kept']);
    for (const each of ['accounts', 'temporary', 'open']) assert.ok(existsSync(join(folder, each, 'notes.txt')), each);
  });

  test('outlive a clock that jumps ahead for a while', async () => {
    await using decisions = await open(scratchFolder());
    const nowMs = Date.now();
    decisions.add(account, decision({ path: '/before' }));
    await decisions.flush();
    await decisions.tend(nowMs + hourMs);
    await decisions.tend(nowMs + 30 * 24 * hourMs);
    await decisions.tend(nowMs + 60 * 24 * hourMs);
    assert.deepEqual(await pathsOf(decisions), ['/before']);
  });

  test('of one account are never read by another one', async () => {
    await using decisions = await open(scratchFolder());
    decisions.add(account, decision({ path: '/mine' }));
    decisions.add('ac_two', decision({ path: '/theirs' }));
    assert.deepEqual(await pathsOf(decisions), ['/mine']);
    assert.deepEqual(await pathsOf(decisions, { accountId: 'ac_two' }), ['/theirs']);
    assert.deepEqual(await pathsOf(decisions, { accountId: 'ac_none' }), []);
  });

  test('survive the death of both processes but for those that were not written, and an end that is torn', async () => {
    const folder = scratchFolder();
    const first = await open(folder);
    first.add(account, decision({ path: '/written' }));
    await first.flush();
    first.add(account, decision({ path: '/waits' }));
    process.kill(first.keeperPid ?? assert.fail(), 'SIGKILL');
    const [log = assert.fail()] = files(join(folder, 'open'));
    // All columns are there, and the last one may have lost digits.
    appendFileSync(log, readFileSync(log, 'utf8').trimEnd().replace('/written', '/torn'));
    await using second = await open(folder);
    assert.deepEqual(await pathsOf(second), ['/written']);
    assert.equal(files(folder).filter(isClosed).length, 0, 'a start does not wait until files are closed');
    second.add(account, decision({ path: '/after', at_ms: Date.now() - hourMs }));
    assert.deepEqual(await pathsOf(second), ['/after', '/written']);
    await second.tend(Date.now() + hourMs);
    assert.deepEqual(files(join(folder, 'open')), []);
    assert.deepEqual(await pathsOf(second), ['/after', '/written']);
    await first[Symbol.asyncDispose]();
  });

  test('are there once if the crash came between the closed file and its log', async () => {
    const folder = scratchFolder();
    let left = { path: '', lines: '' };
    {
      await using decisions = await open(folder);
      decisions.add(account, decision({ path: '/once' }));
      await decisions.flush();
      const [path = assert.fail()] = files(join(folder, 'open'));
      left = { path, lines: readFileSync(path, 'utf8') };
    }
    writeFileSync(left.path, left.lines);
    await using again = await open(folder);
    assert.deepEqual(await pathsOf(again), ['/once']);
  });

  test('go on in another process when the one that keeps them has died', async () => {
    const seen = new Seen();
    await using decisions = await open(scratchFolder(), {}, seen);
    decisions.add(account, decision({ path: '/before' }));
    await decisions.flush();
    const pid = decisions.keeperPid ?? assert.fail();
    process.kill(pid, 'SIGKILL');
    while (decisions.keeperPid === pid) {
      decisions.add(account, decision({ path: '/between' }));
      await decisions.flush();
      await sleep(100);
    }
    decisions.add(account, decision({ path: '/after' }));
    assert.deepEqual(
      (await pathsOf(decisions)).filter((path) => path !== '/between'),
      ['/after', '/before'],
    );
    assert.ok(seen.dropped > 0 && decisions.dropped(account) === seen.dropped);
    assert.ok(seen.lines.some((line) => line.startsWith('decisions about visitors are not kept')));
  });

  test('of a folder belong to one process, which gets no setting and no secret', async () => {
    const folder = scratchFolder();
    await using first = await open(folder);
    if (process.platform === 'linux') {
      const variables = readFileSync(`/proc/${first.keeperPid}/environ`, 'utf8').split('\0').slice(0, -1);
      for (const each of variables) assert.match(each, /^NODE_(COMPILE_CACHE|CHANNEL_FD|CHANNEL_SERIALIZATION_MODE)=/);
    }
    assert.ok(first.gateway.startsWith('dst_'));
    await assert.rejects(open(folder), /is in use by another process: give each gateway a folder of its own/);
    const link = join(scratchFolder(), 'link');
    symlinkSync(folder, link);
    await assert.rejects(open(link), /is in use by another process/);
  });

  test('are kept in a folder behind a link, and a folder that is none is named', async () => {
    const folder = scratchFolder();
    const link = join(folder, 'link');
    symlinkSync(scratchFolder(), link);
    await using decisions = await open(link);
    decisions.add(account, decision({ path: '/kept' }));
    await decisions.flush();
    await decisions.tend(Date.now() + hourMs);
    assert.deepEqual(await pathsOf(decisions), ['/kept']);
    const file = join(folder, 'file');
    writeFileSync(file, '');
    await assert.rejects(open(file), /^Error: GATEHOUSE_DECISIONS ".*file" cannot be used: /);
  });

  test('are removed when they are too old, an account at a time when there are too many', async () => {
    const folder = scratchFolder();
    const dayMs = 24 * hourMs;
    const nowMs = Date.now();
    {
      await using decisions = await open(folder, { days: 2 });
      decisions.add(account, decision({ at_ms: nowMs - 3 * dayMs, path: '/old' }));
      await decisions.flush();
      await decisions.tend(nowMs + hourMs);
      decisions.add(account, decision({ at_ms: nowMs - dayMs, path: '/new' }));
      await decisions.flush();
      await decisions.tend(nowMs);
      assert.deepEqual(await pathsOf(decisions), ['/new']);
    }
    const seen = new Seen();
    await using decisions = await open(folder, { maxBytes: 16 * 1024 }, seen);
    for (let part = 0; part < 20; part++) {
      decisions.add('ac_flood', decision({ path: `/${part}` }));
      decisions.add('ac_flood', decision({ path: `/${part}`, reason: 'x' }));
      await decisions.flush();
      await decisions.tend(nowMs + (part % 2) * hourMs);
    }
    assert.ok(seen.bytes <= 16 * 1024, `${seen.bytes} bytes`);
    assert.ok(
      files(folder)
        .filter(isClosed)
        .reduce((sum, path) => sum + statSync(path).size, 0) <=
        16 * 1024,
    );
    const flood = await pathsOf(decisions, { accountId: 'ac_flood' });
    assert.ok(flood.length > 0 && flood.length < 40 && flood[0] === '/19', `${flood.length} of the flood`);
    assert.deepEqual(await pathsOf(decisions), ['/new']);
  });

  test('of a flood within an hour take no room of another account', async () => {
    const folder = scratchFolder();
    const maxBytes = 256 * 1024;
    const seen = new Seen();
    await using decisions = await open(folder, { maxBytes }, seen);
    const nowMs = Date.now();
    decisions.add(account, decision({ path: '/quiet' }));
    await decisions.flush();
    await decisions.tend(nowMs + hourMs);
    for (let request = 0; request < 1000; request++)
      decisions.add('ac_flood', decision({ path: `/${'x'.repeat(511)}` }));
    await decisions.flush();
    await decisions.tend(nowMs);
    assert.deepEqual(await pathsOf(decisions), ['/quiet']);
    assert.ok(seen.bytes > 0 && seen.bytes <= maxBytes, `${seen.bytes} bytes`);
    const sizeOf = (name: string) => files(join(folder, name)).reduce((sum, path) => sum + statSync(path).size, 0);
    assert.ok(sizeOf('open') <= maxBytes / 4);
    assert.equal(seen.bytes, sizeOf('open') + sizeOf('accounts'));
  });

  test('are closed before long ones are more than their engine can sort', async () => {
    const folder = scratchFolder();
    await using decisions = await open(folder);
    const long = '€'.repeat(600);
    for (let request = 0; request < 9_000; request++) {
      decisions.add(account, decision({ path: long, host: long, reason: long, person: long, rule: long }));
      if (request % 1_000 === 0) await decisions.flush();
    }
    await decisions.flush();
    assert.equal(files(folder).filter(isClosed).length, 1);
  });

  test('are written while the files of many accounts are closed, and hold no descriptors', async () => {
    await using decisions = await open(scratchFolder());
    for (let each = 0; each < 30; each++) decisions.add(`ac_${each}`, decision());
    await decisions.flush();
    if (process.platform === 'linux') {
      const descriptors = `/proc/${decisions.keeperPid}/fd`;
      const held = readdirSync(descriptors).map((each) => {
        const path = join(descriptors, each);
        return existsSync(path) ? readlinkSync(path) : '';
      });
      assert.deepEqual(
        held.filter((path) => path.endsWith('.tsv')),
        [],
      );
    }
    const order: string[] = [];
    const tended = decisions.tend(Date.now() + hourMs).then(() => order.push('tended'));
    decisions.add(account, decision({ path: '/meanwhile' }));
    await decisions.flush();
    order.push('written');
    await tended;
    assert.deepEqual(order, ['written', 'tended']);
  });

  test('do not keep the gateway from stopping when their process hangs', { timeout: 40_000 }, async () => {
    const seen = new Seen();
    const decisions = await open(scratchFolder(), {}, seen);
    process.kill(decisions.keeperPid ?? assert.fail(), 'SIGSTOP');
    const added = 40_000;
    for (let request = 0; request < added; request++) decisions.add(account, decision({ path: `/${'x'.repeat(511)}` }));
    assert.ok(seen.dropped > 0, 'what waits is bounded');
    await decisions[Symbol.asyncDispose]();
    assert.equal(seen.dropped, added);
    assert.equal(decisions.dropped(account), added);
  });

  test('of an account whose traffic is a flood do not push out those of another one', async () => {
    const seen = new Seen();
    await using decisions = await open(scratchFolder(), {}, seen);
    const flood = 200_000;
    for (let request = 0; request < flood; request++)
      decisions.add('ac_flood', decision({ path: `/${request}${'x'.repeat(300)}` }));
    for (let request = 0; request < 500; request++) decisions.add(account, decision({ path: `/${request}` }));
    await decisions.flush();
    assert.ok(decisions.dropped('ac_flood') > 0);
    assert.equal(seen.dropped, decisions.dropped('ac_flood'));
    assert.equal(seen.kept + seen.dropped, flood + 500);
    assert.equal((await decisions.ask('list', { accountId: account, limit: 1000 })).rows.length, 500);
  });

  test('stay in the order in which they were made when the clock jumps back, also over a restart', async () => {
    const folder = scratchFolder();
    const nowMs = Date.now();
    {
      await using decisions = await open(folder);
      decisions.add(account, decision({ at_ms: nowMs + 5 * hourMs, path: '/1' }));
      await decisions.flush();
      await decisions.tend(nowMs + 5 * hourMs);
      decisions.add(account, decision({ at_ms: nowMs, path: '/2' }));
    }
    await using decisions = await open(folder);
    decisions.add(account, decision({ at_ms: nowMs - hourMs, path: '/3' }));
    assert.deepEqual(await pathsOf(decisions), ['/3', '/2', '/1']);
    assert.deepEqual(await pathsOf(decisions, { fromMs: nowMs, toMs: nowMs + 1 }), ['/2']);
  });

  const mayMount = process.getuid?.() === 0 && process.platform === 'linux';
  test(
    'that a full disk has no room for are dropped, counted and told, and the next are kept',
    { skip: !mayMount },
    async () => {
      const folder = scratchFolder();
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', folder]);
      try {
        const seen = new Seen();
        await using decisions = await open(folder, {}, seen);
        decisions.add(account, decision({ path: '/before' }));
        await decisions.flush();
        const filler = join(folder, 'filler');
        assert.throws(() => writeFileSync(filler, Buffer.alloc(4 * 2 ** 20)), { code: 'ENOSPC' });
        for (let request = 0; request < 100; request++)
          decisions.add(account, decision({ path: `/lost${'x'.repeat(500)}` }));
        await decisions.flush();
        assert.equal(decisions.dropped(account), 100);
        assert.ok(seen.lines.some((line) => line.includes('ENOSPC')));
        await decisions.tend(Date.now() + hourMs);
        rmSync(filler);
        decisions.add(account, decision({ path: '/after' }));
        assert.deepEqual(await pathsOf(decisions), ['/after', '/before']);
      } finally {
        execFileSync('umount', ['-l', folder]);
      }
    },
  );
});
