import { readdirSync } from 'node:fs';

/** Runs all HTTPS tests again with the fast path off, so that Node's own server parses every HTTP/1 request. */
process.env['TEST_HTTP1_FAST_PATH'] = 'off';
/** Files to leave out: this one, and the one that compares both paths. */
const left: ReadonlySet<string> = new Set(['https-slow-path.test.ts', 'https-fast-path.test.ts']);
for (const name of readdirSync(import.meta.dirname)) {
  if (/^https-.*\.test\.ts$/.test(name) && !left.has(name)) await import(`${import.meta.dirname}/${name}`);
}
