import { nearestName } from '../../lib/nearest-name.ts';

/** Longer paths are not compared: anybody may send one. */
const comparedLength = 80;
const usual = 'Check the path; a trailing slash counts.';
/** Beginnings that other services have. */
const foreignStart = /^\/(?:api\/)?(?:v[0-9]+|api)(?=\/)/;

/** Advice on a path that does not exist. `known` are the paths that do, with `:name` for parameters. */
export function pathRemedy(path: string, known: readonly string[]): string {
  if (path.startsWith('//')) {
    return 'It starts with two slashes: take the slash at the end of the base URL of the client away.';
  }
  if (path.length > comparedLength) return usual;
  const meant = findMeant(path, known);
  if (meant === undefined) return usual;
  return `Did you mean ${JSON.stringify(meant)}?${path.endsWith('/') ? ' A trailing slash counts.' : ''}`;
}

function findMeant(path: string, known: readonly string[]): string | undefined {
  const plain = path.replace(foreignStart, '').replace(/\/+$/, '');
  const parts = plain.split('/');
  const candidates = known
    .map((each) => each.split('/'))
    .filter((each) => each.length === parts.length)
    // A parameter stands for whatever the path has there.
    .map((each) => each.map((part, at) => (part.startsWith(':') ? parts[at] : part)).join('/'));
  return candidates.includes(plain) ? plain : nearestName(plain, candidates);
}
