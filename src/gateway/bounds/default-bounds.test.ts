import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { connectionBounds, readOpenFilesLimit } from './default-bounds.ts';

const automatic = {
  clientConnections: undefined,
  sourceConnections: undefined,
  upstreamConnections: undefined,
  accountConnections: undefined,
  backendConnections: undefined,
  backendSourceConnections: undefined,
};

test('1,024 open files leave a quarter of them to everything that is not traffic', () => {
  assert.deepEqual(connectionBounds(automatic, 1024), {
    clientConnections: 384,
    sourceConnections: 96,
    upstreamConnections: 384,
    accountConnections: 192,
    backendConnections: 96,
    backendSourceConnections: 24,
  });
});

test('any number of open files has room for all connections and a reserve, and no source or backend has all', () => {
  for (const files of [64, 256, 512, 1024, 4096, 20_000, 65_536, 1_048_576]) {
    const bounds = connectionBounds(automatic, files);
    const { clientConnections, upstreamConnections, sourceConnections, accountConnections } = bounds;
    const { backendConnections, backendSourceConnections } = bounds;
    assert.ok(clientConnections + upstreamConnections <= files - Math.min(256, files / 2), String(files));
    assert.ok(sourceConnections >= 1 && sourceConnections <= clientConnections / 3, String(files));
    assert.ok(backendConnections >= 1 && backendConnections <= accountConnections, String(files));
    assert.ok(backendSourceConnections >= 1 && backendSourceConnections <= backendConnections / 2, String(files));
    assert.ok(accountConnections < upstreamConnections, String(files));
  }
});

test('bounds that follow from others follow from those that were chosen', () => {
  assert.deepEqual(connectionBounds({ ...automatic, clientConnections: 100, upstreamConnections: 1000 }, 1024), {
    clientConnections: 100,
    sourceConnections: 25,
    upstreamConnections: 1000,
    accountConnections: 500,
    backendConnections: 250,
    backendSourceConnections: 63,
  });
  const chosen = {
    clientConnections: 1,
    sourceConnections: 2,
    upstreamConnections: 3,
    accountConnections: 4,
    backendConnections: 5,
    backendSourceConnections: 6,
  };
  assert.deepEqual(connectionBounds(chosen, 1024), chosen);
});

test('the limit of open files is read from the system, and assumed to be small where it cannot be', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-limits-'));
  t.after(() => {
    rmSync(folder, { recursive: true });
  });
  const file = join(folder, 'limits');
  const read = (line: string): number => {
    writeFileSync(file, `Limit                     Soft Limit           Hard Limit           Units\n${line}\n`);
    return readOpenFilesLimit(file);
  };
  assert.equal(read('Max open files            4096                 524288               files     '), 4096);
  assert.equal(read('Max open files            unlimited            unlimited            files     '), 80_000);
  assert.equal(read('Max processes             4096                 524288               processes '), 1024);
  assert.equal(readOpenFilesLimit(join(folder, 'missing')), 1024);
});
