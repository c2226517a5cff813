import assert from 'node:assert/strict';
import { test } from 'node:test';

import { findCycle, forbiddenImports, partOf, readTable, unknownParts } from './support/parts.ts';
import { readRootFile, readSource, sourceFiles } from './support/source-files.ts';
import type { SourceFile } from './support/source-files.ts';

const page = 'docs/architecture.md';

const parts = readTable(readRootFile(page));
const files = sourceFiles();
const dashboardPage = 'dashboard/README.md';
const dashboardParts = readTable(readRootFile(dashboardPage), 'dashboard/');
const dashboardFiles = sourceFiles('dashboard/src');

test('the table of parts names only parts that it has itself', () => {
  assert.ok(parts.size >= 13, `found only ${parts.size} parts in ${page}`);
  assert.deepEqual(unknownParts(parts), []);
});

test('every file belongs to a part of the table', () => {
  assert.ok(files.length > 100, `found only ${files.length} files`);
  const strays = files.filter(({ path }) => partOf(parts, path) === undefined).map(({ path }) => path);
  assert.deepEqual(strays, [], `add their folder to the table in ${page}`);
});

test('no file imports a part that the table does not allow', () => {
  assert.deepEqual(
    files.flatMap((file) => forbiddenImports(parts, file)),
    [],
  );
});

test('no folder of a list is imported by any file outside it but the list, except its service and errors', () => {
  assert.deepEqual(files.flatMap(importsOfSlices), []);
});

test('the two databases do not import each other', () => {
  const walls = files.flatMap(({ path, imports }) =>
    imports.map(({ target }) => `${path} → ${target}`).filter((edge) => betweenDatabases.test(edge)),
  );
  assert.deepEqual(walls, []);
  assert.match('src/store/sqlite/a.ts → src/store/postgres/b.ts', betweenDatabases);
});

test('no files import each other in a circle', () => {
  assert.deepEqual(findCycle(files)?.join(' → '), undefined);
});

test('every file of the dashboard belongs to a part of its table', () => {
  assert.deepEqual(unknownParts(dashboardParts), []);
  assert.ok(dashboardFiles.length > 100, `found only ${dashboardFiles.length} files`);
  const strays = dashboardFiles.filter(({ path }) => partOf(dashboardParts, path) === undefined);
  assert.deepEqual(strays, [], `add their folder to the table in ${dashboardPage}`);
});

test('no file of the dashboard imports a part that its table does not allow, and no page another page', () => {
  assert.deepEqual(
    dashboardFiles.flatMap((file) => forbiddenImports(dashboardParts, file)),
    [],
  );
  assert.deepEqual(dashboardFiles.flatMap(importsOfPages), []);
});

test('no files of the dashboard import each other in a circle, types included', () => {
  assert.deepEqual(findCycle(dashboardFiles, { withTypes: true })?.join(' → '), undefined);
});

test('only the first file of a program touches process', () => {
  const programs = new Set(['src/main.ts', 'src/gateway/workers/worker-main.ts', 'src/decisions/keeper-main.ts']);
  const touching = files
    .filter(({ path, code }) => !programs.has(path) && touchesProcess(code))
    .map(({ path }) => path);
  assert.deepEqual(touching, []);
  assert.ok(files.some(({ path, code }) => path === 'src/main.ts' && touchesProcess(code)));
});

test('an import is seen in every form it can take', () => {
  const { imports } = readSource(
    'src/api/made-up.ts',
    `import { a } from '../lib/a.ts';
     import type { B } from './b.ts';
     export * from "./c.ts";
     const d = await import('../store/d.ts');
     type E = import('../start/app.ts').E;
     fork(new URL('./f.ts', import.meta.url));`,
  );
  assert.deepEqual(
    imports.map(({ target, atRunTime }) => `${target} ${atRunTime}`),
    [
      'src/lib/a.ts true',
      'src/api/b.ts false',
      'src/api/c.ts true',
      'src/store/d.ts true',
      'src/start/app.ts false',
      'src/api/f.ts true',
    ],
  );
});

test('faults are found where there are some', () => {
  const upwards = readSource('src/lib/x.ts', `import { y } from '../store/y.ts';`);
  const sideways = readSource('src/resources/a/x.ts', `import { y } from '../b/y.ts';`);
  const circle = [
    readSource('src/lib/x.ts', `import { y } from './y.ts';`),
    readSource('src/lib/y.ts', `import { x } from './x.ts';`),
  ];
  assert.deepEqual(forbiddenImports(parts, upwards), ['src/lib/x.ts → src/store/y.ts']);
  assert.deepEqual(importsOfSlices(sideways), ['src/resources/a/x.ts → src/resources/b/y.ts']);
  const service = readSource('src/resources/a/x.ts', `import { y } from '../b/service.ts';`);
  assert.deepEqual(importsOfSlices(service), []);
  assert.deepEqual(findCycle(circle), ['src/lib/x.ts', 'src/lib/y.ts', 'src/lib/x.ts']);
  const typeCircle = [
    readSource('dashboard/src/lib/x.ts', `import type { Y } from './y.ts';`),
    readSource('dashboard/src/lib/y.ts', `import type { X } from './x.ts';`),
  ];
  assert.deepEqual(findCycle(typeCircle), undefined);
  assert.equal(findCycle(typeCircle, { withTypes: true })?.length, 3);
  const toApp = readSource('dashboard/src/pages/a/x.tsx', `import { y } from '../../app/y.ts';`);
  assert.deepEqual(forbiddenImports(dashboardParts, toApp), ['dashboard/src/pages/a/x.tsx → dashboard/src/app/y.ts']);
  const toServer = readSource('dashboard/src/lib/x.ts', `import { y } from '../../../src/store/y.ts';`);
  assert.deepEqual(forbiddenImports(dashboardParts, toServer), ['dashboard/src/lib/x.ts → src/store/y.ts']);
  const toPage = readSource('dashboard/src/pages/a/x.tsx', `import { y } from '../b/y.ts';`);
  assert.deepEqual(importsOfPages(toPage), ['dashboard/src/pages/a/x.tsx → dashboard/src/pages/b/y.ts']);
  for (const code of ['process.exit(1)', 'const { env } = process;', 'run(process)', `import p from 'node:process'`]) {
    assert.ok(touchesProcess(code), code);
  }
  assert.ok(!touchesProcess('// one process. Another\nconst a = this.process.id; b({ process: 1 })'));
});

const betweenDatabases = /^src\/store\/(sqlite|postgres)\/.* → src\/store\/(?!\1)(?:sqlite|postgres)\//;

/** Files of a folder that others may import: the interface of its services, and its errors. */
const openFile = /\/(?:service|errors)\.ts$/;

/** Returns `src/resources/ip-policies` for a file below it; undefined for files in no folder of a list. */
function sliceOf(path: string): string | undefined {
  return /^src\/(?:resources|modules)\/[^/]+(?=\/)/.exec(path)?.[0];
}

function importsOfSlices({ path, imports }: SourceFile): readonly string[] {
  return imports
    .filter(({ target }) => {
      const slice = sliceOf(target);
      if (slice === undefined || slice === sliceOf(path) || path === slice.replace(/[^/]+$/, 'index.ts')) return false;
      return !openFile.test(target);
    })
    .map(({ target }) => `${path} → ${target}`);
}

/** Finds imports of another page's folder; only the table of pages names them. */
function importsOfPages({ path, imports }: SourceFile): readonly string[] {
  const folderOf = (file: string): string | undefined => /^dashboard\/src\/pages\/[^/]+/.exec(file)?.[0];
  return imports
    .filter(({ target }) => folderOf(path) !== undefined && folderOf(target) !== undefined)
    .filter(({ target }) => folderOf(target) !== folderOf(path))
    .map(({ target }) => `${path} → ${target}`);
}

/** Finds uses of the global `process` in code without types; a field or parameter of that name is none. */
function touchesProcess(code: string): boolean {
  return (
    /['"](?:node:)?process['"]/.test(code) ||
    /(?<![\w.#$/-])(?:globalThis\.)?process\s*(?:\?\.|\.|\[)[\w'"]/.test(code) ||
    /[=(,]\s*process\s*[;),]/.test(code)
  );
}
