import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { BackendEntry } from '../../../snapshot/contract.ts';
import type { HealthNote } from '../../health/health-board.ts';
import { HealthTable } from '../../health/health-table.ts';
import { AddressAttempt } from './address-attempt.ts';
import type { UpstreamPool } from './pool.ts';

const entry: BackendEntry = {
  kind: 'backend',
  id: 'b',
  host: 'a',
  port: 1,
  tls: false,
  balance: {
    addresses: [{ host: 'a', port: 1, weight: 1 }],
    by: 'round_robin',
    retries: 0,
    whenAllDown: 'fail_open',
    slowStartMs: 0,
  },
};

test('only an answer to what was sent after a failure speaks for the address', () => {
  const notes: HealthNote[] = [];
  const health = new HealthTable((note) => notes.push(note));
  health.prepare({ version: 1, full: true, set: [entry], removed: [] })();
  const begin = (): AddressAttempt => {
    const addresses = health.find('b');
    assert.ok(addresses);
    const facts = { source: () => '192.0.2.1', header: () => undefined };
    // No attempt of this test connects.
    const attempt = new AddressAttempt({ addresses, facts, health, poolOf: () => ({}) as UpstreamPool });
    attempt.next();
    return attempt;
  };
  const [slow, broken] = [begin(), begin()];
  broken.broken('ECONNRESET', false);
  slow.answered(200, false);
  assert.deepEqual(
    notes.map(({ ok }) => ok),
    [false],
  );
  begin().answered(200, false);
  assert.deepEqual(
    notes.map(({ ok }) => ok),
    [false, true],
  );
});
