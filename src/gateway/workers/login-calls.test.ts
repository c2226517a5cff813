import assert from 'node:assert/strict';
import { test } from 'node:test';

import { noKeptLogins } from '../../sign-in/kept-logins.ts';
import type { KeptLogins } from '../../sign-in/kept-logins.ts';
import { answerLoginCall, RemoteLogins } from './login-calls.ts';

const claim = { sessionId: 'as_1', accountId: 'ac_1', now: 1, checkSeconds: 1, former: undefined };

function remoteOf(logins: KeptLogins): RemoteLogins {
  const remote = new RemoteLogins((call) => void answerLoginCall(logins, call).then((reply) => remote.answered(reply)));
  return remote;
}

test('a worker hears what its parent has found, of each call its own', async () => {
  const first = Promise.withResolvers<undefined>();
  const remote = remoteOf({
    ...noKeptLogins,
    claim: async ({ sessionId }) => {
      if (sessionId === 'as_1') await first.promise;
      return sessionId === 'as_1' ? { state: 'gone' } : { state: 'asking' };
    },
  });
  const slow = remote.claim(claim);
  assert.deepEqual(await remote.claim({ ...claim, sessionId: 'as_2' }), { state: 'asking' });
  first.resolve(undefined);
  assert.deepEqual(await slow, { state: 'gone' });
});

test('a call that fails in the parent fails in the worker, in the same words', async () => {
  const remote = remoteOf(noKeptLogins);
  await assert.rejects(remote.claim(claim), /no database/);
  await assert.rejects(remote.release({ id: 'as_1', accountId: 'ac_1' }, 1, undefined), /no database/);
});
