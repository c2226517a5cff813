import assert from 'node:assert/strict';
import { test } from 'node:test';

import { refusalOf } from '../../../test/support/step-visit.ts';
import { UserError } from '../../errors/user-error.ts';
import { parseIp } from '../../lib/ip/address.ts';
import { cidrRestriction } from './index.ts';

function admits(settings: { readonly allow?: string[]; readonly deny?: string[] }, address: string): boolean {
  const source = parseIp(address) ?? assert.fail();
  return refusalOf(cidrRestriction.build(cidrRestriction.accept(settings)), { source }) === undefined;
}

test('an address is admitted if a CIDR allows it and none denies it, as for IP policies', () => {
  const settings = { allow: ['10.0.0.0/8', '2001:db8::/32'], deny: ['10.1.0.0/16'] };
  assert.equal(admits(settings, '10.2.0.1'), true);
  assert.equal(admits(settings, '10.1.0.1'), false);
  assert.equal(admits(settings, '192.0.2.1'), false);
  assert.equal(admits(settings, '2001:db8::1'), true);
  assert.equal(admits({ deny: ['10.0.0.0/8'] }, '192.0.2.1'), false, 'nothing allows it');
  assert.equal(admits({}, '192.0.2.1'), false);
});

test('a text that is not a CIDR is refused', () => {
  assert.throws(
    () => cidrRestriction.accept({ allow: ['10.0.0.0/33'] }),
    (error) => error instanceof UserError && error.code === 20154,
  );
});
