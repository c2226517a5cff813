import { registerHooks } from 'node:module';
import type { LoadHookSync } from 'node:module';

/**
 * Loaded before the server (`node --import`), this takes the marks of the history out of every write: none is drawn, none is
 * stored. The rest of the program is unchanged. Each part has to be found.
 */
const parts: Readonly<Record<string, readonly (readonly [text: string, instead: string])[]>> = {
  '/store/write/history.ts': [['return randomInt(1, 2 ** 48 - 1);', 'return 0;']],
  '/store/write/change-log.ts': [
    ['sweeping mark source', 'sweeping source'],
    ['    mark,\n', ''],
  ],
  '/store/sqlite/sqlite.ts': [
    ['version = $1, mark = $2', 'version = $1'],
    ['[point.version, point.mark]', '[point.version]'],
  ],
};

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const changes = Object.entries(parts).find(([path]) => url.endsWith(path))?.[1];
    if (changes === undefined) return loaded;
    const source = changes.reduce((text, [part, instead]) => {
      if (!text.includes(part)) throw new Error(`${url} has no ${part}`);
      return text.replace(part, instead);
    }, textOf(loaded.source));
    return { ...loaded, source };
  },
});

function textOf(source: ReturnType<LoadHookSync>['source']): string {
  if (source === undefined || source === null) return '';
  return typeof source === 'string' ? source : new TextDecoder().decode(source);
}
