import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';

import { audience, TokenIssuer } from '../../gateway/support/token-issuer.ts';
import { Site } from './support/site.ts';
import { until } from './support/until.ts';

/** Tokens of an issuer whose keys are served over HTTP: set over the API, obeyed by traffic when the call returns. */
suite('tokens at a route', () => {
  let site: Site;
  let issuer: TokenIssuer;

  before(async () => {
    site = await Site.start({ drainSeconds: '0' });
    issuer = await TokenIssuer.start('a');
  });
  after(async () => {
    await issuer[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  const put = async (more: object = {}) => {
    const settings = { issuer: issuer.url, audiences: [audience], ...more };
    const { status, text, body } = await site.gatehouse.put(`${site.routePath}/jwt_validation`, settings);
    assert.equal(status, 200, text);
    return body;
  };
  const token = (...given: Parameters<TokenIssuer['token']>) => issuer.token(...given);
  const ask = async (text: string, name = 'authorization') =>
    site.askHttps({ headers: { [name]: name === 'authorization' ? `Bearer ${text}` : text } });

  test('a good token is let in and known from then on; others are told what is wrong', async () => {
    const shown = await put();
    assert.deepEqual(shown, {
      enabled: true,
      issuer: issuer.url,
      audiences: [audience],
      algorithms: ['RS256', 'ES256'],
      jwks_uri: '',
      clock_skew: 60,
      header: 'authorization',
      claims: {},
    });
    const arrived = site.upstream.requests;
    const none = await site.askHttps();
    assert.deepEqual([none.status, none.headers['www-authenticate']], [401, 'Bearer']);
    const good = await token();
    assert.equal((await ask(good)).status, 200);
    const askedBefore = issuer.asked.length;
    for (let round = 0; round < 3; round++) assert.equal((await ask(good)).status, 200);
    assert.equal(issuer.asked.length, askedBefore, 'no call for a token that is known');
    const [head = '', payload = '', signature = ''] = good.split('.');
    const unsigned = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url');
    const refused = {
      'of another issuer': await token({ iss: 'https://evil.example' }),
      'for somebody else': await token({ aud: 'https://other.example' }),
      'for nobody': await token({ aud: undefined }),
      over: await token({}, 'a', -61),
      'without an end': await token({ exp: undefined }),
      'not yet': await token({ nbf: Math.floor(Date.now() / 1000) + 120 }),
      changed: `${head}.${payload}.${signature.slice(0, -4)}AAAA`,
      unsigned: `${unsigned}.${payload}.`,
      'unsigned, with something': `${unsigned}.${payload}.AAAA`,
      nonsense: 'a.b.c',
    };
    for (const [what, text] of Object.entries(refused)) {
      const answer = await ask(text);
      assert.equal(answer.status, 401, `${what}: ${answer.status}`);
      assert.doesNotMatch(answer.text, new RegExp(payload), 'nothing of it is repeated');
    }
    assert.equal(site.upstream.requests, arrived + 4);
    assert.equal((await ask(await token({}, 'a', -30))).status, 200, 'clocks may differ a little');
    for (const two of [`Bearer ${good}, Bearer ${good}`, [`Bearer ${good}`, `Bearer ${good}`]])
      assert.equal((await site.askHttps({ headers: { Authorization: two } })).status, 401, 'two of them');
  });

  test('claims are conditions, and another header may hold the token', async () => {
    await put({ claims: { scope: ['orders:read'] } });
    assert.equal((await ask(await token({ scope: 'a orders:read' }))).status, 200);
    assert.equal((await ask(await token({ scope: 'a orders:write' }))).status, 401);
    await put({ claims: { scope: ['orders:read'], role: ['admin', 'clerk'] }, header: 'X-Token' });
    assert.equal((await ask(await token({ scope: 'a orders:read', role: ['clerk'] }), 'x-token')).status, 200);
    assert.equal((await ask(await token({ scope: 'a orders:write', role: 'clerk' }), 'x-token')).status, 401);
    assert.equal((await ask(await token({ scope: 'orders:read' }), 'x-token')).status, 401);
    assert.equal((await ask(await token({ scope: 'orders:read', role: 'clerk' }))).status, 401, 'not in that header');
    await put({ algorithms: ['RS256'] });
    assert.equal((await ask(await token())).status, 401);
  });

  test('a token that one rule has let in is checked by every other, whatever they differ in', async () => {
    issuer.elsewhere.set('/none', []);
    const clock_skew = 300;
    const good = await token({}, 'a', -1);
    for (const other of [
      { audiences: ['https://other.example'] },
      { algorithms: ['RS256'] },
      { jwks_uri: `${issuer.url}/none` },
      { clock_skew: 0 },
      { claims: { scope: ['orders:read'] } },
    ]) {
      await put({ clock_skew });
      assert.equal((await ask(good)).status, 200);
      await put({ clock_skew, ...other });
      assert.equal((await ask(good)).status, 401, JSON.stringify(other));
    }
  });

  test('the upstream gets the header that was checked, and none in another spelling', async () => {
    await put({ header: 'X-Token' });
    const text = await token();
    const headers = { 'x-token': text, x_token: 'forged', 'x.token': 'forged', 'x-other': 'kept' };
    const { status, echo } = await site.askHttps({ headers });
    assert.equal(status, 200);
    const got = Object.entries(echo!.headers).filter(([name]) => /^x\W?_?(?:token|other)$/.test(name));
    assert.deepEqual(Object.fromEntries(got), { 'x-token': text, 'x-other': 'kept' });
  });

  test('a new key is found by its first token, and known keys serve while the issuer is away', async () => {
    await put();
    const first = await token();
    assert.equal((await ask(first)).status, 200);
    await issuer.down();
    assert.equal((await ask(await token({ sub: 'another' }))).status, 200, 'another token, by a known key');
    await issuer.up();
    await issuer.addKey('b');
    const second = await token({}, 'b');
    // Keys are asked for again after a pause.
    await until(async () => (await ask(second)).status === 200, 'the new key is known');
  });

  test('nobody is let in while the keys were never read', async () => {
    await issuer.down();
    await put({ jwks_uri: `${issuer.url}/keys` });
    const text = await token();
    const answer = await ask(text);
    assert.deepEqual([answer.status, answer.headers['retry-after']], [503, '10']);
    await issuer.up();
    for (const wrong of [
      { issuer: 'ftp://x' },
      { jwks_uri: 'http://keys.example' },
      { header: 'a b' },
      { audiences: [] },
      { claims: { '': ['a'] } },
      { claims: { ['c'.repeat(256)]: ['a'] } },
      { claims: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`c${at}`, ['a']])) },
    ]) {
      const { status } = await site.gatehouse.put(`${site.routePath}/jwt_validation`, {
        issuer: issuer.url,
        audiences: ['a'],
        ...wrong,
      });
      assert.equal(status, 400, JSON.stringify(wrong));
    }
  });
});
