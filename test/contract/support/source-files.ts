import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, normalize } from 'node:path';

const root = new URL('../../../', import.meta.url).pathname;

export interface Import {
  /** From the root of the repository. */
  readonly target: string;
  /** False when nothing of it is left once types are stripped. */
  readonly atRunTime: boolean;
}

export interface SourceFile {
  /** From the root of the repository. */
  readonly path: string;
  /** Without types, which are replaced by spaces. */
  readonly code: string;
  readonly imports: readonly Import[];
}

/** Every file of the program; tests and their examples are not part of it. */
export function sourceFiles(): readonly SourceFile[] {
  return globSync('src/**/*.{ts,tsx}', { cwd: root })
    .filter((path) => !path.includes('node_modules') && !/(?:\.(?:test|d)\.tsx?|\/contract-examples\.ts)$/.test(path))
    .map((path) => readSource(path, readFileSync(join(root, path), 'utf8')))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

export function readRootFile(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

export function readSource(path: string, text: string): SourceFile {
  // JSX is not TypeScript's business; such files are read as they are, and all their imports count.
  const code = path.endsWith('.tsx') ? text : stripTypeScriptTypes(text);
  const atRunTime = new Set(specifiers(code));
  const imports = [...new Set(specifiers(text))].map((specifier) => ({
    target: normalize(join(dirname(path), specifier)),
    atRunTime: atRunTime.has(specifier),
  }));
  return { path, code, imports };
}

/** Any text that names a file of ours counts: `from`, `import()`, `new URL(…, import.meta.url)`. */
function specifiers(text: string): readonly string[] {
  return [...text.matchAll(/(['"`])(\.{1,2}\/[^'"`\n]*\.tsx?)\1/g)].map(([, , specifier = '']) => specifier);
}
