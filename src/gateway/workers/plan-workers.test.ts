import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { groupMemory, planWorkers } from './plan-workers.ts';

const machine = { cores: 8, memoryMib: 16_384, sharesPorts: true };
const planOn = (changes: Partial<typeof machine>) => planWorkers('auto', () => ({ ...machine, ...changes }));

test('a number is kept, whatever the machine; "off" has none', () => {
  assert.deepEqual(
    planWorkers(3, () => ({ ...machine, cores: 1 })),
    { least: 3, most: 3 },
  );
  assert.equal(
    planWorkers('off', () => machine),
    undefined,
  );
});

test('"auto" begins with one and has at most one for each core', () => {
  assert.deepEqual(planOn({}), { least: 1, most: 8 });
  assert.deepEqual(planOn({ cores: 2 }), { least: 1, most: 2 });
});

test('"auto" has none on one core, without the memory, or where ports cannot be shared', () => {
  assert.equal(planOn({ cores: 1 }), undefined);
  assert.equal(planOn({ memoryMib: 511 }), undefined);
  assert.equal(planOn({ sharesPorts: false }), undefined);
});

test('memory bounds the number', () => {
  assert.deepEqual(planOn({ memoryMib: 512 }), { least: 1, most: 1 });
  assert.deepEqual(planOn({ memoryMib: 1024 }), { least: 1, most: 5 });
});

test('the memory is that of the narrowest control group', () => {
  const root = mkdtempSync(join(tmpdir(), 'groups-'));
  const own = join(root, 'own');
  try {
    mkdirSync(join(root, 'a/b'), { recursive: true });
    writeFileSync(own, '1:name=systemd:/x\n0::/a/b\n');
    assert.equal(groupMemory(root, own), Infinity);
    writeFileSync(join(root, 'a/b/memory.max'), 'max\n');
    writeFileSync(join(root, 'a/memory.max'), '536870912\n');
    assert.equal(groupMemory(root, own), 536_870_912);
    assert.equal(groupMemory(root, join(root, 'missing')), Infinity);
  } finally {
    rmSync(root, { recursive: true });
  }
});
