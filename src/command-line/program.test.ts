import assert from 'node:assert/strict';
import { test } from 'node:test';

import { toArguments } from './program.ts';

test('flags of a server stand before or after the command', () => {
  const list = ['api-keys', 'list', '--profile', 'one'];
  assert.deepEqual(toArguments(['--profile', 'one', 'api-keys', 'list']), list);
  assert.deepEqual(toArguments(['--profile=one', 'api-keys', 'list']), list);
  assert.deepEqual(toArguments(['-o', 'json', '--url', 'http://a', 'plan', 'f', '--', '-x']), [
    'plan',
    'f',
    '-o',
    'json',
    '--url',
    'http://a',
    '--',
    '-x',
  ]);
});

test('without a command, flags are those of the service', () => {
  assert.deepEqual(toArguments([]), ['serve']);
  assert.deepEqual(toArguments(['--role', 'api']), ['serve', '--role', 'api']);
  assert.deepEqual(toArguments(['--profile', 'one']), ['serve', '--profile', 'one']);
  assert.deepEqual(toArguments(['--version']), ['--version']);
  assert.deepEqual(toArguments(['serve', '--token=x']), ['serve', '--token', 'x']);
});
