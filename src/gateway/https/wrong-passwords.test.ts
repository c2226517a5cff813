import assert from 'node:assert/strict';
import { test } from 'node:test';

import { credentialsRequired } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import { WrongPasswords } from './wrong-passwords.ts';

const visit = { edgeId: 'ep_1', countedSource: 7, headers: ['Authorization', 'Basic eDp5'] };
const refuses = () => new UserError(credentialsRequired);
const accepts = () => undefined;

test('after a minute a source is counted anew', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  using passwords = new WrongPasswords(2, { passwordRefused: () => {} });
  const statusOf = (check: typeof refuses | typeof accepts) => passwords.check(visit, check)?.status;
  assert.deepEqual([statusOf(refuses), statusOf(refuses), statusOf(accepts)], [401, 401, 429]);
  t.mock.timers.tick(59_999);
  assert.equal(statusOf(accepts), 429);
  t.mock.timers.tick(1);
  assert.deepEqual([statusOf(accepts), statusOf(refuses)], [undefined, 401]);
});

test('a password is not looked at once the limit is reached', () => {
  using passwords = new WrongPasswords(1, { passwordRefused: () => {} });
  passwords.check(visit, refuses);
  passwords.check(visit, () => assert.fail('it is looked at'));
});

test('sources beyond those that are counted apart share one count, and their right passwords are let in', () => {
  using passwords = new WrongPasswords(2, { passwordRefused: () => {} });
  const statusOf = (source: number, check: typeof refuses | typeof accepts) =>
    passwords.check({ ...visit, countedSource: source }, check)?.status;
  for (let source = 0; source < 10_000; source++) assert.equal(statusOf(source, refuses), 401);
  assert.deepEqual(
    [10_000, 10_001, 10_002, 10_003].map((source) => statusOf(source, refuses)),
    [401, 401, 429, 429],
  );
  assert.equal(statusOf(10_000, accepts), undefined);
  assert.deepEqual([statusOf(1, refuses), statusOf(1, accepts)], [401, 429]);
});

test('without a limit every password is looked at', () => {
  using passwords = new WrongPasswords(undefined, { passwordRefused: () => {} });
  for (let count = 0; count < 100; count++) assert.equal(passwords.check(visit, refuses)?.status, 401);
  assert.equal(passwords.check(visit, accepts), undefined);
});
