import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, normalize } from 'node:path';

const root = new URL('../../../', import.meta.url).pathname;

export interface Import {
  /** Path from the root of the repository. */
  readonly target: string;
  /** False for an import that is gone once types are stripped. */
  readonly atRunTime: boolean;
}

export interface SourceFile {
  /** Path from the root of the repository. */
  readonly path: string;
  /** Text with types replaced by spaces. */
  readonly code: string;
  readonly imports: readonly Import[];
}

/** Reads every file of the program or of another folder, without tests and their examples. */
export function sourceFiles(folder = 'src'): readonly SourceFile[] {
  return globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root })
    .filter((path) => !path.includes('node_modules') && !/(?:\.(?:test|d)\.tsx?|\/contract-examples\.ts)$/.test(path))
    .map((path) => readSource(path, readFileSync(join(root, path), 'utf8')))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

export function readRootFile(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

export function readSource(path: string, text: string): SourceFile {
  // Node cannot strip types from JSX, so all imports of such files count.
  const code = path.endsWith('.tsx') ? text : stripTypeScriptTypes(text);
  const atRunTime = new Set(specifiers(code));
  const imports = [...new Set(specifiers(text))].map((specifier) => ({
    target: normalize(join(dirname(path), specifier)),
    atRunTime: atRunTime.has(specifier),
  }));
  return { path, code, imports };
}

/** Finds every text that names a local file: `from`, `import()`, `new URL(…, import.meta.url)`. */
function specifiers(text: string): readonly string[] {
  return [...text.matchAll(/(['"`])(\.{1,2}\/[^'"`\n]*\.tsx?)\1/g)].map(([, , specifier = '']) => specifier);
}
