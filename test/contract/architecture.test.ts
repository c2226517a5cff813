import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readRootFile, readSource, sourceFiles } from './support/source-files.ts';
import type { SourceFile } from './support/source-files.ts';

const page = 'docs/architecture.md';

interface Part {
  /** Folder or file, such as `src/api/` or `src/main.ts`. */
  readonly path: string;
  /** Names of parts; undefined allows everything. */
  readonly mayImport: ReadonlyMap<string, 'all' | 'types'> | undefined;
}

const parts = readTable(readRootFile(page));
const files = sourceFiles();

test('the table of parts names only parts that it has itself', () => {
  assert.ok(parts.size >= 13, `found only ${parts.size} parts in ${page}`);
  const unknown = [...parts].flatMap(([name, { mayImport }]) =>
    [...(mayImport?.keys() ?? [])].filter((other) => !parts.has(other)).map((other) => `${name} → ${other}`),
  );
  assert.deepEqual(unknown, []);
});

test('every file belongs to a part of the table', () => {
  assert.ok(files.length > 100, `found only ${files.length} files`);
  const strays = files.filter(({ path }) => partOf(path) === undefined).map(({ path }) => path);
  assert.deepEqual(strays, [], `add their folder to the table in ${page}`);
});

test('no file imports a part that the table does not allow', () => {
  assert.deepEqual(files.flatMap(forbiddenImports), []);
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

test('only the first file of a program touches process', () => {
  const programs = new Set(['src/main.ts', 'src/gateway/workers/worker-main.ts']);
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
  assert.deepEqual(forbiddenImports(upwards), ['src/lib/x.ts → src/store/y.ts']);
  assert.deepEqual(importsOfSlices(sideways), ['src/resources/a/x.ts → src/resources/b/y.ts']);
  const service = readSource('src/resources/a/x.ts', `import { y } from '../b/service.ts';`);
  assert.deepEqual(importsOfSlices(service), []);
  assert.deepEqual(findCycle(circle), ['src/lib/x.ts', 'src/lib/y.ts', 'src/lib/x.ts']);
  for (const code of ['process.exit(1)', 'const { env } = process;', 'run(process)', `import p from 'node:process'`]) {
    assert.ok(touchesProcess(code), code);
  }
  assert.ok(!touchesProcess('// one process. Another\nconst a = this.process.id; b({ process: 1 })'));
});

const betweenDatabases = /^src\/store\/(sqlite|postgres)\/.* → src\/store\/(?!\1)(?:sqlite|postgres)\//;

/** Reads rows of the form | `path` | text | names | into a map by the name of the part. */
function readTable(text: string): ReadonlyMap<string, Part> {
  const rows = [...text.matchAll(/^\| `([\w/.-]+)` \|[^|]*\|([^|]*)\|$/gm)];
  return new Map(
    rows.map(([, path = '', names = '']) => {
      const name = /([\w-]+)(?:\.ts|\/)$/.exec(path)?.[1] ?? path;
      return [name, { path, mayImport: readNames(names.trim()) }];
    }),
  );
}

function readNames(text: string): Part['mayImport'] {
  if (text === 'everything') return undefined;
  if (text === 'nothing') return new Map();
  return new Map(
    text.split(', ').map((word) => {
      const [, name = word, types] = /^([\w-]+)( \(types\))?$/.exec(word) ?? [];
      return [name, types === undefined ? 'all' : 'types'];
    }),
  );
}

function partOf(path: string): string | undefined {
  for (const [name, part] of parts) {
    if (part.path.endsWith('/') ? path.startsWith(part.path) : path === part.path) return name;
  }
  return undefined;
}

function forbiddenImports({ path, imports }: SourceFile): readonly string[] {
  const own = partOf(path) ?? '';
  const part = parts.get(own);
  return imports
    .filter(({ target, atRunTime }) => {
      const other = partOf(target) ?? target;
      if (other === own || part === undefined || part.mayImport === undefined) return false;
      const allowed = part.mayImport.get(other);
      return allowed === undefined || (allowed === 'types' && atRunTime);
    })
    .map(({ target }) => `${path} → ${target}`);
}

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

/** Returns the files of an import cycle, the first one again at the end. */
function findCycle(sources: readonly SourceFile[]): readonly string[] | undefined {
  const targets = new Map(
    sources.map(({ path, imports }) => [
      path,
      imports.filter(({ atRunTime }) => atRunTime).map(({ target }) => target),
    ]),
  );
  const done = new Set<string>();
  const walk = (path: string, trail: readonly string[]): readonly string[] | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (done.has(path)) return undefined;
    for (const target of targets.get(path) ?? []) {
      const cycle = walk(target, [...trail, path]);
      if (cycle !== undefined) return cycle;
    }
    done.add(path);
    return undefined;
  };
  for (const path of targets.keys()) {
    const cycle = walk(path, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

/** Finds uses of the global `process` in code without types; a field or parameter of that name is none. */
function touchesProcess(code: string): boolean {
  return (
    /['"](?:node:)?process['"]/.test(code) ||
    /(?<![\w.#$/-])(?:globalThis\.)?process\s*(?:\?\.|\.|\[)[\w'"]/.test(code) ||
    /[=(,]\s*process\s*[;),]/.test(code)
  );
}
