import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { Running } from '../e2e/many-processes/support/running.ts';
import { GatehouseProcess } from './gatehouse-process.ts';
import { scratchFolder } from './scratch.ts';

/** A program that ends at once, and whose last line comes when the file is there. */
const lateLine = '(while [ ! -e "$0" ]; do sleep 0.01; done; echo last line) & exit 3';
let made = 0;
const newFile = (folder: string) => join(folder, `go${(made += 1)}`);
const folder = scratchFolder();

test('a line that is read after the end of its process counts', async () => {
  for (let round = 0; round < 5; round++) {
    const file = newFile(folder);
    await using own = new GatehouseProcess(['-c', lateLine, file], {}, '/bin/sh');
    if (own.child.exitCode === null) await once(own.child, 'exit');
    const printed = own.printed(/^(last) line$/m);
    writeFileSync(file, '');
    assert.equal(await printed, 'last');
    await assert.rejects(own.printed(/another/), /it has not printed/);
  }
});

test('so does it for one of many processes, and its output is whole once it has ended', async () => {
  const file = newFile(folder);
  const child = spawn('/bin/sh', ['-c', lateLine, file], { stdio: ['ignore', 'pipe', 'pipe'] });
  await using running = new Running(child);
  await once(child, 'exit');
  const [printed, ended] = [running.prints(/^last line$/m), running.ends()];
  writeFileSync(file, '');
  assert.equal(await ended, 3);
  assert.equal(running.output, 'last line\n');
  await printed;
  await assert.rejects(running.prints(/another/), /has ended: last line/);
});
