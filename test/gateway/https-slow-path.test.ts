import { readdirSync } from 'node:fs';

/** The whole behaviour of HTTPS once more, with every request of HTTP/1 read by Node's own server. */
process.env['TEST_HTTP1'] = 'general';
/** They know both ways by themselves. */
const left: ReadonlySet<string> = new Set(['https-slow-path.test.ts', 'https-fast-path.test.ts']);
for (const name of readdirSync(import.meta.dirname)) {
  if (/^https-.*\.test\.ts$/.test(name) && !left.has(name)) await import(`${import.meta.dirname}/${name}`);
}
