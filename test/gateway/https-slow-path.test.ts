import { readdirSync } from 'node:fs';

/** All tests of HTTPS once more, with the fast path closed: Node's own server reads every request of HTTP/1. */
process.env['TEST_HTTP1_FAST_PATH'] = 'off';
/** This file, and the one that compares both paths. */
const left: ReadonlySet<string> = new Set(['https-slow-path.test.ts', 'https-fast-path.test.ts']);
for (const name of readdirSync(import.meta.dirname)) {
  if (/^https-.*\.test\.ts$/.test(name) && !left.has(name)) await import(`${import.meta.dirname}/${name}`);
}
