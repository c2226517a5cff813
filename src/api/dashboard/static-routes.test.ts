import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { requestTarget } from '../../../test/contract/support/raw-http.ts';
import { onDatabasesInTurn } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';

const page = '<!doctype html><script src="/dashboard/assets/main-abc.js"></script>';
const script = `console.log(${JSON.stringify('x'.repeat(5_000))});`;
const browser = { accept: 'text/html,*/*;q=0.8' };

onDatabasesInTurn('the files of the dashboard', (newDatabase) => {
  let folder = '';
  let gatehouse: Gatehouse;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-dist-'));
    gatehouse = await Gatehouse.start(await newDatabase(), { dashboardFiles: join(folder, 'dist') });
  });
  after(async () => {
    await gatehouse[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });
  const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
    requestTarget(gatehouse.url, method, path, headers, undefined);

  test('that are missing are answered with a page that says what to do, and nothing else suffers', async () => {
    const { status, text, headers } = await get('/dashboard/', browser);
    assert.deepEqual([status, headers['content-type']], [503, 'text/html; charset=utf-8']);
    assert.ok(text.includes('npm run build:dashboard'), text);
    assert.ok(headers['content-security-policy']?.includes("default-src 'none'"));
    const json = await get('/dashboard/assets/main-abc.js');
    assert.deepEqual([json.status, JSON.parse(json.text).error_code], [503, 'ERR_GATEHOUSE_20175']);
    assert.equal((await get('/readyz')).status, 200);
  });

  describe('once they are built', () => {
    before(async () => {
      await mkdir(join(folder, 'dist/assets'), { recursive: true });
      await writeFile(join(folder, 'secret.txt'), 'outside');
      await symlink(join(folder, 'secret.txt'), join(folder, 'dist/link.txt'));
      await writeFile(join(folder, 'dist/favicon.svg'), '<svg/>');
      await writeFile(join(folder, 'dist/index.html'), page);
    });

    test('are not served while the first page names one that is not there yet', async () => {
      assert.equal((await get('/dashboard/', browser)).status, 503);
      await writeFile(join(folder, 'dist/assets/main-abc.js'), script);
      await writeFile(join(folder, 'dist/assets/main-abc.js.br'), 'as brotli');
      assert.equal((await get('/dashboard/', browser)).status, 200);
    });

    test('are the first page for every path without a dot, under a strict policy and never stored', async () => {
      for (const path of ['/dashboard/', '/dashboard/ip_policies', '/dashboard/edges/https/edghts_1?tab=routes']) {
        const { status, text, headers } = await get(path, browser);
        assert.deepEqual([status, text], [200, page], path);
        assert.equal(headers['cache-control'], 'no-store');
        assert.equal(headers['content-type'], 'text/html; charset=utf-8');
        assert.equal(headers['x-content-type-options'], 'nosniff');
        assert.equal(headers['x-frame-options'], 'DENY');
        assert.deepEqual(String(headers['content-security-policy']).split('; ').toSorted(), [
          "base-uri 'none'",
          "connect-src 'self'",
          "default-src 'none'",
          "font-src 'self'",
          "form-action 'none'",
          "frame-ancestors 'none'",
          "img-src 'self' data:",
          "script-src 'self'",
          "style-src 'self'",
          "worker-src 'self'",
        ]);
      }
    });

    test('with a hash in their name are kept for ever, and sent compressed to who takes it', async () => {
      const path = '/dashboard/assets/main-abc.js';
      const plain = await get(path);
      assert.deepEqual([plain.status, plain.text], [200, script]);
      assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable');
      assert.equal(plain.headers['content-type'], 'text/javascript; charset=utf-8');
      assert.equal(plain.headers['content-encoding'], undefined);
      const zipped = await fetch(new URL(path, gatehouse.url), { headers: { 'accept-encoding': 'gzip' } });
      assert.equal(zipped.headers.get('content-encoding'), 'gzip');
      assert.equal(await zipped.text(), script);
      assert.equal(zipped.headers.get('vary'), 'Accept-Encoding');
      const brotli = await get(path, { 'accept-encoding': 'gzip, br' });
      assert.deepEqual([brotli.headers['content-encoding'], brotli.text], ['br', 'as brotli']);
      const none = await get(path, { 'accept-encoding': 'br;q=0, gzip;q=0.0, deflate' });
      assert.equal(none.headers['content-encoding'], undefined);
      const tags = [plain, brotli].map(({ headers }) => headers['etag']);
      assert.equal(new Set([...tags, zipped.headers.get('etag')]).size, 3, 'each form has a tag of its own');
    });

    test('have tags, and HEAD has all but the body', async () => {
      const path = '/dashboard/favicon.svg';
      const { headers, text } = await get(path);
      assert.deepEqual([text, headers['cache-control']], ['<svg/>', 'no-cache']);
      const again = await get(path, { 'if-none-match': `"other", W/${String(headers['etag'])}` });
      assert.deepEqual([again.status, again.text], [304, '']);
      const head = await get(path, {}, 'HEAD');
      assert.deepEqual([head.status, head.text, head.headers['content-length']], [200, '', '6']);
      assert.equal((await get(path, {}, 'POST')).status, 405);
    });

    test('are those of the folder and no others', async () => {
      for (const path of [
        'missing.js',
        '../secret.txt',
        '..%2fsecret.txt',
        '%2e%2e/secret.txt',
        '%2e%2e%2fsecret.txt',
        'assets/../../secret.txt',
        '..\\secret.txt',
        '..%5csecret.txt',
        '/etc/passwd.txt',
        'link.txt',
        'assets/main-abc.js%00.svg',
        'assets/main-abc.js.br',
        'index.html/x.js',
        'a'.repeat(600) + '.js',
      ]) {
        const { status, text } = await get(`/dashboard/${path}`, browser);
        assert.ok(status === 404 || status === 400, `${path} answered ${status}`);
        assert.ok(!text.includes('outside'), path);
      }
    });

    test('are read again after another build', async () => {
      const next = page.replaceAll('abc', 'def');
      await writeFile(join(folder, 'dist/assets/main-def.js'), 'second');
      await writeFile(join(folder, 'dist/index.html'), next);
      assert.equal((await get('/dashboard/', browser)).text, next);
      assert.equal((await get('/dashboard/assets/main-def.js')).text, 'second');
    });

    test('are where a browser is sent that opens the server, and other clients are not', async () => {
      for (const path of ['/', '/dashboard']) {
        const { status, headers } = await get(path, browser);
        assert.deepEqual([status, headers['location']], [302, '/dashboard/'], path);
        assert.equal((await get(path, { accept: 'application/json' })).status, 404, path);
      }
    });

    test('need no token, and take none of the paths of the API', async () => {
      assert.equal((await get('/api_keys', browser)).status, 401);
      assert.equal((await get('/dashboard/session', browser)).status, 401);
      assert.equal((await get('/openapi.json', browser)).status, 200);
    });
  });
});
