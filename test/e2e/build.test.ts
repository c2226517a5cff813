import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const repository = fileURLToPath(new URL('../..', import.meta.url));
/** The number of a process that has ended. */
const endedPid = 2 ** 30;

test('builds beside each other leave one whole program, which starts at any time, and nothing of builds that were killed', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'gatehouse-build-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  for (const name of ['src', 'client', 'tools', 'dist', 'package.json']) {
    await cp(join(repository, name), join(root, name), { recursive: true });
  }
  await symlink(join(repository, 'node_modules'), join(root, 'node_modules'));
  const dist = join(root, 'dist');
  const build = () => run(process.execPath, ['tools/build.ts'], { cwd: root });
  const start = () => run(process.execPath, [join(dist, 'main.js'), '--version']);
  await mkdir(join(dist, `.building-${endedPid}`));
  await writeFile(join(dist, 'earlier-0000.js'), '');
  const over = new AbortController();
  const builds = Promise.all([build(), build()]).finally(() => {
    over.abort();
  });
  let starts = 0;
  for (; !over.signal.aborted; starts++) await start();
  await builds;
  await start();
  t.diagnostic(`${starts} starts meanwhile`);
  const left = await readdir(dist);
  assert.deepEqual(
    left.filter((name) => name.startsWith('.') || name.startsWith('earlier')),
    [],
  );
  // A source that is changed during a build is newer than the program.
  const writtenMs = async (name: string) => (await stat(join(dist, name))).mtimeMs;
  assert.ok((await writtenMs('main.js')) < (await writtenMs('LICENSES.md')));
});
