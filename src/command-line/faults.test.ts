import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readConfig } from '../config/config.ts';
import { explain } from './explain.ts';
import { explainStart } from './faults.ts';

const config = readConfig({}, { httpsListen: '192.0.2.1:443', databaseUrl: 'sqlite:data/x.db' });

function said(fault: object): string {
  return explain(explainStart(Object.assign(new Error('as Node says it'), fault), config));
}

test('an address that cannot be listened on is answered by its cause', () => {
  assert.match(
    said({ code: 'EACCES', port: 443 }),
    /below 1024 need CAP_NET_BIND_SERVICE.*deploy\/gatehouse\.service says how/,
  );
  assert.match(said({ code: 'EADDRNOTAVAIL', port: 443 }), /no interface of this machine has the address 192\.0\.2\.1/);
  assert.match(
    said({ code: 'EADDRINUSE', port: 443 }),
    /another program has port 443 of --https-listen, perhaps a Gatehouse that runs already: choose another/,
  );
});

test('a database file that is damaged is told from one that may not be opened', () => {
  assert.match(said({ code: 'ERR_SQLITE_ERROR', errcode: 11 }), /damaged.*gatehouse restore FILE --force/);
  assert.match(said({ code: 'ERR_SQLITE_ERROR', errcode: 26 }), /damaged/);
  assert.match(said({ code: 'ERR_SQLITE_ERROR', errcode: 14 }), /the rights on its folder/);
});

test('the words of a cause are not said twice', () => {
  const cause = new Error('secret_key is not set');
  assert.equal(
    explain(new Error('the key cannot be used: secret_key is not set', { cause })),
    'the key cannot be used: secret_key is not set',
  );
  assert.equal(
    explain(new Error('the key cannot be used', { cause })),
    'the key cannot be used (secret_key is not set)',
  );
  assert.equal(explain(new Error('the key cannot be used')), 'the key cannot be used');
});
