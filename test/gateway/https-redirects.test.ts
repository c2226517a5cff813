import assert from 'node:assert/strict';
import { test } from 'node:test';

import { pathRewrite } from '../../src/modules/path-rewrite/index.ts';
import { redirect } from '../../src/modules/redirect/index.ts';
import type { ModuleSettings } from '../../src/snapshot/contract.ts';
import { get, openHttp2, requestHttp2, sendRaw } from './support/https-client.ts';
import {
  allowPolicy,
  backendEntry,
  edgeEntry,
  ipRestriction,
  prefixRoute,
  responseHeaders,
  toBackend,
} from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { startUpstream } from './support/https-upstream.ts';

const toLogin: ModuleSettings = { redirect: redirect.accept({ to: '/login', status_code: 303 }) };
const toNew: ModuleSettings = {
  redirect: redirect.accept({ to: 'https://new.test', status_code: 308, keep_path: true }),
};

test('redirects are answered without a backend', async () => {
  const routes = [
    prefixRoute('/admin', { ...toLogin, ...responseHeaders({ 'x-own': 'yes' }, []) }),
    prefixRoute('/', toNew),
  ];
  await using gateway = await startGateway([edgeEntry('e', ['app.test'], routes)]);
  const login = await sendRaw(gateway.port, get('/admin/users?next=//evil.test'));
  assert.deepEqual([login.status, login.headers['location'], login.headers['x-own']], [303, '/login', 'yes']);
  assert.deepEqual([login.body, login.headers['content-length']], ['', '0']);
  const moved = await sendRaw(gateway.port, get('/a%20b//evil.test?c=%2F'));
  assert.deepEqual([moved.status, moved.headers['location']], [308, 'https://new.test/a%20b//evil.test?c=%2F']);
  for (const path of ['//evil.test', '/\\evil.test', '/a\tb'])
    assert.equal((await sendRaw(gateway.port, get(path))).status, 400, path);
  const session = openHttp2(gateway.port);
  const answer = await requestHttp2(session, { ':path': '/x', ':method': 'POST' }, 'a body');
  assert.deepEqual([answer.headers[':status'], answer.headers['location']], [308, 'https://new.test/x']);
  session.close();
});

test('a redirect is for those who may come in alone', async () => {
  const routes = [prefixRoute('/', { ...toNew, ...ipRestriction('others') })];
  await using gateway = await startGateway([
    edgeEntry('e', ['app.test'], routes),
    allowPolicy('others', '192.0.2.0/24'),
  ]);
  const { status, headers } = await sendRaw(gateway.port, get('/'));
  assert.deepEqual([status, headers['location']], [403, undefined]);
});

test('the upstream gets the path without its prefix, and nothing else is another', async () => {
  await using upstream = await startUpstream();
  const rewrite = (settings: object) => ({ path_rewrite: pathRewrite.accept(settings), ...toBackend('b') });
  await using gateway = await startGateway([
    backendEntry('b', upstream.port),
    edgeEntry(
      'e',
      ['app.test'],
      [
        prefixRoute('/api', rewrite({ strip_prefix: '/api' })),
        prefixRoute('/v1', rewrite({ strip_prefix: '/v1', add_prefix: '/v2' })),
        prefixRoute('/add', rewrite({ add_prefix: '/v3' })),
        prefixRoute('/', toBackend('b')),
      ],
    ),
  ]);
  for (const [path, wanted] of [
    ['/api/a%20b?c=/api', '/a%20b?c=/api'],
    ['/%61pi', '/'],
    ['/api//evil.test', '/evil.test'],
    ['/v1/x', '/v2/x'],
    ['/v1', '/v2'],
    ['/add/x?y', '/v3/add/x?y'],
    ['/other/api', '/other/api'],
  ] as const) {
    assert.equal((await sendRaw(gateway.port, get(path))).status, 200, path);
    assert.equal(upstream.seen.at(-1)?.url, wanted, path);
  }
});
