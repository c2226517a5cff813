import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chown, chmod, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';

import { createSealer } from '../lib/sealed-secret.ts';
import type { SnapshotEntry, SnapshotUpdate } from './contract.ts';
import { SnapshotFile } from './snapshot-file.ts';

const localCa = { certificatePem: 'certificate', privateKeyPem: 'key of the authority' };

function backend(at: number, port = 80): SnapshotEntry {
  return { kind: 'backend', id: `bkdsc_${at}`, accountId: 'ac_1', host: 'app.internal', port, tls: false };
}

function backends(count: number): readonly SnapshotEntry[] {
  return Array.from({ length: count }, (_, at) => backend(at));
}

function whole(version: number, set: readonly SnapshotEntry[]): SnapshotUpdate {
  return { version, mark: version + 100, full: true, set, removed: [] };
}

function change(version: number, set: readonly SnapshotEntry[], removed: SnapshotUpdate['removed'] = []) {
  return { version, mark: version + 100, full: false, set, removed };
}

describe('the snapshot file', () => {
  const folders: string[] = [];
  after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

  async function newPath(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-snapshot-'));
    folders.push(folder);
    return join(folder, 'gateway.snapshot');
  }

  function openFile(path: string, faults?: unknown[], secretKey?: string): SnapshotFile {
    const file = new SnapshotFile(path, createSealer(secretKey), 'of a test', (error) => {
      if (faults === undefined) throw error;
      faults.push(error);
    });
    file.setLocalCa(localCa);
    return file;
  }

  async function write(path: string, ...updates: readonly SnapshotUpdate[]): Promise<void> {
    await using file = openFile(path);
    for (const update of updates) {
      file.follow(update);
      await file.flush();
    }
  }

  const load = (path: string) => openFile(path).load();
  const byId = (entries: readonly SnapshotEntry[] = []) => entries.toSorted((a, b) => a.id.localeCompare(b.id));

  test('holds what updates have made of it, and nothing else is in its folder once it is closed', async () => {
    const path = await newPath();
    assert.equal(await load(path), undefined);
    const policy = { kind: 'policy', id: 'bkdsc_1', rules: { ipv4: new Uint32Array([1, 2]) } } as never;
    await write(
      path,
      whole(7, [...backends(2_500), policy]),
      change(8, [backend(1, 81), backend(9_000)], [{ kind: 'backend', id: 'bkdsc_0' }]),
      change(9, [backend(1, 82)], [{ kind: 'backend', id: 'none' }]),
    );
    const names = await readdir(join(path, '..'));
    assert.deepEqual(names.toSorted(), ['gateway.snapshot', 'gateway.snapshot.lock']);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    const saved = await load(path);
    const { set, ...rest } = saved?.update ?? { set: [] };
    assert.deepEqual(rest, { version: 9, mark: 109, full: true, removed: [] });
    assert.deepEqual(saved?.localCa, localCa);
    const expected = [backend(1, 82), policy, ...backends(2_500).slice(2), backend(9_000)];
    assert.deepEqual(byId(set), byId(expected));
  });

  test('of many entries is written in turns, between which others have theirs', async () => {
    await using file = openFile(await newPath());
    let turns = 0;
    const entriesOfTurn = new Map<number, number>();
    // Sending an entry reads its fields.
    const slow = backends(2_050).map((entry) => ({
      ...entry,
      get host() {
        entriesOfTurn.set(turns, (entriesOfTurn.get(turns) ?? 0) + 1);
        return 'app.internal';
      },
    })) as SnapshotEntry[];
    let isWritten = false;
    const count = (): void => {
      turns += 1;
      if (!isWritten) setImmediate(count);
    };
    setImmediate(count);
    file.follow(whole(7, slow));
    await file.flush();
    isWritten = true;
    assert.ok(Math.max(...entriesOfTurn.values()) <= 400, JSON.stringify([...entriesOfTurn]));
  });

  test('costs what has changed, also where an update names everything again', async () => {
    const path = await newPath();
    await write(path, whole(1, backends(20_000)));
    const { size } = await stat(path);
    assert.ok(size > 2_000_000, `${size}`);
    await using file = openFile(path);
    file.follow(whole(2, [...backends(19_999), backend(5, 81)]));
    await file.flush();
    const log = await stat(`${path}-wal`);
    assert.ok(log.size < size / 20, `${log.size} of ${size}`);
    const saved = await load(path);
    assert.deepEqual([saved?.update.version, saved?.update.set.length], [2, 19_999]);
    assert.deepEqual(
      saved?.update.set.find(({ id }) => id === 'bkdsc_5'),
      backend(5, 81),
    );
  });

  test('keeps nothing that was observed, and of tunnels none', async () => {
    const path = await newPath();
    const seen: SnapshotEntry = { kind: 'challenge', id: 'seen', hostname: 'a.test', observed: true };
    const { observed: _, ...lasting } = seen;
    const tunnels = { kind: 'tunnel_backend', id: 'bkdtg_1', tunnels: [{ id: 'tn_1', holder: 'p_1' }] } as const;
    await write(path, whole(1, [tunnels, { ...lasting, id: 'other' }, seen]));
    assert.deepEqual(byId((await load(path))?.update.set), [
      { ...tunnels, tunnels: [] },
      { ...lasting, id: 'other' },
    ]);
    // What lasted is gone when it is only seen.
    await write(path, whole(2, [{ ...lasting, id: 'other' }]), change(3, [{ ...seen, id: 'other' }]));
    assert.deepEqual((await load(path))?.update.set, []);
  });

  test('has no secret that can be read where there is a secret key, and no other key opens them', async () => {
    const path = await newPath();
    const modules = {
      oidc: { issuer: 'https://id.test', client_secret: 'secret-of-client' },
      webhook_verification: { provider: 'github', secret: 'secret-of-webhooks' },
    };
    const route = { id: 'edghtsrt_1', matchType: 'path_prefix', match: '/', modules } as const;
    const set: SnapshotEntry[] = [
      {
        kind: 'certificate',
        id: 'cert_1',
        accountId: 'a',
        certificatePem: 'c',
        privateKeyPem: 'secret-of-name',
        names: [],
      },
      { kind: 'visitor_key', id: '1', secret: 'secret-of-visitors', privateJwk: 'secret-of-jwk' },
      { kind: 'vault_secret', id: 'sec_1', vaultId: 'v', name: 'n', value: 'secret-of-vault' },
      { kind: 'https_edge', id: 'edghts_1', accountId: 'a', hostports: ['a.test:443'], routes: [route] },
    ];
    const secretKey = 'a-secret-key-of-more-than-32-characters';
    {
      await using file = openFile(path, undefined, secretKey);
      file.follow(whole(1, set));
    }
    const bytes = await readFile(path, 'latin1');
    assert.ok(bytes.includes('edghts_1'));
    assert.doesNotMatch(bytes, /secret-of|key of the authority/);
    const saved = await openFile(path, undefined, secretKey).load();
    assert.deepEqual([saved?.update.set, saved?.localCa], [set, localCa]);
    await assert.rejects(openFile(path, undefined, `not ${secretKey}`).load(), /does not open/);
    await assert.rejects(load(path), /secret_key is not set/);
  });

  test('that is damaged, or of another form or database, is refused and made anew', async () => {
    const path = await newPath();
    await write(path, whole(1, backends(300)));
    const good = await readFile(path);
    const torn = Buffer.from(good).fill(0, good.length - 9_000, good.length - 8_000);
    const former = 'gatehouse-snapshot-3 0000\nnothing';
    for (const [what, bytes] of Object.entries({ torn, former, cut: good.subarray(0, 5_000), none: 'x' })) {
      await writeFile(path, bytes);
      await assert.rejects(load(path), /is damaged or of another version; delete it once the database is back/, what);
    }
    for (const bytes of [former, good.subarray(0, 5_000), good]) {
      await writeFile(path, bytes);
      await write(path, whole(3, [backend(4)]));
      assert.deepEqual((await load(path))?.update.set, [backend(4)]);
      assert.equal((await stat(path)).mode & 0o777, 0o600);
    }
    for (const [damage, entries] of [
      ['DELETE FROM entries', 1],
      ['UPDATE entries SET bytes = zeroblob(9)', 1],
      ['PRAGMA user_version = 5', 1],
      ['PRAGMA application_id = 5', 1],
      ['DELETE FROM head', 1],
    ] as const) {
      await write(path, whole(3, [backend(4)]));
      using database = new DatabaseSync(path);
      database.exec(damage);
      database.close();
      if (damage === 'DELETE FROM head') assert.equal(await load(path), undefined);
      else await assert.rejects(load(path), /is damaged or of another version/, damage);
      await write(path, whole(4, [backend(5)]));
      assert.deepEqual((await load(path))?.update.set.length, entries, damage);
    }
    const other = new SnapshotFile(path, createSealer(undefined), 'another', assert.ifError);
    await assert.rejects(other.load(), /of another one \(of a test\).*--snapshot-file, or delete this one/);
  });

  test('that was removed or replaced while it is open is there again with the next update', async () => {
    const path = await newPath();
    await using file = openFile(path);
    file.follow(whole(1, backends(3)));
    await file.flush();
    for (const [version, damage] of [
      [2, async () => Promise.all([path, `${path}-wal`, `${path}-shm`].map((each) => rm(each)))],
      [3, async () => rm(path)],
      [4, async () => Promise.all([rm(path), writeFile(`${path}-new`, 'nonsense')])],
    ] as const) {
      await damage();
      file.follow(change(version, [backend(version)]));
      await file.flush();
      assert.deepEqual((await load(path))?.update.set.length, Math.max(3, version + 1));
    }
  });

  test('is not written by two: the second says so, and writes when the first has ended', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const path = await newPath();
    const faults: unknown[] = [];
    await using second = openFile(path, faults);
    {
      await using first = openFile(path);
      first.follow(whole(1, backends(2)));
      await first.flush();
      second.follow(whole(2, backends(5)));
      await assert.rejects(
        second.flush(),
        /another gateway writes .*: give each a file of its own with --snapshot-file/,
      );
      second.follow(change(3, [backend(9)], [{ kind: 'backend', id: 'bkdsc_0' }]));
      await assert.rejects(second.flush());
      first.follow(change(4, [backend(7)]));
    }
    assert.deepEqual((await load(path))?.update.version, 4);
    t.mock.timers.tick(60_000);
    await second.flush();
    const saved = await load(path);
    assert.deepEqual([saved?.update.version, saved?.update.set.length], [3, 5]);
    assert.deepEqual(faults, []);
  });

  test('on a disk that refuses it is reported, and has everything once it can be written', async () => {
    const folder = join(await newPath(), '..');
    const inTheWay = join(folder, 'file');
    await writeFile(inTheWay, '');
    const faults: unknown[] = [];
    await using file = openFile(join(inTheWay, 'gateway.snapshot'), faults);
    file.follow(whole(1, backends(3)));
    await assert.rejects(file.flush(), /EEXIST|ENOTDIR/);
    file.follow(change(2, [backend(8)], [{ kind: 'backend', id: 'bkdsc_1' }]));
    await assert.rejects(file.flush(), /EEXIST|ENOTDIR/);
    await rm(inTheWay);
    await file.flush();
    const saved = await load(join(inTheWay, 'gateway.snapshot'));
    assert.deepEqual([saved?.update.version, saved?.update.set], [2, [backend(0), backend(2), backend(8)]]);
  });

  test('on a disk that gets full stays as it was, and has everything when there is space again', async () => {
    const path = await newPath();
    await using file = openFile(path);
    file.follow(whole(1, backends(100)));
    await file.flush();
    // No file may grow beyond it: what the system then says to writes is as good as a full disk.
    const limit = (bytes: number | 'unlimited') =>
      execFileSync('prlimit', [`--pid=${process.pid}`, `--fsize=${bytes}:`]);
    limit(500_000);
    try {
      file.follow(change(2, backends(20_000)));
      await assert.rejects(file.flush(), /disk|full/);
      assert.equal((await load(path))?.update.version, 1);
      file.follow(change(3, [backend(1, 81)]));
      await assert.rejects(file.flush(), /disk|full/);
    } finally {
      limit('unlimited');
    }
    await file.flush();
    const saved = await load(path);
    assert.deepEqual([saved?.update.version, saved?.update.set.length], [3, 20_000]);
  });

  test('on a disk that cannot be written is read all the same, with what a crash has left in its log', async () => {
    const path = await newPath();
    await write(path, whole(1, backends(3)));
    const closed = await readFile(path);
    const { main, log } = await crashed(path, change(2, [backend(7)]));
    for (const [version, files] of [
      [1, { [path]: closed }],
      [2, { [path]: main, [`${path}-wal`]: log }],
    ] as const) {
      const folder = join(path, '..');
      await chmod(folder, 0o700);
      for (const name of await readdir(folder)) await rm(join(folder, name));
      for (const [name, bytes] of Object.entries(files)) await writeFile(name, bytes);
      assert.equal((await withoutWriting(folder, () => load(path)))?.update.version, version);
    }
  });

  /** What a process that is killed after the update leaves. */
  async function crashed(path: string, update: SnapshotUpdate): Promise<Record<'main' | 'log', Buffer>> {
    await using file = openFile(path);
    file.follow({ ...update, full: true, set: [...backends(3), ...update.set] });
    await file.flush();
    return { main: await readFile(path), log: await readFile(`${path}-wal`) };
  }

  async function withoutWriting<T>(folder: string, work: () => Promise<T>): Promise<T> {
    const isRoot = process.geteuid?.() === 0;
    const nobody = 65_534;
    if (isRoot) {
      for (const name of await readdir(folder)) await chown(join(folder, name), nobody, nobody);
      await chown(folder, nobody, nobody);
    }
    await chmod(folder, 0o500);
    // Nothing stops root from writing.
    if (isRoot) process.seteuid?.(nobody);
    try {
      await assert.rejects(open(join(folder, 'x'), 'w'), /EACCES/);
      return await work();
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
  }
});
