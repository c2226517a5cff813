import assert from 'node:assert/strict';
import { test } from 'node:test';

import { disqualifyingHeaders, readPlainHead } from './plain-head.ts';

function read(...lines: readonly string[]) {
  return readPlainHead(Buffer.from(`GET /a HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1'));
}

test('every disqualifying header leaves a request to the slow path, in any case', () => {
  assert.ok(disqualifyingHeaders.size >= 5);
  for (const name of disqualifyingHeaders) {
    for (const spelling of [name, name.toUpperCase()]) {
      assert.equal(read('Host: app.test', `${spelling}: 1`), undefined, spelling);
      assert.equal(read(`${spelling}: 1`, 'Host: app.test'), undefined, `${spelling} before Host`);
    }
  }
});

test('a name as long as a disqualifying one, or as Host or Connection, is plain', () => {
  for (const name of [...disqualifyingHeaders, 'host', 'connection']) {
    const other = `x${name.slice(1)}`;
    assert.deepEqual(read('Host: app.test', `${other}: 1`)?.headers, ['Host', 'app.test', other, '1']);
  }
});

test('a plain head has one Host, and at most one Connection that keeps or closes', () => {
  assert.equal(read('HOST: app.test')?.host, 'app.test');
  assert.equal(read('Accept: */*'), undefined);
  assert.equal(read('Host: app.test', 'host: other.test'), undefined);
  assert.equal(read('Host: app.test', 'Connection: Close')?.close, true);
  assert.equal(read('Host: app.test', 'connection: keep-alive')?.close, false);
  assert.equal(read('Host: app.test', 'Connection: upgrade'), undefined);
  assert.equal(read('Host: app.test', 'Connection: close', 'Connection: close'), undefined);
});
