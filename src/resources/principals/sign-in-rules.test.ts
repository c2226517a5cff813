import assert from 'node:assert/strict';
import { test } from 'node:test';

import { matches, roleIn } from './sign-in-rules.ts';
import type { AccountRule } from './sign-in-rules.ts';

const ada = {
  subject: 'ada',
  email: 'Ada@Example.com',
  emailVerified: true,
  name: 'Ada',
  groups: ['ops', 'everybody'],
};
const rule = (
  kind: 'group' | 'domain',
  name: string,
  role: 'admin' | 'member' | 'viewer',
  accountId = 'ac_1',
): AccountRule => ({ kind, name, role, accountId, account: undefined });

test('the highest role of all rules of the account counts, in whatever order they stand', () => {
  const rules = [rule('group', 'everybody', 'viewer'), rule('group', 'ops', 'member'), rule('group', 'root', 'admin')];
  for (const order of [rules, rules.toReversed()])
    assert.deepEqual(roleIn(order, ada, 'ac_1'), { role: 'member', byGroup: true });
  assert.deepEqual(roleIn([rule('domain', 'example.com', 'viewer')], ada, 'ac_1'), { role: 'viewer', byGroup: false });
  assert.equal(roleIn(rules, { ...ada, groups: ['OPS', 'op', ''] }, 'ac_1'), undefined, 'groups are compared exactly');
  assert.equal(roleIn([rule('group', 'ops', 'admin', 'ac_2')], ada, 'ac_1'), undefined);
});

test('a domain counts for verified addresses of exactly that domain', () => {
  const domain = rule('domain', 'example.com', 'viewer');
  assert.equal(matches(domain, ada), true);
  for (const other of [
    { emailVerified: false },
    { email: undefined },
    { email: 'ada@sub.example.com' },
    { email: 'ada@notexample.com' },
    { email: 'example.com@evil.test' },
    { email: 'ada@example.com@evil.test' },
  ])
    assert.equal(matches(domain, { ...ada, ...other }), false, JSON.stringify(other));
});
