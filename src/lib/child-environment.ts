import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/** Environment of a process of the program's own: where compiled code lies, and nothing else, for it needs no setting and no secret. */
export function childEnvironment(): Readonly<Record<string, string>> {
  const compileCache = getCompileCacheDir();
  return compileCache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(compileCache) };
}
