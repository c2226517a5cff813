import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

const launcher = fileURLToPath(new URL('../../bin/gatehouse', import.meta.url));

const options = '--max-semi-space-size=16 --max-inlined-bytecode-size-cumulative=4000 --min-inlining-frequency=0.02';
/** Version of a Node that refuses the options for inlining. */
const unknowing = 'v99.0.0';

interface Machine {
  readonly isInstalled: boolean;
  /** Version that the Node of the npm packages prints; `''` if it cannot run, undefined if there is none. */
  readonly pinned?: string;
  /** Version that the machine's own Node prints; undefined if there is none. */
  readonly own?: string;
  /** Files of the program, the oldest first; default: a clone in which nothing is built. */
  readonly files?: readonly string[];
}

/** Runs a copy of `bin/gatehouse` through a symbolic link, with `accounts list "two words"`. */
async function launch(context: TestContext, { isInstalled, pinned, own, files = ['src/main.ts'] }: Machine) {
  const root = await mkdtemp(join(tmpdir(), 'gatehouse launcher '));
  context.after(() => rm(root, { recursive: true, force: true }));
  for (const folder of ['bin', 'path', 'node_modules/.bin', ...(isInstalled ? ['node_modules/commander'] : [])]) {
    await mkdir(join(root, folder), { recursive: true });
  }
  await copyFile(launcher, join(root, 'bin/gatehouse'));
  for (const [age, file] of files.entries()) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), '');
    await utimes(join(root, file), 1_000 + age, 1_000 + age);
    await utimes(dirname(join(root, file)), 0, 0);
  }
  await symlink('../bin/gatehouse', join(root, 'path/gatehouse'));
  for (const tool of ['dirname', 'readlink', 'find']) {
    const { stdout } = spawnSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' });
    await symlink(stdout.trim(), join(root, 'path', tool));
  }
  await writeNode(join(root, 'node_modules/.bin/node'), 'pinned', pinned);
  await writeNode(join(root, 'path/node'), 'own', own);
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', 'gatehouse accounts list "two words"'], {
    env: { PATH: join(root, 'path') },
    encoding: 'utf8',
  });
  return { root, status, stdout, stderr };
}

/** Writes a fake Node that prints its version, or the arguments it was started with. One of them refuses inlining. */
async function writeNode(path: string, name: string, version: string | undefined): Promise<void> {
  if (version === undefined) return;
  const refuse = version === unknowing ? 'case "$*" in *inlin*) exit 9;; esac\n' : '';
  const answer = `case "$*" in *--version) echo ${version};; *) echo ${name} $# "$@";; esac`;
  await writeFile(path, `#!/bin/sh\n${refuse}${version === '' ? 'exit 127' : answer}\n`, { mode: 0o755 });
}

test('without its packages it says how to install them, in one sentence', async (context) => {
  const { root, status, stdout, stderr } = await launch(context, { isInstalled: false, own: 'v24.1.0' });
  assert.deepEqual([status, stdout], [1, '']);
  assert.equal(
    stderr,
    `Gatehouse is not installed here: run \`npm ci\` in ${root}, without --omit=dev. To run it without the packages that ` +
      'build it, see "Without the sources" in docs/operating.md.\n',
  );
});

test('an older Node, or none, is reported in one sentence', async (context) => {
  const clone = 'install it, or on Linux run `npm ci` without --omit=optional.';
  const packed = 'install it from https://nodejs.org, and see that it comes first in PATH.';
  for (const [own, files, advice] of [
    ['v20.20.2', ['package-lock.json', 'src/main.ts'], clone],
    [undefined, ['package-lock.json', 'src/main.ts'], clone],
    ['v8.0.0', ['dist/main.js'], packed],
    ['v23.11.0', ['dist/main.js'], packed],
    [undefined, ['dist/main.js'], packed],
  ] as const) {
    const { status, stdout, stderr } = await launch(context, {
      isInstalled: true,
      files,
      ...(own === undefined ? {} : { own }),
    });
    assert.deepEqual([status, stdout], [1, ''], own);
    assert.equal(stderr, `Gatehouse needs Node 24 or newer, but this machine has ${own ?? 'none'}: ${advice}\n`);
  }
});

test('the pinned Node goes before that of the machine, if it runs', async (context) => {
  for (const [pinned, own, expected] of [
    ['v24.21.0', 'v20.20.2', 'pinned'],
    ['v24.21.0', 'v26.0.0', 'pinned'],
    ['', 'v24.1.0', 'own'],
    ['', 'v100.0.0', 'own'],
  ] as const) {
    const { root, status, stdout, stderr } = await launch(context, { isInstalled: true, pinned, own });
    assert.deepEqual([status, stderr], [0, '']);
    assert.equal(stdout, `${expected} 7 ${options} ${root}/src/main.ts accounts list two words\n`);
  }
});

test('what is built is run where no source is newer, as in the packed package, which has none', async (context) => {
  for (const [files, expected] of [
    [['dist/main.js'], 'dist/main.js'],
    [['client/src/a.ts', 'package-lock.json', 'src/main.ts', 'dist/main.js'], 'dist/main.js'],
    [['client/src/a.ts', 'src/main.ts', 'dist/main.js', 'package-lock.json'], 'src/main.ts'],
    [['client/src/a.ts', 'package-lock.json', 'src/main.ts', 'dist/main.js', 'src/lib/a.ts'], 'src/main.ts'],
    [['client/src/a.ts', 'package-lock.json', 'src/main.ts'], 'src/main.ts'],
  ] as const) {
    const { root, status, stdout, stderr } = await launch(context, { isInstalled: true, own: 'v24.1.0', files });
    assert.deepEqual([status, stderr], [0, '']);
    assert.equal(stdout, `own 7 ${options} ${root}/${expected} accounts list two words\n`);
  }
});

test('a Node that does not know how to inline more runs without', async (context) => {
  const { root, status, stdout, stderr } = await launch(context, { isInstalled: true, own: unknowing });
  assert.deepEqual([status, stderr], [0, '']);
  assert.equal(stdout, `own 5 --max-semi-space-size=16 ${root}/src/main.ts accounts list two words\n`);
});
