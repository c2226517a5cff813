import { readdirSync } from 'node:fs';

/** Runs all HTTPS tests again with the fast path off, so that Node's own server parses every HTTP/1 request. */
process.env['TEST_HTTP1_FAST_PATH'] = 'off';
/** Files to leave out: this one, the one that compares both paths, and those that send no HTTP/1 request. */
const left: ReadonlySet<string> = new Set(
  ['slow-path', 'fast-path', 'stream-resets', 'resumption'].map((name) => `https-${name}.test.ts`),
);
for (const name of readdirSync(import.meta.dirname)) {
  if (/^https-.*\.test\.ts$/.test(name) && !left.has(name)) await import(`${import.meta.dirname}/${name}`);
}
