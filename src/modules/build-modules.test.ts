import assert from 'node:assert/strict';
import { test } from 'node:test';

import { mostJsonInOneTurn } from '../../test/support/turns.ts';
import { buildModules, namedParts, prepareModules, referencedIds } from './index.ts';

test('a long policy is told from others by no text of it, and a short one is shared', async () => {
  const settings = (body: string) => {
    const action = { type: 'custom-response', config: { status_code: 200, body } };
    return {
      traffic_policy: { enabled: true, value: JSON.stringify({ on_http_request: [{ actions: [action] }] }) },
    };
  };
  const long = settings('x'.repeat(200_000));
  const prepared = new Set([await prepareModules(long, 'https_route')]);
  const most = await mostJsonInOneTurn(async () => {
    for (let time = 0; time < 20; time++) assert.equal(buildModules(long).shared.steps.length, 1);
  });
  prepared.clear();
  assert.ok(most < 200_000, `${most} characters`);
  assert.equal(buildModules(settings('short')).shared, buildModules(settings('short')).shared);
});

test('settings that are null are none', () => {
  assert.deepEqual(
    namedParts({ ip_restriction: null, compression: { enabled: true } }).map(({ name }) => name),
    ['compression'],
  );
  assert.equal(referencedIds({ ip_restriction: null }, 'ip_policy').size, 0);
});
