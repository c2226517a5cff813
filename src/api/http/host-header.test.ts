import assert from 'node:assert/strict';
import { test } from 'node:test';

import { rawRequest } from '../../../test/support/raw-request.ts';
import { onGatehousesInTurn } from '../../../test/support/shared-gatehouse.ts';

onGatehousesInTurn('the Host of a request', (g) => {
  const get = (lines: readonly string[], version = '1.1') => {
    const common = [`Authorization: Bearer ${g().token}`, 'Service-Version: 2', 'Connection: close'];
    const bytes = [`GET /api_keys HTTP/${version}`, ...lines, ...common, '', ''].join('\r\n');
    return rawRequest(g().url, bytes);
  };

  test('is needed once and in its form, and a request without it gets the answer of every fault', async () => {
    for (const lines of [
      [],
      ['Host: a><b'],
      ['Host: a.example/path'],
      ['Host: user@a.example'],
      ['Host: a.example:port'],
      ['Host: a b'],
    ]) {
      const { status, head, body } = await get(lines);
      assert.equal(status, 400, lines.join());
      const { error_code, msg, details } = JSON.parse(body);
      assert.equal(error_code, 'ERR_GATEHOUSE_20024');
      assert.match(msg, /Host header/);
      assert.match(head, new RegExp(`gatehouse-operation-id: ${details.operation_id}`, 'i'));
    }
  });

  test('stands in the URIs of the answer; without one, the address of the server does', async () => {
    const uriFor = async (lines: readonly string[], version?: string) =>
      JSON.parse((await get(lines, version)).body).uri;
    for (const host of ['a.example', 'A.example:80', '192.0.2.1:8080', '[2001:db8::1]:80', 'an_underscore']) {
      assert.equal(await uriFor([`Host: ${host}`]), `http://${host}/api_keys`);
    }
    assert.equal(await uriFor(['Host:']), `${g().url}/api_keys`);
    assert.equal(await uriFor([], '1.0'), `${g().url}/api_keys`);
  });

  test('an expectation that the server does not know is ignored', async () => {
    assert.equal((await get(['Host: x', 'Expect: 200-ok'])).status, 200);
  });
});
