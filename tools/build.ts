import { mkdir, readFile, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { rolldown } from 'rolldown';
import type { Plugin } from 'rolldown';

/**
 * Writes `dist/`: the program with all its packages in few files, which start in a quarter of the time that some 1,500
 * files of sources and packages take. `bin/gatehouse` runs it where no source is newer. Several builds may run at once, and
 * programs may start meanwhile: files are written in a folder of this build, and moved to their place when all are there.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const buildingPrefix = '.building-';
const building = join(dist, `${buildingPrefix}${process.pid}`);
const licenceFile = 'LICENSES.md';
const beganAt = new Date();

/** A program of a child process or thread, named by its place beside the source that starts it. */
const startedFile = /new URL\('\.\/([\w-]+)\.ts', import\.meta\.url\)/g;

/** Makes a program of each file that a source starts, beside the others and with its name. */
const startedFiles: Plugin = {
  name: 'started-files',
  transform(code, id) {
    const names = id.startsWith(join(root, 'src')) ? [...code.matchAll(startedFile)].map(([, name = '']) => name) : [];
    if (names.length === 0) return undefined;
    for (const name of names) {
      this.emitFile({ type: 'chunk', id: join(dirname(id), `${name}.ts`), fileName: `${name}.js` });
    }
    return code.replaceAll(startedFile, "new URL('./$1.js', import.meta.url)");
  },
};

/**
 * An import of `node:http` reads each of its exports, and some of these load Node's fetch and WebSocket: a fourteenth of the
 * time in which a command loads.
 */
const plainHttp: Plugin = {
  name: 'plain-http',
  resolveId: (id, _, { kind }) => (id === 'node:http' && kind === 'import-statement' ? '\0node:http' : undefined),
  load(id) {
    if (id !== '\0node:http') return undefined;
    const exports = Object.entries(Object.getOwnPropertyDescriptors(http));
    const names = exports.flatMap(([name, exported]) => ('value' in exported ? [name] : [])).join(', ');
    return `const http = process.getBuiltinModule('node:http');\nconst { ${names} } = http;\nexport { http as default, ${names} };`;
  },
};

await using bundle = await rolldown({
  input: { main: join(root, 'src/main.ts') },
  platform: 'node',
  // Not every installation has it: see decision 0030.
  external: ['@duckdb/node-api'],
  plugins: [startedFiles, plainHttp],
  onLog(level, log) {
    // Packages import in circles, and use names that only a bundler minds.
    if (level === 'warn' && !log.message.includes('node_modules')) process.stderr.write(`${log.message}\n`);
  },
});
const { output } = await bundle.generate({ format: 'esm', chunkFileNames: '[name]-[hash].js' });
const files = new Map<string, string | Buffer>();
for (const file of output) if (file.type === 'chunk') files.set(file.fileName, file.code);
files.set(licenceFile, await licencesOf(output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))));
// The renderer of the reference is served, not run: of its package only these are needed, and not the reporter that it asks for.
for (const name of ['package.json', 'LICENSE', 'NOTICE', 'swagger-ui.css', 'swagger-ui-bundle.js']) {
  const path = join('node_modules/swagger-ui-dist', name);
  files.set(path, await readFile(join(root, path)));
}
for (const [path, content] of files) await writeIn(building, path, content);
// Programs go last: those of an earlier build find their files until then, and from then on those of this one are there.
const programs = new Set(output.flatMap((file) => (file.type === 'chunk' && file.isEntry ? [file.fileName] : [])));
// A source that was changed meanwhile is newer than the program.
for (const path of programs) await utimes(join(building, path), beganAt, beganAt);
const isProgram = (path: string) => programs.has(path);
for (const path of [...files.keys()].toSorted((a, b) => Number(isProgram(a)) - Number(isProgram(b)))) {
  await mkdir(dirname(join(dist, path)), { recursive: true });
  await rename(join(building, path), join(dist, path));
}
await rm(building, { recursive: true });
for (const name of await readdir(dist))
  if (await isLeftOver(name)) await rm(join(dist, name), { recursive: true, force: true });
process.stdout.write(`dist: ${output.length} files\n`);

async function writeIn(folder: string, path: string, content: string | Buffer): Promise<void> {
  const place = join(folder, path);
  await mkdir(dirname(place), { recursive: true });
  await writeFile(place, content);
}

/** True for files of an earlier build, and for the folder of one that was killed. Those of a build beside this one stay. */
async function isLeftOver(name: string): Promise<boolean> {
  if (name === 'node_modules' || files.has(name)) return false;
  if (name.startsWith(buildingPrefix)) return !isRunning(Number(name.slice(buildingPrefix.length)));
  // Moved files keep the time at which they were written.
  const found = await stat(join(dist, name)).catch(() => undefined);
  return found !== undefined && found.ctime < beganAt;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The packages that these files are of, with their licences, which ask to go along with every copy. */
async function licencesOf(modules: readonly string[]): Promise<string> {
  const folders = new Set(modules.flatMap((file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []));
  const sections = [...folders].map(async (folder) => {
    // npm writes this form.
    const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
      readonly name: string;
      readonly version: string;
      readonly license?: string;
    };
    const file = (await readdir(folder)).find((each) => /^licen[cs]e/i.test(each));
    const text = file === undefined ? '' : `\n${(await readFile(join(folder, file), 'utf8')).trim()}\n`;
    return `## ${name} ${version} (${license ?? 'see below'})\n${text}`;
  });
  return `# Packages in this program\n\n${(await Promise.all(sections)).toSorted().join('\n')}`;
}
