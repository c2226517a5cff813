import assert from 'node:assert/strict';
import { test } from 'node:test';

import { refuses } from '../../../test/support/refusals.ts';
import { onAnyGatehouse } from '../../../test/support/shared-gatehouse.ts';

const json = 'application/json';
/** 1 MiB. */
const limitBytes = 1024 * 1024;

onAnyGatehouse('request bodies', (g) => {
  const raw = (body: string | Uint8Array, headers: Record<string, string | undefined> = {}) =>
    g().post('/api_keys', undefined, { raw: body, headers });
  const refusesRaw = (body: string | Uint8Array, status: number, code: number, headers = {}) =>
    refuses(g(), ['POST', '/api_keys', undefined, { raw: body, headers }], status, code);
  const fault = (body: unknown, code: number) => refuses(g(), ['POST', '/api_keys', body], 400, code);

  test('JSON is taken with parameters and in any case', async () => {
    for (const type of [
      json,
      `${json}; charset=utf-8`,
      'Application/JSON',
      `${json};charset=UTF-8;x=y`,
      `${json} ; a=b`,
    ]) {
      assert.equal((await raw('{}', { 'content-type': type })).status, 201, type);
    }
  });

  test('another content type, none, or a compressed body is 415', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/jsonp',
      'text/json',
      'json',
      '*/*',
    ]) {
      await refusesRaw('{}', 415, 210, { 'content-type': type });
    }
    await refusesRaw(new TextEncoder().encode('{}'), 415, 216, { 'content-type': undefined });
    assert.match(await refusesRaw('{}', 415, 210, { 'content-encoding': 'gzip' }), /Content-Encoding "gzip"/);
    assert.equal((await raw('{}', { 'content-encoding': 'identity' })).status, 201);
  });

  test('no body counts as {}, and a content type without a body is ignored', async () => {
    for (const type of [undefined, json, 'text/plain', 'nonsense']) {
      assert.equal((await g().post('/api_keys', undefined, { headers: { 'content-type': type } })).status, 201, type);
    }
    const { id } = await g().create('/api_keys', { description: 'stays' });
    assert.equal((await g().patch(`/api_keys/${id}`)).body.description, 'stays');
    const typed = { headers: { 'content-type': json } };
    assert.equal((await g().get(`/api_keys/${id}`, typed)).status, 200);
    assert.equal((await g().delete(`/api_keys/${id}`, typed)).status, 204);
  });

  test('a body where none belongs is 400, but for the empty object, which many clients send', async () => {
    const { id } = await g().create('/api_keys');
    for (const [body, type] of [
      ['[]', json],
      ['{"a":1}', json],
      ['x', 'text/plain'],
      ['x'.repeat(limitBytes + 1), json],
    ] as const) {
      const options = { raw: body, headers: { 'content-type': type } };
      await refuses(g(), ['DELETE', `/api_keys/${id}`, undefined, options], 400, 211);
    }
    assert.equal((await g().get(`/api_keys/${id}`)).status, 200);
    const empty = { raw: '{}', headers: { 'content-type': json } };
    assert.equal((await g().call('DELETE', `/api_keys/${id}`, undefined, empty)).status, 204);
  });

  test('what is not one JSON object in UTF-8 is 400, and is not repeated in the answer', async () => {
    const broken = [
      '{',
      '}',
      '{"description":"hidden"',
      "{'description':'hidden'}",
      '{"a":1}{}',
      'NaN',
      '{"a":undefined}',
      ' ',
    ];
    for (const text of [
      ...broken,
      '{"description":"hidden\n"}',
      '// hidden\n{}',
      '{"a":01}',
      '[]',
      '"hidden"',
      'null',
      '7',
      'true',
    ]) {
      assert.ok(!(await refusesRaw(text, 400, 213)).includes('hidden'), text);
    }
    assert.match(await refusesRaw('[]', 400, 213), /it is JSON, but not an object/);
    const bytes = new TextEncoder().encode('{"description":"é"}');
    for (const bad of [bytes.subarray(0, -3), bytes.with(16, 0xff), Uint8Array.of(0xff, 0xfe, 0x7b, 0, 0x7d, 0)]) {
      await refusesRaw(bad, 400, 213);
    }
    assert.equal((await raw('\uFEFF{"description":"with a byte order mark"}')).status, 201);
  });

  test('a body may have 1 MiB and no byte more', async () => {
    const largest = `{"description":"x"${' '.repeat(limitBytes - 19)}}`;
    assert.equal(Buffer.byteLength(largest), limitBytes);
    assert.equal((await raw(largest)).status, 201);
    const message = await refusesRaw(`${largest} `, 413, 20003);
    assert.ok(message.includes(String(limitBytes)));
  });

  test('an unknown field is named with the known ones, however odd its name', async () => {
    for (const name of [
      'colour',
      'Description',
      'token',
      '',
      ' ',
      'a.b',
      'a/b',
      '~1',
      'é',
      '\0',
      'constructor',
      'toString',
      '$ref',
    ]) {
      const message = await fault({ [name]: 'x' }, 214);
      assert.ok(message.includes(JSON.stringify(name)) && message.includes('description, metadata, owner_id'), name);
    }
    for (const text of ['{"__proto__":{}}', '{"__proto__":null}', '{"constructor":{"prototype":{"a":1}}}']) {
      await refusesRaw(text, 400, 214);
    }
    assert.equal(({} as Record<string, unknown>)['a'], undefined);
  });

  test('a field under the name that it has elsewhere is led to its own', async () => {
    for (const [path, body, words] of [
      ['/reserved_domains', { name: 'a.example.com' }, /"name"\. A reserved domain has its name in "domain"\./],
      [
        '/ip_policies',
        { cidrs: ['10.0.0.0/8'] },
        /"cidrs"\. It belongs to the rules of the policy: POST \/ip_policy_rules/,
      ],
      [
        '/edges/https',
        { domain: 'a.example.com' },
        /"domain"\. An edge has its addresses in "hostports", such as \["app/,
      ],
      [
        '/edges/tcp',
        { port: 10_022 },
        /"port"\. An edge has its addresses in "hostports", such as \["tcp\.example\.com:10022"\]/,
      ],
      [
        '/backends/static',
        { url: 'http://a:1' },
        /"url"\. A static backend has "address", such as "app\.internal:8080"/,
      ],
      ['/tls_certificates', { certificate: 'x' }, /"certificate"\. Did you mean "certificate_pem"\?/],
      ['/ip_policy_rules', { policy: 'ipp_1', cidr: '10.0.0.0/8' }, /"policy"\. Did you mean "ip_policy_id"\?/],
    ] as const)
      assert.match(await refuses(g(), ['POST', path, body], 400, 214), words);
  });

  test('a module that is not offered is said to be none, at creation and later', async () => {
    const { id } = await g().create('/edges/https');
    const routes = `/edges/https/${id}/routes`;
    const match = { match_type: 'path_prefix', match: '/' };
    const route = await g().create(routes, match);
    const words = /^Unknown field "saml"\. Not offered/;
    const saml = { idp_metadata: 'x' };
    assert.match(await refuses(g(), ['POST', routes, { ...match, saml }], 400, 214), words);
    assert.match(await refuses(g(), ['PATCH', `${routes}/${route.id}`, { saml }], 400, 214), words);
    assert.equal((await g().patch(`${routes}/${route.id}`, { saml: null })).status, 200);
  });

  test('a field of another type is named, with what belongs there', async () => {
    for (const value of ['7', '1e400', 'true', '{}', '[]', '["x"]', '{"description":"x"}']) {
      const message = await refusesRaw(`{"description":${value}}`, 400, 215);
      assert.ok(message.includes('"description"') && message.includes('string'), message);
    }
    const type = { ip: '192.0.2.1', type: 'all' };
    assert.match(await refuses(g(), ['POST', '/ip_check', type], 400, 215), /: dashboard, api, agent, endpoints\.$/);
  });

  test('a text of the caller is shown whole or cut within its quotes, and a path of the API is never cut', async () => {
    assert.match(await fault({ ['x'.repeat(300)]: 1 }, 214), /^Unknown field "x{199}…"\. /);
    const route = `/edges/https/edghts_${'0'.repeat(27)}/routes/edghtsrt_${'0'.repeat(27)}/no_such_module`;
    assert.ok((await refuses(g(), ['GET', route], 404, 20001)).includes(`"${route}"`));
  });

  test('null stands for an absent field, but an unknown one stays unknown', async () => {
    const key = await g().create('/api_keys', { description: null, metadata: null, owner_id: null });
    assert.equal(key.description, undefined);
    await fault({ colour: null }, 214);
  });

  test('ids of the path may be repeated in the body, if they are the same', async () => {
    const { id } = await g().create('/api_keys');
    assert.equal((await g().patch(`/api_keys/${id}`, { id, description: 'x' })).status, 200);
    for (const other of ['ak_000000000000000000000000000', '', 7, {}, [id], true]) {
      await refuses(g(), ['PATCH', `/api_keys/${id}`, { id: other }], 400, 20015);
    }
    await fault({ id }, 214);
  });

  test('of a field that is given twice, the last counts', async () => {
    assert.equal((await raw('{"description":"a","description":"b"}')).body.description, 'b');
    await refusesRaw('{"description":"a","description":7}', 400, 215);
  });

  test('a body that nests deeper than any field is refused before it is parsed', async () => {
    const depth = 200_000;
    const deep = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    assert.match(await refusesRaw(deep, 400, 20063), /deeper than 32 levels/);
    await refusesRaw(`{"description":${deep}}`, 400, 20063);
    await refusesRaw(`{"colour":${deep}}`, 400, 20063);
    await refusesRaw(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, 400, 20063);
    // Not closed, so that it is not even JSON.
    await refusesRaw('['.repeat(limitBytes), 400, 20063);
    const send = (path: string, body: string, method: string) =>
      refuses(g(), [method, path, undefined, { raw: body }], 400, 20063);
    const { id } = await g().create('/api_keys');
    await send(`/api_keys/${id}`, `{"id":${deep}}`, 'PATCH');
    const policy = await g().create('/ip_policies');
    await send(`/ip_policies/${policy.id}/rules`, deep, 'PUT');
    await send(`/ip_policies/${policy.id}/rules`, `[{"cidr":${deep}}]`, 'PUT');
  });

  test('a short body may nest as it likes, and is told what belongs there', async () => {
    const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
    await refusesRaw(deep, 400, 213);
    await refusesRaw(`{"description":${deep}}`, 400, 215);
    await refusesRaw(`{"colour":${deep}}`, 400, 214);
  });

  test('brackets and colons inside a text count for nothing', async () => {
    const text = `\\"${'[{:'.repeat(30_000)}\\\\`;
    assert.match(await refusesRaw(`{"description":"${text}"}`, 400, 604), /90002 bytes/);
  });

  test('a body of more fields than any resource has is refused before it is validated', async () => {
    const fields = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":1`).join(',');
    assert.match(await refusesRaw(`{${fields(80_000)}}`, 400, 20064), /more than 5000 fields/);
    await refusesRaw(`{"description":{${fields(5_001)}}}`, 400, 20064);
    assert.match(await refusesRaw(`{${fields(5_000)}}`, 400, 214), /^Unknown field "k0"\. The known ones are/);
  });
});
