import assert from 'node:assert/strict';
import { test } from 'node:test';

import { CelMap } from '../../../lib/cel/values.ts';
import { requestVisit } from '../../../../test/support/step-visit.ts';
import { PolicyVisit } from '../run/policy-visit.ts';
import { toText } from './header-values.ts';
import { requestVariables } from './request.ts';

test('bytes of a header are read as UTF-8, or as Latin-1 where they are none', () => {
  assert.deepEqual(['plain', '\u00c3\u00a9', '\u00e9', '\u00ef\u00bb\u00bfa'].map(toText), [
    'plain',
    'é',
    '\u00e9',
    '\ufeffa',
  ]);
});

for (const [name, header] of [
  ['req.content_type.parameters', 'content-type'],
  ['req.content_encoding', 'content-encoding'],
] as const)
  test(`${name} is read once, and paid for by its length`, () => {
    const visit = new PolicyVisit({ key: '' }, requestVisit({ headers: [header, `a/b${';a="b"'.repeat(1000)}`] }));
    const units = () => {
      const before = visit.frame.budget.left;
      const value = requestVariables[name]?.get(visit);
      return [value, before - visit.frame.budget.left] as const;
    };
    const [[first, paid], [again, more]] = [units(), units()];
    assert.equal(again, first);
    assert.ok(paid > 1000 && more === 0, `${paid}, then ${more}`);
  });

test('the type and the coding of a body are told part by part', () => {
  const headers = ['content-type', 'Text/Plain; Charset="utf-8"; flowed', 'content-encoding', 'gzip, BR,'];
  const visit = new PolicyVisit({ key: '' }, requestVisit({ headers }));
  const valueOf = (name: string) => requestVariables[name]?.get(visit);
  assert.equal(valueOf('req.content_type'), 'text/plain');
  assert.equal(valueOf('req.content_type.raw'), headers[1]);
  const parameters = valueOf('req.content_type.parameters');
  assert.ok(parameters instanceof CelMap);
  assert.deepEqual([parameters.get('charset'), parameters.get('flowed')], ['utf-8', undefined]);
  assert.deepEqual(valueOf('req.content_encoding'), ['gzip', 'br']);
});
