import assert from 'node:assert/strict';
import { test } from 'node:test';

import { firstInspectPort } from './open-inspection.ts';

test('beside its server an agent leaves 4040 to the API, which may start later', () => {
  for (const host of ['127.0.0.1', '127.0.0.9', '::1', 'localhost']) assert.equal(firstInspectPort(host), 4041, host);
  for (const host of ['connect.example.com', '192.0.2.1', '2001:db8::1'])
    assert.equal(firstInspectPort(host), 4040, host);
});
