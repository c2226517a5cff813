import assert from 'node:assert/strict';
import { createWriteStream, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { newSecret } from './lib/secrets.ts';
import { createLog } from './log.ts';

/** Longer than any machine takes to write a line. */
const limitMs = 120_000;

test('on a terminal every request is one line', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-'));
  context.after(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'log');
  const out = createWriteStream(file);
  const [fd] = await once(out, 'open');
  // A log needs no more of the standard output than these.
  const log = createLog('info', { isTTY: true, fd } as NodeJS.WriteStream & { readonly fd: number });
  log.info({ operation_id: 'op_1', method: 'GET', path: '/ip_policies', status: 200, duration_ms: 1.234 }, 'request');
  log.info({ operation_id: 'op_2', method: 'GET', path: '/ip_policies', status: 404, duration_ms: 0.5 }, 'request');
  const startMs = performance.now();
  const written = () => readFileSync(file, 'utf8');
  while (!written().includes('op_2') && performance.now() - startMs < limitMs) await sleep(10);
  const lines = written().trimEnd().split('\n');
  assert.equal(lines.length, 2, written());
  assert.match(lines[0] ?? '', /request.*op_1.*\/ip_policies.*200.*1\.234/);
});

test('no line of the log holds a token, also where an error repeats it', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-'));
  context.after(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'log');
  const out = createWriteStream(file);
  const [fd] = await once(out, 'open');
  const secret = newSecret();
  const token = `2tQzYDLwIVU45s8sSMNpRfQp1Ng_${secret}`;
  // A log needs no more of the standard output than these.
  const log = createLog('info', { isTTY: false, fd } as NodeJS.WriteStream & { readonly fd: number });
  log.error({ err: new Error(`no row ${token}`), path: `/${token}` }, `about ${token}`);
  const startMs = performance.now();
  const written = () => readFileSync(file, 'utf8');
  while (!written().includes('\n') && performance.now() - startMs < limitMs) await sleep(10);
  assert.match(written(), /about 2tQzYDLwIVU45s8sSMNpRfQp1Ng_\[masked\]/);
  assert.ok(!written().includes(secret), written());
});
