import { editsBetween, mostEdits } from '../../lib/nearest-name.ts';

const usual = 'Check the path; a trailing slash counts.';
/** Beginnings that other services have. */
const foreignStart = /^\/(?:api\/)?(?:v[0-9]+|api)(?=\/)/;

/** Advice on a path that does not exist, which costs next to nothing. */
export function usualRemedy(path: string): string {
  if (!path.startsWith('//')) return usual;
  return 'It starts with two slashes: take the slash at the end of the base URL of the client away.';
}

/** Advice with the path that was probably meant. `known` are the paths that there are, cut at "/", with `:name` for parameters. */
export function pathRemedy(path: string, known: readonly (readonly string[])[]): string {
  const meant = path.startsWith('//') ? undefined : findMeant(path, known);
  if (meant === undefined) return elsewhereRemedy(path, known) ?? usualRemedy(path);
  return `Did you mean ${JSON.stringify(meant)}?${path.endsWith('/') ? ' A trailing slash counts.' : ''}`;
}

/** Advice for a module of another kind of edge, or the like: the same last word, below the same first one. */
function elsewhereRemedy(path: string, known: readonly (readonly string[])[]): string | undefined {
  const parts = path.split('/');
  const [, first] = parts;
  const last = parts.at(-1);
  if (parts.length < 4 || last === undefined || last === '') return undefined;
  const there = known.filter((each) => each.length > 3 && each[1] === first && each.at(-1) === last);
  const shown = there.slice(0, 3).map((each) => each.map((part) => part.replace(/^:(.*)$/, '{$1}')).join('/'));
  return shown.length === 0 ? undefined : `${JSON.stringify(last)} is at: ${shown.join(', ')}.`;
}

function findMeant(path: string, known: readonly (readonly string[])[]): string | undefined {
  const parts = path.replace(foreignStart, '').split('/');
  // Slashes at the end.
  while (parts.length > 1 && parts.at(-1) === '') parts.pop();
  let nearest: readonly string[] | undefined;
  let fewest = mostEdits + 1;
  for (const each of known) {
    const edits = each.length === parts.length ? editsOf(parts, each) : fewest;
    if (edits >= fewest) continue;
    nearest = each;
    fewest = edits;
  }
  // A parameter stands for whatever the path has there.
  return nearest?.map((part, at) => (part.startsWith(':') ? parts[at] : part)).join('/');
}

function editsOf(parts: readonly string[], known: readonly string[]): number {
  let edits = 0;
  for (const [at, part] of known.entries()) {
    if (!part.startsWith(':')) edits += editsBetween(parts[at] ?? '', part);
    if (edits > mostEdits) break;
  }
  return edits;
}
