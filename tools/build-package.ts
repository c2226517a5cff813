import { cp, glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Writes `dist/` for the packed package; the dashboard is built into it afterwards. It is the tree of the repository with JavaScript in place of TypeScript, because Node
 * strips no types below `node_modules`. Types become blanks, so that lines and columns in stack traces are those of the
 * sources. Everything that a file finds by its own place, such as `package.json` and the dashboard, has the same place.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

/** A quoted relative path of a source file: of an import, or of the program of a child process. */
const sourcePath = /(['"])(\.{1,2}\/[^'"\n]*)\.ts\1/g;

await rm(dist, { recursive: true, force: true });
let written = 0;
for await (const path of glob('{src,client/src}/**/*.ts', { cwd: root })) {
  if (/(?:\.test|\/contract-examples)\.ts$/.test(path)) continue;
  const code = stripTypeScriptTypes(await readFile(join(root, path), 'utf8'));
  const target = join(dist, path.replace(/\.ts$/, '.js'));
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, code.replaceAll(sourcePath, '$1$2.js$1'));
  written++;
}
for (const name of ['package.json', 'openapi.json']) await cp(join(root, name), join(dist, name));
// The renderer of the reference is served, not run: of its package only these are needed, and not the reporter that it asks for.
for (const name of ['package.json', 'LICENSE', 'NOTICE', 'swagger-ui.css', 'swagger-ui-bundle.js']) {
  await cp(join(root, 'node_modules/swagger-ui-dist', name), join(dist, 'node_modules/swagger-ui-dist', name));
}
process.stdout.write(`dist: ${written} files\n`);
