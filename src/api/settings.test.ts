import assert from 'node:assert/strict';
import { test } from 'node:test';

import { from, runOnHost } from '../../test/support/people.ts';
import { onAnyGatehouse } from '../../test/support/shared-gatehouse.ts';

onAnyGatehouse(
  'the API with a vendor word and a public URL',
  (g) => {
    const noVersion = { 'service-version': undefined };

    const status = async (headers: Record<string, string | undefined>) =>
      (await g().get('/api_keys', { headers })).status;

    test('either version header will do, and both must be right', async () => {
      assert.equal(await status({}), 200);
      assert.equal(await status({ ...noVersion, 'ngrok-version': '2' }), 200);
      assert.equal(await status({ 'ngrok-version': '2' }), 200);
      assert.equal(await status({ 'ngrok-version': '1' }), 400);
      assert.equal(await status({ 'service-version': '1', 'ngrok-version': '2' }), 400);
      assert.equal(await status(noVersion), 400);
    });

    test('error codes carry the vendor word, and the operation id comes in both headers', async () => {
      const { body, headers } = await g().get('/api_keys', { headers: noVersion });
      assert.equal(body.error_code, 'ERR_NGROK_218');
      const { operation_id } = body.details;
      assert.match(operation_id, /^op_[0-9A-Za-z]{27}$/);
      assert.equal(headers.get('ngrok-operation-id'), operation_id);
      assert.equal(headers.get('gatehouse-operation-id'), operation_id);
      const fine = await g().get('/api_keys');
      assert.equal(fine.headers.get('ngrok-operation-id'), fine.headers.get('gatehouse-operation-id'));
    });

    test('every URI starts with the public URL, whatever host the request names', async () => {
      const base = 'https://api.example.com/gate';
      const { id, uri } = await g().create('/ip_policies', {}, { headers: { 'x-forwarded-host': 'evil.example' } });
      assert.equal(uri, `${base}/ip_policies/${id}`);
      await g().create('/ip_policies');
      const list = (await g().get('/ip_policies?limit=1')).body;
      assert.equal(list.uri, `${base}/ip_policies`);
      assert.match(list.next_page_uri, /^https:\/\/api\.example\.com\/gate\/ip_policies\?before_id=ipp_\w+&limit=1$/);
    });
  },
  { vendor: 'ngrok', publicUrl: 'https://api.example.com/gate/' },
);

onAnyGatehouse('the API without trusted proxies', (g) => {
  test('forwarding headers count for nothing', async () => {
    const { id } = await g().create('/ip_policies');
    await g().put(`/ip_policies/${id}/rules`, ['127.0.0.0/8']);
    const restriction = await g().create('/ip_restrictions', { type: 'api', enforced: true, ip_policy_ids: [id] });
    assert.equal((await g().get('/api_keys', from('192.0.2.1'))).status, 200);
    await g().put(`/ip_policies/${id}/rules`, ['192.0.2.1/32'], { headers: { 'gatehouse-allow-lockout': 'true' } });
    assert.equal((await g().get('/api_keys', from('192.0.2.1'))).status, 403);
    await runOnHost(g(), 'restrictions disable', { id: restriction.id });
    const forged = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' };
    const { body } = await g().get(`/ip_policies/${id}`, { headers: forged });
    assert.equal(body.uri, `${g().url}/ip_policies/${id}`);
  });
});

onAnyGatehouse(
  'the API behind a trusted proxy',
  (g) => {
    test('URIs are those that the proxy’s client sees', async () => {
      const forwarded = { 'x-forwarded-host': 'api.example.com', 'x-forwarded-proto': 'https' };
      const { id, uri } = await g().create('/ip_policies', {}, { headers: forwarded });
      assert.equal(uri, `https://api.example.com/ip_policies/${id}`);
    });
  },
  { trustedProxies: '127.0.0.0/8, ::1' },
);
