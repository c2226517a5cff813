import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';

import { answering } from '../../../../test/support/step-visit.ts';
import { trafficPolicy } from '../index.ts';

const action = { type: 'response-body-find-replace', config: { replacements: [{ from: 'y', to: 'z' }] } };
const policy = { on_http_response: [{ actions: [action] }] };

test('a body in single bytes counts for the memory that it takes, which is asked for a few times', async () => {
  const { answers = [] } = trafficPolicy.build({ enabled: true, value: JSON.stringify(policy) });
  let [held, times] = [0, 0];
  const hold = (bytes: number): void => {
    held += bytes;
    times += Math.min(bytes, 1);
  };
  const answer = { ...answering([]), hold };
  answers[0]?.run(answer);
  const body = answer.openTransform?.() ?? assert.fail('the body is not changed');
  const bytes = 'xy'.repeat(4_000);
  for (const each of bytes) if (!body.write(each)) await once(body, 'drain');
  body.end();
  const changed = await body.toArray();
  assert.equal(Buffer.concat(changed).toString(), bytes.replaceAll('y', 'z'));
  assert.ok(held >= bytes.length && held < 3 * bytes.length, `${held} bytes`);
  assert.ok(times < 20, `${times} times`);
});
