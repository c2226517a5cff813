import assert from 'node:assert/strict';
import { test } from 'node:test';

import { freePort } from '../../../test/support/free-port.ts';
import { sendToEmail } from './email.ts';

test('a mail server that is not there is told of without its address', async () => {
  const url = `smtp://127.0.0.1:${await freePort()}`;
  const send = sendToEmail({ url, from: 'gatehouse@example.com', authorities: [], hourly: 5, take: async () => 0 });
  const event = { id: 'ev_1', type: 'test.v0', at: '', accountId: 'ac_1', body: '{}', shortBody: '{}', title: 'Test' };
  const target = { kind: 'email' as const, to: ['a@example.com'], everyMs: 0 };
  await assert.rejects(
    send({ accountId: 'ac_1', target, events: [event], signal: new AbortController().signal }),
    /^Error: the mail server of this installation cannot be used \(E[A-Z]+\)$/,
  );
});
