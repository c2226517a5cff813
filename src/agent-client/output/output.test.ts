import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { until } from '../../../test/e2e/gateway/support/until.ts';
import { LineOutput } from './line-output.ts';
import { ScreenReporter } from './screen-reporter.ts';

function scratch(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-output-'));
  t.after(() => {
    rmSync(folder, { recursive: true });
  });
  return folder;
}

test('lines that nobody reads are left out and counted, and those before and after arrive whole and in order', async (t) => {
  const pipe = join(scratch(t), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const fd = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  t.after(() => {
    closeSync(fd);
  });
  const out = new LineOutput(fd);
  const sent = 20_000;
  for (let at = 0; at < sent; at++) out.line(`line ${at} ${'x'.repeat(100)}`);
  let text = '';
  const isRead = (): boolean => {
    const bytes = Buffer.alloc(64 * 1024);
    try {
      text += bytes.toString('latin1', 0, readSync(fd, bytes));
    } catch {
      // Nothing is there at the moment.
    }
    return !out.isBehind;
  };
  await until(isRead, 'what waited is read');
  out.line('last');
  await until(() => isRead() && text.endsWith('last\n'), 'the last line is read');
  const lines = text.trimEnd().split('\n');
  const kept = lines.filter((line) => line.startsWith('line '));
  assert.ok(kept.length > 1000 && kept.length < sent, `${kept.length} lines`);
  assert.ok(kept.every((line, at) => line === `line ${at} ${'x'.repeat(100)}`));
  assert.equal(lines.at(-2), `(${sent - kept.length} lines were left out: nobody read them)`);
});

test('a reader that is gone is no fault', async (t) => {
  const file = join(scratch(t), 'closed');
  const fd = openSync(file, 'w');
  closeSync(fd);
  const out = new LineOutput(fd);
  out.line('for nobody');
  await until(() => !out.isBehind, 'given up');
  await out.flushed();
});

test('the live view is drawn on the other screen, again when the terminal changes its size, and gives it back', async (t) => {
  const file = join(scratch(t), 'terminal');
  const fd = openSync(file, 'w');
  t.after(() => {
    closeSync(fd);
  });
  const terminal = Object.assign(new EventEmitter(), { columns: 80, rows: 24 });
  const out = new LineOutput(fd);
  const reporter = new ScreenReporter(out, terminal, 'http://localhost:3000', true);
  const written = (): string => readFileSync(file, 'utf8');
  await out.flushed();
  assert.equal(written(), '', 'the program may not be able to give the screen back yet');
  reporter.state({ kind: 'online', address: 'https://a.test', target: 'http://localhost:3000' });
  reporter.request({ method: 'GET', path: '/first', status: 200, ms: 1, isWhole: true });
  await until(() => written().includes('/first'), 'drawn');
  assert.ok(written().startsWith('\u001B[?1049h'));
  assert.ok(!written().includes('█'), 'a code is shown only where it fits beside the view');
  const before = written().length;
  Object.assign(terminal, { columns: 20, rows: 8 });
  terminal.emit('resize');
  await until(() => written().length > before, 'drawn again');
  const lines = (written().split('\u001B[H').at(-1) ?? '').replaceAll('\u001B[2K', '').split('\r\n');
  assert.ok(lines.length < 8 && lines.every((line) => line.replace('\u001B[J', '').length <= 20), lines.join('\n'));
  await reporter.end(['Stopped.'], false);
  assert.ok(written().endsWith('\u001B[?1049lStopped.\n'));
  assert.equal(terminal.listenerCount('resize'), 0);
});
