import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseIp } from '../../../lib/ip/address.ts';
import { readPolicy } from '../document/known-policies.ts';
import { tryPolicy } from '../trial/try-policy.ts';

function isLetIn(address: string, config: object): boolean {
  const policy = readPolicy(JSON.stringify({ on_http_request: [{ actions: [{ type: 'restrict-ips', config }] }] }));
  const visit = {
    source: parseIp(address) ?? assert.fail(address),
    endpoint: { protocol: 'https', host: 'shop.example.com', port: 443 },
    host: 'shop.example.com',
    method: 'GET',
    target: '/',
    headers: [],
    region: undefined,
    vars: {},
    response: undefined,
  } as const;
  return tryPolicy(policy, visit, { allows: () => false, denies: () => false }).verdict === 'passes';
}

test('ranges of one family have no address of the other', () => {
  for (const range of ['0.0.0.0/0', "${'0.0.0.0/0'}"]) {
    assert.equal(isLetIn('192.0.2.1', { allow: [range] }), true);
    assert.equal(isLetIn('2001:db8::1', { allow: [range] }), false);
    assert.equal(isLetIn('2001:db8::1', { allow: ['::/0'], deny: [range] }), true);
  }
  for (const range of ['::/0', "${'::/0'}"]) {
    assert.equal(isLetIn('2001:db8::1', { allow: [range] }), true);
    assert.equal(isLetIn('192.0.2.1', { allow: [range] }), false);
  }
});
