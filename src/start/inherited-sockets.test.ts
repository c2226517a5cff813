import assert from 'node:assert/strict';
import { test } from 'node:test';

import { inheritedSocket } from './inherited-sockets.ts';

test('a socket of systemd is found by its name, and only where it is meant for this process', () => {
  const passed = { LISTEN_PID: '7', LISTEN_FDS: '2', LISTEN_FDNAMES: 'other:agents' };
  assert.equal(inheritedSocket('agents', 7, passed), 4);
  assert.equal(inheritedSocket('other', 7, passed), 3);
  assert.equal(inheritedSocket('none', 7, passed), undefined);
  assert.equal(inheritedSocket('agents', 8, passed), undefined);
  assert.equal(inheritedSocket('agents', 7, { ...passed, LISTEN_FDS: '1' }), undefined);
  assert.equal(inheritedSocket('agents', 7, {}), undefined);
});
