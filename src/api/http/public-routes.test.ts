import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onGatehousesInTurn } from '../../../test/support/shared-gatehouse.ts';
import { localCa } from '../../resources/local-ca/service.ts';

onGatehousesInTurn('paths that anybody may call', (g) => {
  const get = (path: string, headers: Record<string, string> = {}) => fetch(new URL(path, g().url), { headers });

  test('the OpenAPI document has a tag, and is not sent to those who have it', async () => {
    const first = await get('/openapi.json');
    const tag = first.headers.get('etag') ?? '';
    assert.match(tag, /^"[\w-]{22}"$/);
    assert.equal(first.headers.get('content-length'), String(Buffer.byteLength(await first.text())));
    for (const known of [tag, `W/${tag}`, `"another", ${tag}`, '*']) {
      const again = await get('/openapi.json', { 'if-none-match': known });
      assert.equal(again.status, 304, known);
      assert.equal(again.headers.get('etag'), tag);
      assert.match(again.headers.get('gatehouse-operation-id') ?? '', /^op_/);
      assert.equal(await again.text(), '');
    }
    for (const other of ['"another"', tag.slice(1, -1), '']) {
      const whole = await get('/openapi.json', { 'if-none-match': other });
      assert.equal(whole.status, 200, other);
      await whole.arrayBuffer();
    }
  });

  test('the OpenAPI document is serialized once, not by each call', async (context) => {
    await (await get('/openapi.json')).arrayBuffer();
    const stringify = context.mock.method(JSON, 'stringify');
    const response = await get('/openapi.json');
    assert.equal(JSON.parse(await response.text()).openapi, '3.1.0');
    const isDocument = (value: unknown) => typeof value === 'object' && value !== null && 'openapi' in value;
    assert.equal(stringify.mock.calls.filter(({ arguments: [value] }) => isDocument(value)).length, 0);
  });

  test('the certificate of the local authority is read from the database once', async () => {
    const { services, store } = g().app.context;
    await services.get(localCa).save({ certificatePem: 'a certificate', privateKeyPem: 'a key' });
    const first = await (await get('/local_ca.pem')).text();
    assert.ok(first.length > 0);
    await store.writeUnlogged(async (writer) => writer.run('DELETE FROM local_ca'));
    assert.equal(await (await get('/local_ca.pem')).text(), first);
  });
});
