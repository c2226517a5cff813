import assert from 'node:assert/strict';
import { test } from 'node:test';

import { signInOf } from '../../../test/support/step-visit.ts';
import { oidc } from '../../modules/oidc/index.ts';
import { Providers } from './providers.ts';

test('an account with many providers makes no other account lose what is known of its own', () => {
  const log = { info() {}, warn() {}, error() {} };
  const providers = new Providers(() => assert.fail('nobody is asked'), log);
  const settings = (client_id: string) => {
    const input = { issuer: 'https://id.example.com', client_id, client_secret: 's' };
    return signInOf(oidc.build({ ...oidc.accept(input), client_secret: 's' })).provider;
  };
  const own = providers.get('ac_1', settings('c'));
  for (let at = 0; at < 3_000; at++) providers.get('ac_2', settings(`c${at}`));
  assert.equal(providers.get('ac_1', settings('c')), own);
  assert.notEqual(providers.get('ac_2', settings('c')), own, 'accounts share none');
});
