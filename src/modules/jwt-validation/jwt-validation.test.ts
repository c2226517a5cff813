import assert from 'node:assert/strict';
import { test } from 'node:test';

import { requestVisit } from '../../../test/support/step-visit.ts';
import type { TokenRule } from '../sign-in.ts';
import { jwtValidation } from './index.ts';

const input = { issuer: 'https://id.example.com', audiences: ['https://api.example.com'] };

function stepOf(more: object = {}) {
  const [step, ...others] = jwtValidation.build(jwtValidation.accept({ ...input, ...more })).steps ?? [];
  assert.deepEqual(others, []);
  return step ?? assert.fail('it has no step');
}

test('what is open holds until the end of the token that this rule has let in, and of no other', () => {
  const step = stepOf();
  let key = '';
  const visit = requestVisit();
  const admit = (_: unknown, rule: TokenRule): undefined => void ({ key } = rule);
  step.run({ ...visit, services: { ...visit.services, tokens: { ...visit.services.tokens, admit } } });
  const holds = (...tokens: readonly (readonly [string, number])[]) => step.holds({ ...visit, tokens });
  assert.equal(holds(), 0);
  assert.equal(holds(['another', 3]), 0, 'the rule was another one when it was opened');
  assert.equal(holds(['another', 3], [key, 5]), 5);
  assert.notEqual(key, '');
});

test('only signatures of two algorithms count where none are named', () => {
  assert.deepEqual(jwtValidation.accept(input).algorithms, ['RS256', 'ES256']);
});
