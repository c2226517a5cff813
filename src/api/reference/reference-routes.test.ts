import assert from 'node:assert/strict';
import { test } from 'node:test';

import { requestTarget } from '../../../test/contract/support/raw-http.ts';
import { onGatehousesInTurn } from '../../../test/support/shared-gatehouse.ts';

const browser = { accept: 'text/html' };

onGatehousesInTurn('the API reference', (gatehouse) => {
  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    requestTarget(gatehouse().url, 'GET', path, headers, undefined);

  test('is a page that loads files of this server alone, all of which are there', async () => {
    const { status, text, headers } = await get('/docs/', browser);
    assert.deepEqual([status, headers['content-type']], [200, 'text/html; charset=utf-8']);
    const named = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name = '']) => name);
    assert.deepEqual(
      named.filter((name) => name !== 'data:,'),
      ['swagger-ui.css', 'reference.css', '../openapi.json', 'swagger-ui-bundle.js', 'reference.js'],
    );
    const types = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8' };
    for (const name of named.filter((each) => /^[\w-]+\.(?:css|js)$/.test(each))) {
      const file = await get(`/docs/${name}`);
      const extension = name.endsWith('.css') ? 'css' : 'js';
      assert.deepEqual([file.status, file.headers['content-type']], [200, types[extension]], name);
      const again = await get(`/docs/${name}`, { 'if-none-match': String(file.headers['etag']) });
      assert.deepEqual([again.status, again.text], [304, '']);
    }
    assert.ok(!/<script>|<style|\son\w+=|style=/.test(text), 'nothing inline');
  });

  test('has a policy of its own that lets it load and call nothing elsewhere', async () => {
    const { headers } = await get('/docs/', browser);
    assert.deepEqual(String(headers['content-security-policy']).split('; ').toSorted(), [
      "base-uri 'none'",
      "connect-src 'self'",
      "default-src 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "img-src 'self' data:",
      "script-src 'self'",
      "style-src 'self'",
    ]);
    assert.equal(headers['x-content-type-options'], 'nosniff');
  });

  test('is where a browser is sent that leaves the slash out, and has no other files', async () => {
    const { status, headers } = await get('/docs', browser);
    assert.deepEqual([status, headers['location']], [302, '/docs/']);
    assert.equal((await get('/docs')).status, 404);
    for (const path of [
      'package.json',
      'swagger-ui.css.map',
      '../package.json',
      '%2e%2e%2fpackage.json',
      'constructor',
    ])
      assert.equal((await get(`/docs/${path}`, browser)).status, 404, path);
  });

  test('shows the address at which the browser has found it, and calls nothing else', async () => {
    const { text } = await get('/docs/reference.js');
    assert.ok(text.includes("new URL('..', location.href)") && text.includes('servers: [{ url: address }]'), text);
    assert.ok(text.includes('validatorUrl: null'), 'the document is not sent to a validator');
    assert.doesNotMatch(text, /https?:\/\//);
  });
});
