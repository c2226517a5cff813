import { readdirSync } from 'node:fs';

/** The whole behaviour of HTTPS once more, with every request of HTTP/1 read by Node's own server. */
process.env['TEST_HTTP1'] = 'general';
const alreadyBoth = [import.meta.filename, `${import.meta.dirname}/https-direct.test.ts`];
for (const name of readdirSync(import.meta.dirname)) {
  const file = `${import.meta.dirname}/${name}`;
  if (/^https-.*\.test\.ts$/.test(name) && !alreadyBoth.includes(file)) await import(file);
}
