import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { countSlices } from '../../../../test/support/count-slices.ts';
import { UserError } from '../../../errors/user-error.ts';
import { finishNow } from '../../../lib/steps.ts';
import { preparePolicy, readPolicy } from './known-policies.ts';
import { policySteps } from './read-policy.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

let made = 0;
/** The text of another policy. */
function another(rules: number): string {
  made += 1;
  const list = Array.from({ length: rules }, (_, at) => ({
    expressions: [`req.url.path == '/${made}/${at}'`, "req.method == 'GET'"],
    actions: [{ type: 'log', config: { metadata: { at: String(at) } } }],
  }));
  return JSON.stringify({ on_http_request: list });
}

function countSteps(text: string): number {
  const steps = policySteps(text);
  let count = 0;
  while (steps.next().done !== true) count++;
  return count;
}

test('a policy is read in steps: several for each expression, one for each action and each rule', () => {
  assert.ok(countSteps(another(100)) >= 100 * (2 * 4 + 1 + 1));
  assert.ok(countSteps(another(1000)) >= 10 * countSteps(another(99)));
});

test('a fault is found in steps too, at the end of a long text', () => {
  const text = another(1000)
    .replace(/"GET'"\],"actions":\[\{"type":"log"(?=[^]{0,60}$)/, '$&')
    .replace(/999'"/, `999' + 1"`);
  const steps = policySteps(text);
  let count = 0;
  assert.throws(
    () => {
      while (steps.next().done !== true) count++;
    },
    (error) => error instanceof UserError && /^line 1, column \d+: /.test(error.message),
  );
  assert.ok(count > 9_000);
});

test('YAML is read in steps, and its first fault is told with its place', () => {
  const yaml = 'on_http_request:\n- actions:\n  - type: deny\n';
  assert.ok(countSteps(yaml) >= 5);
  assert.throws(() => finishNow(policySteps('a: 1\nb: [\n')), /at line \d+, column \d+/);
  assert.throws(() => finishNow(policySteps('a: 1\n---\nb: 1\n')), /several documents/);
});

test('a policy that was prepared is found while it is kept, whatever is read meanwhile', async () => {
  const text = another(300);
  const prepared = await preparePolicy(text);
  for (let other = 0; other < 60; other++) readPolicy(another(250));
  collect();
  assert.equal(await countSlices(() => preparePolicy(text)), 0, 'it is read again');
  assert.equal(readPolicy(text), prepared);
  assert.ok((await countSlices(() => preparePolicy(another(300)))) > 300);
});

test('a text that is refused is read once, and refused again', async () => {
  const text = another(300).replace('req.method', 'req.methd');
  const prepared = await preparePolicy(text);
  assert.ok(prepared instanceof UserError);
  for (let other = 0; other < 60; other++) readPolicy(another(250));
  assert.throws(
    () => readPolicy(text),
    (error) => error === prepared,
  );
});

test('a policy that nobody uses any more is forgotten', async () => {
  const text = another(300);
  const policy = new WeakRef(await preparePolicy(text));
  for (let other = 0; other < 60; other++) readPolicy(another(250));
  // A reference that has been read keeps what it names until the turn is over.
  for (let turn = 0; turn < 100 && policy.deref() !== undefined; turn++) {
    await new Promise(setImmediate);
    collect();
  }
  assert.equal(policy.deref(), undefined);
});

test('expressions of one action have a bound together: they are compiled in one turn', () => {
  const withVars = (count: number) =>
    JSON.stringify({
      on_http_request: [
        {
          actions: [
            {
              type: 'set-vars',
              config: { vars: Array.from({ length: 20 }, (_, at) => ({ [`v${at}`]: '${1}'.repeat(count) })) },
            },
          ],
        },
      ],
    });
  readPolicy(withVars(48));
  assert.throws(
    () => readPolicy(withVars(49)),
    /expressions in one action, where 16384 are allowed\. Divide the action\./,
  );
});
