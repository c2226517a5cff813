import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { CallOptions } from '../../test/support/gatehouse.ts';
import { rawRequest } from '../../test/support/raw-request.ts';
import { refuses } from '../../test/support/refusals.ts';
import { onAnyGatehouse } from '../../test/support/shared-gatehouse.ts';

/** Ids that no row has, and that parsers, databases and file systems have stumbled over. */
const hostileIds = [
  'ak_',
  'ak_000000000000000000000000000',
  'AK_000000000000000000000000000',
  'ipp_0',
  'null',
  'undefined',
  '__proto__',
  'constructor',
  '-1',
  '*',
  '%25',
  '%00',
  'ak_%00',
  'ak_0%0a',
  '%2e%2e%2f%2e%2e',
  '%2Fapi_keys',
  "ak_'%20OR%201=1--",
  'ak_"; DROP TABLE api_keys',
  'ak_%F0%9F%94%91',
  'ak_%E2%80%AE',
  '$1',
  'a'.repeat(400),
  'a'.repeat(2000),
];

onAnyGatehouse('requests', (g) => {
  const send = (method: string, path: string, headers: Record<string, string> = {}) =>
    fetch(new URL(path, g().url), {
      method,
      headers: { authorization: `Bearer ${g().token}`, 'service-version': '2', ...headers },
      redirect: 'manual',
    });

  test('every answer carries its operation id, is not stored, and is JSON', async () => {
    const answers = [
      await g().get('/api_keys'),
      await g().post('/api_keys'),
      await g().get('/nothing'),
      await g().get('/api_keys', { headers: { authorization: undefined } }),
      await g().get('/healthz'),
    ];
    const ids = answers.map(({ headers }) => headers.get('gatehouse-operation-id'));
    for (const id of ids) assert.match(String(id), /^op_[0-9A-Za-z]{27}$/);
    assert.equal(new Set(ids).size, answers.length);
    for (const { headers } of answers) {
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
    }
    assert.equal(answers[2]?.body.details.operation_id, ids[2]);
    const { id } = await g().create('/api_keys');
    const deleted = await g().delete(`/api_keys/${id}`);
    assert.ok(deleted.headers.get('gatehouse-operation-id'));
    assert.equal(deleted.headers.get('content-type'), null);
  });

  test('what does not exist is 404, in the form of every error', async () => {
    const paths = [
      '/',
      '/api_key',
      '/API_KEYS',
      '/api_keys/',
      '/ip_policies//rules',
      '//api_keys',
      '/api_keys/x/y',
      '/%zz',
    ];
    for (const path of [...paths, '/api_keys/%', '/.git/config', '/openapi.json/']) {
      const response = await rawRequest(
        g().url,
        `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${g().token}\r\nService-Version: 2\r\nConnection: close\r\n\r\n`,
      );
      assert.equal(response.status, 404, path);
      const { error_code, status_code, msg, details } = JSON.parse(response.body);
      assert.deepEqual([error_code, status_code], ['ERR_GATEHOUSE_20001', 404]);
      assert.ok(typeof msg === 'string' && details.operation_id.startsWith('op_'));
    }
  });

  test('a trailing slash or an empty id is 404 for every method, and is no redirect', async () => {
    const { id } = await g().create('/api_keys');
    for (const path of ['/api_keys/', `/api_keys/${id}/`, '/ip_policies//rules']) {
      for (const method of ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS']) {
        assert.equal((await send(method, path)).status, 404, `${method} ${path}`);
      }
    }
    assert.equal((await g().get(`/api_keys/${id}`)).status, 200);
  });

  test('a method that a path does not take is 405 with those it takes, before anything else is looked at', async () => {
    const allowed = {
      '/api_keys': 'GET, HEAD, POST',
      '/api_keys/x': 'DELETE, GET, HEAD, PATCH',
      '/healthz': 'GET, HEAD',
    };
    for (const [path, allow] of Object.entries(allowed)) {
      const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((method) => !allow.includes(method));
      for (const method of others) {
        const headers = { authorization: undefined, 'content-type': 'text/plain' };
        const answer = await g().call(method, path, undefined, {
          headers,
          ...(method === 'GET' ? {} : { raw: 'no json' }),
        });
        assert.equal(answer.body.error_code, 'ERR_GATEHOUSE_20002', `${method} ${path}`);
        assert.equal(answer.status, 405);
        assert.equal(answer.headers.get('allow'), allow);
      }
    }
  });

  test('HEAD answers like GET without a body, and as carefully', async () => {
    const { id } = await g().create('/api_keys');
    for (const path of ['/api_keys', `/api_keys/${id}`, '/healthz']) {
      const head = await send('HEAD', path);
      assert.equal(head.status, 200);
      assert.equal(await head.text(), '');
      assert.equal(head.headers.get('content-length'), String((await (await send('GET', path)).text()).length));
    }
    assert.equal((await send('HEAD', '/api_keys', { authorization: 'Bearer x' })).status, 401);
    assert.equal((await send('HEAD', '/api_keys/ak_none')).status, 404);
  });

  test('hostile ids are 404 everywhere, and change nothing', async () => {
    const paths = ['/api_keys', '/bot_users', '/ip_policies'];
    const { version } = g().app.context.store;
    for (const id of hostileIds) {
      for (const path of paths) {
        for (const method of ['GET', 'PATCH', 'DELETE']) {
          const { status, body } = await g().call(method, `${path}/${id}`, method === 'PATCH' ? {} : undefined);
          assert.equal(status, 404, `${method} ${path}/${id} ${JSON.stringify(body)}`);
        }
      }
      assert.equal((await g().put(`/ip_policies/${id}/rules`, [])).status, 404, id);
    }
    assert.equal(g().app.context.store.version, version);
  });

  test('query faults are 400 and named', async () => {
    const { id } = await g().create('/api_keys');
    const fault = async (path: string, code: number) => refuses(g(), ['GET', path], 400, code);
    for (const limit of ['0', '101', '-1', '99999999999999999999']) await fault(`/api_keys?limit=${limit}`, 233);
    for (const limit of ['', 'x', '1.5', '1e1', '0x10', '%201', 'NaN']) await fault(`/api_keys?limit=${limit}`, 244);
    await fault('/api_keys?limit', 244);
    await fault('/api_keys?limit=1&limit=1', 232);
    await fault(`/api_keys?before_id=${id}&beforeId=${id}`, 232);
    for (const before of ['', 'x', 'ipp_000000000000000000000000000', 'ak_', 'ak_%00', 'ak_a%20b']) {
      await fault(`/api_keys?before_id=${before}`, 227);
    }
    assert.ok((await fault('/api_keys?colour=red', 231)).includes('"colour"'));
    await fault('/api_keys?__proto__=1', 231);
    await fault('/api_keys?limit=1&LIMIT=2', 231);
    await fault('/api_keys?%FF=1', 230);
    await fault('/api_keys?limit=%zz', 230);
    await fault(`/api_keys/${id}?limit=1`, 231);
    await refuses(g(), ['POST', '/api_keys?description=x', {}], 400, 231);
    assert.equal((await g().get('/api_keys?')).status, 200);
  });

  test('what is not HTTP, or too much of it, is told so in JSON', async () => {
    const cases = {
      'nonsense\r\n\r\n': 400,
      'GET /api_keys HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n': 400,
      'POST /api_keys HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n': 400,
      'GET / HTTP/1.1\r\nHost: x\r\nBad Header: x\r\n\r\n': 400,
      [`GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`]: 431,
    };
    for (const [bytes, status] of Object.entries(cases)) {
      const answer = await rawRequest(g().url, bytes);
      assert.equal(answer.status, status, bytes.slice(0, 80));
      assert.match(answer.head, /gatehouse-operation-id: op_/i);
      assert.equal(JSON.parse(answer.body).status_code, status);
    }
  });

  test('each request leaves one line in the log, with its operation and without any secret', async () => {
    const { id, token } = await g().create('/api_keys', { description: 'not for the log' });
    const { headers } = await g().get(`/api_keys/${id}?limit=1`, { token });
    await g().get('/api_keys', { headers: { authorization: 'Bearer a-secret-that-nobody-has-0123456789' } });
    const operation = headers.get('gatehouse-operation-id') ?? '';
    const lines = g().logLines.filter((line) => line.includes(operation));
    assert.equal(lines.length, 1);
    const line = JSON.parse(lines[0] ?? '');
    assert.equal(line.operation_id, operation);
    assert.match(line.principal, /^usr_/);
    assert.equal(line.status, 400);
    assert.equal(typeof line.duration_ms, 'number');
    const all = g().logLines.join('');
    for (const secret of [token.split('_')[1], g().token, 'not for the log', 'a-secret-that-nobody-has']) {
      assert.ok(!all.includes(secret), secret);
    }
  });

  test('a token in the wrong place is repeated in no message and no line of the log', async () => {
    const { token } = await g().create('/api_keys');
    const [id = '', secret = ''] = token.split('_');
    const policy = await g().create('/ip_policies');
    const encoded = `${id}%5F${secret}`;
    const calls: readonly [string, string, unknown?, CallOptions?][] = [
      ['GET', `/api_keys/${token}`],
      ['GET', `/api_keys/${encoded}`],
      ['GET', `/${token}`],
      ['PUT', `/api_keys/${token}`, {}],
      ['DELETE', `/ip_policies/${policy.id}/${token}`],
      ['GET', `/api_keys?before_id=${token}`],
      ['GET', `/api_keys?${token}=1`],
      ['GET', `/api_keys?limit=${token}`],
      ['POST', '/api_keys', { owner_id: token }],
      ['POST', '/api_keys', { [token]: 1 }],
      ['POST', '/api_keys', { description: `${'x'.repeat(150)}${token}`, [`${'y'.repeat(150)}${token}`]: 1 }],
      ['PATCH', `/ip_policies/${policy.id}`, { id: token }],
      ['POST', '/ip_policy_rules', { ip_policy_id: token, cidr: '192.0.2.0/24', action: 'allow' }],
      ['POST', '/ip_policy_rules', { ip_policy_id: policy.id, cidr: token, action: 'allow' }],
      ['POST', '/ip_restrictions', { type: token, ip_policy_ids: [token] }],
      ['POST', '/backends/static', { address: token }],
      ['GET', '/api_keys', undefined, { headers: { 'service-version': token } }],
      ['POST', '/api_keys', {}, { headers: { 'content-type': token } }],
      ['PATCH', `/ip_policies/${policy.id}`, {}, { headers: { 'if-match': token } }],
    ];
    for (const [method, path, body, options] of calls) {
      const { status, text } = await g().call(method, path, body, options);
      assert.ok(status >= 400, `${method} ${path} answered ${status}`);
      // A part of the secret is too much as well.
      assert.ok(!text.includes(secret.slice(0, 12)), `${method} ${path} ${JSON.stringify(body)} answered ${text}`);
    }
    assert.ok(!g().logLines.join('').includes(secret.slice(0, 12)));
    assert.ok((await g().get(`/api_keys/${token}`)).body.msg.includes(`${id}_[masked]`));
  });
});
