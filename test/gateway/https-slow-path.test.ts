import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';

import { isLong } from '../support/long-form.ts';

/** Runs HTTPS tests again with the fast path off, so that Node's own server parses every HTTP/1 request: in the long form all of them. */
process.env['TEST_HTTP1_FAST_PATH'] = 'off';
/** Those that see who is let in and what is passed on. */
const usual = ['access', 'after-close', 'attacks', 'headers', 'request-lines', 'session-cookie', 'upgrade'];
/** This one, the one that compares both paths, and those that send no HTTP/1 request. */
const left: ReadonlySet<string> = new Set(['slow-path', 'fast-path', 'stream-resets', 'resumption']);
const all = readdirSync(import.meta.dirname).flatMap((file) => /^https-(.*)\.test\.ts$/.exec(file)?.[1] ?? []);
const names = isLong ? all.filter((name) => !left.has(name)) : usual;
const load = createRequire(import.meta.url);
for (const name of names) load(`${import.meta.dirname}/https-${name}.test.ts`);
