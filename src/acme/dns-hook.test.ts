import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { callHook } from './dns-hook.ts';

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-hook-'));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});
const record = { name: '_acme-challenge.gatehouse-app.net', value: '$(touch /tmp/x) "quoted"' };

function program(text: string): string {
  const path = join(folder, `hook-${Math.random()}`);
  writeFileSync(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return path;
}

test('the program gets the task, the name and the value as they are, and nothing of our environment', async () => {
  const out = join(folder, 'out');
  process.env['GATEHOUSE_TEST_SECRET'] = 'not for the program';
  await callHook({ program: program(`printf '%s\\n' "$@" > ${out}; env >> ${out}`), limitMs: 30_000 }, 'add', record);
  const lines = readFileSync(out, 'utf8').split('\n');
  assert.deepEqual(lines.slice(0, 3), ['add', record.name, record.value]);
  assert.ok(!lines.some((line) => line.includes('not for the program')));
});

test('a program that fails is told with its own words', async () => {
  const hook = { program: program('echo "no such zone" >&2; exit 3'), limitMs: 30_000 };
  await assert.rejects(callHook(hook, 'remove', record), {
    code: 20245,
    message: /could not remove .*: no such zone\./,
  });
});

test('a program that is not there, or takes too long, ends the attempt', async () => {
  await assert.rejects(callHook({ program: join(folder, 'none'), limitMs: 30_000 }, 'add', record), { code: 20245 });
  const slow = { program: program('exec sleep 60'), limitMs: 200 };
  await assert.rejects(callHook(slow, 'add', record), { message: /took longer than 0\.2 seconds/ });
});
