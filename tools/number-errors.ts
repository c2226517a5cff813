import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { retiredNumbers } from './retired-numbers.ts';

/** Numbers from here on are those of the public service again. */
const endOfOwn = 23_000;

/**
 * Gives every error that is defined with the number 0 the one after the highest of our own. It is a program of its own because
 * `generate.ts` loads the definitions.
 */
const root = new URL('../', import.meta.url).pathname;
const sources = globSync('src/**/*.ts', { cwd: root }).toSorted();
const texts = new Map(sources.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
const known = [...texts.values()].flatMap((text) => [...text.matchAll(/\bdefineError\(\s*(\d+)/g)]);
const taken = [...retiredNumbers, ...known.map(([, number]) => Number(number))];
let highest = Math.max(...taken.filter((number) => number < endOfOwn));

for (const [path, text] of texts) {
  const numbered = text.replaceAll(/(\bdefineError\(\s*)0(?=,)/g, (_, before: string) => `${before}${++highest}`);
  if (numbered !== text) writeFileSync(join(root, path), numbered);
}
