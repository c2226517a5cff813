import { join } from 'node:path';

import type { SourceFile } from './source-files.ts';

interface Part {
  /** Folder or file, such as `src/api/` or `src/main.ts`. */
  readonly path: string;
  /** Names of parts; undefined allows everything. */
  readonly mayImport: ReadonlyMap<string, 'all' | 'types'> | undefined;
}

export type Parts = ReadonlyMap<string, Part>;

/** Reads rows of the form | `path` | text | names | into a map by the name of the part. Paths begin at `base`. */
export function readTable(text: string, base = ''): Parts {
  const rows = [...text.matchAll(/^\| `([\w/.-]+)` \|[^|]*\|([^|]*)\|$/gm)];
  return new Map(
    rows.map(([, path = '', names = '']) => {
      const name = /([\w-]+)(?:\.ts|\/)$/.exec(path)?.[1] ?? path;
      return [name, { path: join(base, path), mayImport: readNames(names.trim()) }];
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

/** Names that stand in the table as imports but have no row. */
export function unknownParts(parts: Parts): readonly string[] {
  return [...parts].flatMap(([name, { mayImport }]) =>
    [...(mayImport?.keys() ?? [])].filter((other) => !parts.has(other)).map((other) => `${name} → ${other}`),
  );
}

export function partOf(parts: Parts, path: string): string | undefined {
  for (const [name, part] of parts) {
    if (part.path.endsWith('/') ? path.startsWith(part.path) : path === part.path) return name;
  }
  return undefined;
}

export function forbiddenImports(parts: Parts, { path, imports }: SourceFile): readonly string[] {
  const own = partOf(parts, path) ?? '';
  const part = parts.get(own);
  return imports
    .filter(({ target, atRunTime }) => {
      const other = partOf(parts, target) ?? target;
      if (other === own || part === undefined || part.mayImport === undefined) return false;
      const allowed = part.mayImport.get(other);
      return allowed === undefined || (allowed === 'types' && atRunTime);
    })
    .map(({ target }) => `${path} → ${target}`);
}

/** Returns the files of an import cycle, the first one again at the end. */
export function findCycle(
  sources: readonly SourceFile[],
  { withTypes = false }: { readonly withTypes?: boolean } = {},
): readonly string[] | undefined {
  const targets = new Map(
    sources.map(({ path, imports }) => [
      path,
      imports.filter(({ atRunTime }) => withTypes || atRunTime).map(({ target }) => target),
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
