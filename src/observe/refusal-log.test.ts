import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createRefusalLog } from './refusal-log.ts';

test('each account that has a server asked which leads inwards gets a line of its own', () => {
  const lines: unknown[] = [];
  const warn = (fields: { readonly account_id?: unknown }) => void lines.push(fields.account_id);
  const tell = createRefusalLog({ info() {}, warn, error() {} });
  const refused = { backendId: 'sign-in', host: 'id.test', port: 443, address: '169.254.1.1', leadsTo: 'link_local' };
  for (const accountId of ['ac_1', 'ac_2', 'ac_1']) tell({ ...refused, accountId });
  tell({ ...refused, accountId: 'ac_1', backendId: 'http-request' });
  assert.deepEqual(lines, ['ac_1', 'ac_2', 'ac_1']);
});
