import { existsSync } from 'node:fs';

/** Folder of the package, as a URL: a clone, or where it is installed. The sources and what is built of them lie at different depths. */
export const packageFolder = findUp(new URL('.', import.meta.url));

function findUp(folder: URL): URL {
  const isFound = existsSync(new URL('package.json', folder)) || folder.pathname === '/';
  return isFound ? folder : findUp(new URL('..', folder));
}
