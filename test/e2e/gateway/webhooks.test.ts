import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { after, before, suite, test } from 'node:test';

import { newSqlite } from '../../support/scratch.ts';
import { Site, siteHost } from './support/site.ts';

const secret = 'kept-to-myself-0123';

/** Webhooks signed as their providers do, through the program with its workers, API and database. */
suite('webhooks', () => {
  let site: Site;
  const databaseUrl = newSqlite();
  before(async () => {
    site = await Site.start(
      { secretKey: 'the-key-that-seals-private-keys-0123456789', drainSeconds: '0' },
      databaseUrl,
    );
  });
  after(() => site[Symbol.asyncDispose]());

  const put = async (body: object) => {
    const { status, body: answer } = await site.gatehouse.put(`${site.routePath}/webhook_verification`, body);
    assert.equal(status, 200, JSON.stringify(answer));
    return answer;
  };
  const post = (body: string, headers: Readonly<Record<string, string>>, path = '/') =>
    site.askHttps({ method: 'POST', body, headers, path });
  const hmac = (algorithm: string, text: string, encoding: 'hex' | 'base64' = 'hex') =>
    createHmac(algorithm, secret).update(text).digest(encoding);
  const github = (body: string) => ({ 'x-hub-signature-256': `sha256=${hmac('sha256', body)}` });

  test('a secret is nowhere to be read, and stays when it is left out', async () => {
    const { gatehouse, routePath } = site;
    assert.deepEqual(await put({ provider: 'GITHUB', secret }), { enabled: true, provider: 'GITHUB' });
    assert.equal((await post('{}', github('{}'))).status, 200);
    await put({ provider: 'github' });
    assert.equal((await post('{"a":1}', github('{"a":1}'))).status, 200);
    const arrived = site.upstream.requests;
    const refused = await post('{"a":1}', github('{"a":2}'));
    assert.deepEqual([refused.status, refused.errorCode], [403, 3204]);
    assert.equal((await site.askHttps()).status, 403);
    assert.equal(site.upstream.requests, arrived);
    const asked = await gatehouse.post('/ip_check', { ip: '127.0.0.1', route_id: site.routeId });
    assert.deepEqual(asked.body.further_checks, [
      { module: 'webhook_verification', by: 'the signature of the request', asks: 'needs a signature of GitHub' },
    ]);
    const other = await gatehouse.put(`${routePath}/webhook_verification`, { provider: 'stripe' });
    assert.deepEqual([other.status, other.body.error_code], [400, 'ERR_GATEHOUSE_20344']);
    const unknown = await gatehouse.patch(routePath, { webhook_verification: { provider: 'acme', secret: 'x' } });
    assert.deepEqual([unknown.status, unknown.body.error_code], [400, 'ERR_GATEHOUSE_364']);
    const told = [
      (await gatehouse.get('/changes')).body,
      (await gatehouse.get('/configuration')).body,
      (await gatehouse.get(routePath)).body,
      gatehouse.logLines,
    ].map((each) => JSON.stringify(each));
    for (const text of told) assert.doesNotMatch(text, /kept-to-myself|sealed|digest|gcm1/);
    const file = databaseUrl.replace('sqlite:', '');
    for (const name of readdirSync(dirname(file)))
      if (name.startsWith(basename(file)))
        assert.equal(readFileSync(join(dirname(file), name)).includes(secret), false, `${name} has the secret`);
  });

  test('a revert brings the secret back', async () => {
    const { gatehouse, routePath } = site;
    assert.equal((await gatehouse.delete(`${routePath}/webhook_verification`)).status, 204);
    assert.equal((await post('x', {})).status, 200);
    const { changes } = (await gatehouse.get('/changes?limit=1')).body;
    const reverted = await gatehouse.post(`/changes/${changes[0].id}/revert`);
    assert.equal(reverted.status, 200, JSON.stringify(reverted.body));
    assert.equal((await post('x', {})).status, 403);
    assert.equal((await post('x', github('x'))).status, 200);
  });

  test('replays are refused when they are older than the provider allows', async () => {
    await put({ provider: 'stripe', secret });
    const signed = (age: number) => {
      const time = Math.round(Date.now() / 1000) - age;
      return { 'stripe-signature': `t=${time},v1=${hmac('sha256', `${time}.{}`)}` };
    };
    assert.equal((await post('{}', signed(200))).status, 200);
    const late = await post('{}', signed(400));
    assert.equal(late.status, 403);
    assert.match(late.text, /sent 40\d seconds ago, and 300 are allowed/);
  });

  test('the URL is the one that the visitor used', async () => {
    await put({ provider: 'TWILIO', secret });
    const path = '/call?foo=1&bar=2';
    const headers = (url: string) => ({
      'content-type': 'application/x-www-form-urlencoded',
      'x-twilio-signature': hmac('sha1', `${url}Digits1234From+49`, 'base64'),
    });
    const body = 'From=%2B49&Digits=1234';
    assert.equal((await post(body, headers(`https://${siteHost}${path}`), path)).status, 200);
    assert.equal((await post(body, headers(`https://${siteHost}:443${path}`), path)).status, 200);
    assert.equal((await post(body, headers(`https://${siteHost}/call`), path)).status, 403);
  });

  test('challenges are answered, and a backend of any kind is asked for signed requests alone', async () => {
    const { gatehouse, routePath } = site;
    const { id } = await gatehouse.create('/backends/http_response', { status_code: 202, body: 'thanks' });
    assert.equal((await gatehouse.put(`${routePath}/backend`, { backend_id: id })).status, 200);
    await put({ provider: 'xero', secret });
    const sign = (body: string) => ({ 'x-xero-signature': hmac('sha256', body, 'base64') });
    const intent = '{"events":[]}';
    assert.equal((await post(intent, sign(intent))).status, 200);
    assert.equal((await post(intent, sign('x'))).status, 401);
    const event = '{"events":[{}]}';
    const answer = await post(event, sign(event));
    assert.deepEqual([answer.status, answer.text], [202, 'thanks']);
    await put({ provider: 'worldline', secret });
    const echoed = await site.askHttps({ headers: { 'x-gcs-webhooks-endpoint-verification': 'word-1' } });
    assert.deepEqual([echoed.status, echoed.text], [200, 'word-1']);
    assert.equal((await gatehouse.put(`${routePath}/backend`, { backend_id: site.backendId })).status, 200);
  });

  test('files name the provider alone, and a secret that is the stored one is no change', async () => {
    const { gatehouse } = site;
    const entry = {
      kind: 'https_edges',
      name: 'hooks',
      hostports: ['hooks.site.test:443'],
      routes: { '/': { webhook_verification: { provider: 'github', secret } } },
    };
    const apply = async (body: unknown, query = '') => (await gatehouse.post(`/configuration${query}`, [body])).body;
    const planned = await apply(entry, '?dry_run=true');
    assert.deepEqual(planned.steps[0].fields.at(-1).after.webhook_verification, {
      provider: 'github',
      secret: '(secret)',
    });
    assert.equal((await apply(entry)).created, 1);
    assert.equal((await apply(entry)).unchanged, 1);
    const { entries } = (await gatehouse.get('/configuration')).body;
    const exported = entries.find(({ name }: { readonly name: string }) => name === 'hooks');
    assert.deepEqual(exported.routes['/'].webhook_verification, { provider: 'github' });
    assert.equal((await apply(exported)).unchanged, 1);
    const other = structuredClone(entry);
    other.routes['/'].webhook_verification.secret = 'another';
    assert.equal((await apply(other)).changed, 1);
    const asked = await site.askHttps({ method: 'POST', body: '', headers: github('') }, 'hooks.site.test');
    assert.equal(asked.status, 403, 'the former one counts no longer');
  });
});
