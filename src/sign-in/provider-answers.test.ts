import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { exportJWK, generateKeyPair, SignJWT } from 'jose';

import type { SignInProvider } from '../modules/sign-in.ts';
import { createFetch } from './guarded-fetch.ts';
import { Signatures } from './signatures.ts';
import { LoginRefused, Provider, ProviderDown } from './provider.ts';

const callback = 'https://app.site.test/.gatehouse/sign-in/callback';
const fetch = createFetch(({ host, port }, _options, established) => connect({ host, port }, established))('ac_1');
const log = { info() {}, warn() {} };
const parts = { fetch, signatures: new Signatures({ fetchFor: () => fetch, log }), owner: 'ac_1' };
const secret = 'a-b_c.d~e*f g';

interface Asked {
  readonly authorization: string | undefined;
  readonly form: URLSearchParams;
}

/** A provider whose answers to questions for tokens are those of the test. */
async function startProvider(
  t: TestContext,
  answer: (
    asked: Asked,
    idToken: (forged?: boolean) => Promise<string>,
  ) => Promise<readonly [status: number, body: object, headers?: Readonly<Record<string, string>>]>,
  methods?: readonly string[],
) {
  const asked: Asked[] = [];
  const keys = await generateKeyPair('RS256');
  const others = await generateKeyPair('RS256');
  const profile = { status: 200 };
  let nonce = '';
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const send = (status: number, body: object, headers: Readonly<Record<string, string>> = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    if (request.url === '/keys') return send(200, { keys: [{ ...(await exportJWK(keys.publicKey)), alg: 'RS256' }] });
    if (request.url === '/profile') return send(profile.status, { id: 'somebody else' });
    if (request.url !== '/token') {
      const metadata = {
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
      };
      return send(200, { ...metadata, ...(methods && { token_endpoint_auth_methods_supported: methods }) });
    }
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const form = new URLSearchParams(text);
    const one = { authorization: request.headers.authorization, form };
    asked.push(one);
    const idToken = (forged = false) =>
      new SignJWT(form.get('grant_type') === 'refresh_token' ? {} : { nonce })
        .setProtectedHeader({ alg: 'RS256' })
        .setIssuer(issuer)
        .setAudience('c')
        .setSubject('ada')
        .setIssuedAt()
        .setExpirationTime('1h')
        .sign(forged ? others.privateKey : keys.privateKey);
    return send(...(await answer(one, idToken)));
  };
  const server = createServer((request, response) => void serve(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const settings: SignInProvider = {
    name: 'oidc',
    issuer,
    clientId: 'c',
    clientSecret: secret,
    scopes: ['openid'],
    groupsClaim: 'groups',
  };
  const finish = async (provider: Provider) => {
    const { secrets } = await provider.begin(callback, undefined);
    ({ nonce } = secrets);
    return provider.finish(`${callback}?code=x&state=${secrets.state}`, secrets);
  };
  return { asked, profile, settings, finish, server, provider: new Provider(settings, parts) };
}

const tokens = { access_token: 'a', token_type: 'bearer' };

test('claims count only with the signature of the provider', async (t) => {
  let forged = true;
  const at = await startProvider(t, async (_asked, idToken) => [200, { ...tokens, id_token: await idToken(forged) }]);
  await assert.rejects(at.finish(at.provider), LoginRefused);
  forged = false;
  assert.equal((await at.finish(at.provider)).claims['sub'], 'ada');
});

test('the secret goes in the body where the provider takes it there, and in a header as a form has it', async (t) => {
  const headerOf = (encoded: string) => `Basic ${Buffer.from(`c:${encoded}`).toString('base64')}`;
  for (const [methods, isInBody] of [
    [undefined, false],
    [['client_secret_basic'], false],
    [['client_secret_post'], true],
    [['client_secret_basic', 'client_secret_post'], true],
  ] as const) {
    const at = await startProvider(
      t,
      async (_asked, idToken) => [200, { ...tokens, id_token: await idToken() }],
      methods,
    );
    await at.finish(at.provider);
    const [{ authorization, form }] = at.asked as [Asked];
    assert.equal(form.get('client_secret'), isInBody ? secret : null);
    assert.equal(authorization, isInBody ? undefined : headerOf('a-b_c.d%7Ee*f+g'));
  }
});

test('where the provider wants the secret in the other place, it is found once and kept', async (t) => {
  const at = await startProvider(
    t,
    async ({ authorization }, idToken) =>
      authorization === undefined
        ? [401, { error: 'invalid_client' }]
        : [200, { ...tokens, id_token: await idToken() }],
    ['client_secret_post', 'client_secret_basic'],
  );
  await at.finish(at.provider);
  assert.equal(at.asked.length, 2);
  await at.finish(at.provider);
  assert.equal(at.asked.length, 3);
});

test('a challenge says as well as a word that the secret is wanted in the other place', async (t) => {
  const challenge = { 'www-authenticate': 'Basic realm="tokens"' };
  const at = await startProvider(
    t,
    async ({ authorization }, idToken) =>
      authorization === undefined ? [401, {}, challenge] : [200, { ...tokens, id_token: await idToken() }],
    ['client_secret_post', 'client_secret_basic'],
  );
  assert.equal((await at.finish(at.provider)).claims['sub'], 'ada');
  assert.equal(at.asked.length, 2);
});

test('an error of the provider itself is no refusal', async (t) => {
  let status = 400;
  const at = await startProvider(t, async () => [status, { error: 'server_error' }]);
  await assert.rejects(at.finish(at.provider), LoginRefused);
  for (status of [500, 503]) await assert.rejects(at.finish(at.provider), ProviderDown, `${status}`);
});

test('nobody is sent to a provider that has gone away since it was last seen', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 });
  const at = await startProvider(t, async () => [400, {}]);
  await at.provider.begin(callback, undefined);
  at.server.close().closeAllConnections();
  t.mock.timers.tick(9_000);
  assert.ok(await at.provider.begin(callback, undefined), 'it has answered a moment ago');
  t.mock.timers.tick(2_000);
  await assert.rejects(at.provider.begin(callback, undefined), ProviderDown);
});

test('the words of the provider are told in one line, and not without end', async (t) => {
  const at = await startProvider(t, async () => [
    400,
    { error: 'invalid_grant', error_description: `no\u001b[2J\n${'x'.repeat(5_000)}` },
  ]);
  await assert.rejects(at.finish(at.provider), (error: Error) => {
    assert.match(error.message, /: invalid_grant: no/);
    assert.ok(error.message.length < 600);
    // oxlint-disable-next-line no-control-regex -- no control character is left
    assert.doesNotMatch(error.message, /[\u0000-\u001f]/);
    return error instanceof LoginRefused;
  });
});

test('a refresh token that is not given again stays, and the profile of another person ends the login', async (t) => {
  let refresh: object = { refresh_token: 'r' };
  const at = await startProvider(t, async (_asked, idToken) => [
    200,
    { ...tokens, ...refresh, id_token: await idToken() },
  ]);
  const { token } = await at.finish(at.provider);
  assert.deepEqual(token, { kind: 'refresh', value: 'r' });
  refresh = {};
  assert.deepEqual((await at.provider.check('ada', token)).token, token);
  const { issuer } = at.settings;
  const oauth2 = { authorize: `${issuer}/auth`, token: `${issuer}/token`, profile: `${issuer}/profile`, subject: 'id' };
  const profiled = new Provider({ ...at.settings, differs: { oauth2 } }, parts);
  const access = { kind: 'access', value: 'a' } as const;
  await assert.rejects(profiled.check('ada', access), LoginRefused);
  assert.equal((await profiled.check('somebody else', access)).claims['sub'], 'somebody else');
  refresh = { refresh_token: 'r' };
  await assert.rejects(profiled.check('ada', token), LoginRefused, 'after a refresh too');
  assert.equal((await profiled.check('somebody else', token)).claims['sub'], 'somebody else');
  for (const [status, kind] of [
    [401, LoginRefused],
    [403, LoginRefused],
    [502, ProviderDown],
  ] as const) {
    at.profile.status = status;
    await assert.rejects(profiled.check('somebody else', access), kind, `${status}`);
  }
});
