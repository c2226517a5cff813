import assert from 'node:assert/strict';
import { test } from 'node:test';

import { UserError } from '../../../errors/user-error.ts';
import { trafficPolicy } from '../index.ts';
import { actions } from './index.ts';
import { whyNotOffered } from './not-offered.ts';

test('each action that is not offered is refused by its name, with what to do instead', () => {
  for (const [type, reason] of whyNotOffered) {
    assert.ok(!actions.some((action) => action.type === type), type);
    const value = JSON.stringify({ on_http_request: [{ actions: [{ type, config: {} }] }] });
    assert.throws(
      () => trafficPolicy.accept({ value }),
      (error) =>
        error instanceof UserError &&
        error.code === 2201 &&
        error.message.includes(`"${type}"`) &&
        error.message.includes(reason),
    );
  }
});
