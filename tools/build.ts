import { cp, mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { rolldown } from 'rolldown';
import type { Plugin } from 'rolldown';

/**
 * Writes `dist/`: the program with all its packages in few files, which start in a quarter of the time that some 1,500
 * files of sources and packages take. `bin/gatehouse` runs it where no source is newer.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const licenceFile = 'LICENSES.md';

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

await using bundle = await rolldown({
  input: { main: join(root, 'src/main.ts') },
  platform: 'node',
  plugins: [startedFiles],
  onLog(level, log) {
    // Packages import in circles, and use names that only a bundler minds.
    if (level === 'warn' && !log.message.includes('node_modules')) process.stderr.write(`${log.message}\n`);
  },
});
const { output } = await bundle.generate({ format: 'esm', chunkFileNames: '[name]-[hash].js' });
await mkdir(dist, { recursive: true });
for (const file of output) {
  if (file.type === 'chunk') await replaceFile(join(dist, file.fileName), file.code);
}
await replaceFile(
  join(dist, licenceFile),
  await licencesOf(output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))),
);
// The renderer of the reference is served, not run: of its package only these are needed, and not the reporter that it asks for.
for (const name of ['package.json', 'LICENSE', 'NOTICE', 'swagger-ui.css', 'swagger-ui-bundle.js']) {
  await cp(join(root, 'node_modules/swagger-ui-dist', name), join(dist, 'node_modules/swagger-ui-dist', name));
}
// Files of an earlier build go last: a program that starts meanwhile finds either all of the old or all of the new.
const kept = new Set([...output.map(({ fileName }) => fileName), 'node_modules', licenceFile]);
for (const name of await readdir(dist)) {
  if (!kept.has(name)) await rm(join(dist, name), { recursive: true });
}
process.stdout.write(`dist: ${output.length} files\n`);

async function replaceFile(path: string, text: string): Promise<void> {
  const isSame = (await readFile(path, 'utf8').catch(() => undefined)) === text;
  // The first file is written in any case: its time is the time of the build.
  if (isSame && !path.endsWith('/main.js')) return;
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
}

/** The packages that these files are of, with their licences, which ask to go along with every copy. */
async function licencesOf(files: readonly string[]): Promise<string> {
  const folders = new Set(files.flatMap((file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []));
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
