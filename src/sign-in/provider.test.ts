import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';

import { clientId, clientSecret, IdentityProvider, postClientId } from '../../test/support/identity-provider.ts';
import { Visitor } from '../../test/support/visitor.ts';
import type { SignInProvider } from '../modules/sign-in.ts';
import { createFetch } from './guarded-fetch.ts';
import { claimsOfProfile } from './profile-claims.ts';
import { Signatures } from './signatures.ts';
import { LoginRefused, Provider, ProviderDown } from './provider.ts';

const callback = 'https://app.site.test/.gatehouse/sign-in/callback';
const fetch = createFetch(({ host, port }, _options, established) => connect({ host, port }, established))('ac_1');

const partsWith = (by: typeof fetch) => ({
  fetch: by,
  signatures: new Signatures({ fetchFor: () => by, log: { info() {}, warn() {} } }),
  owner: 'ac_1',
});

/** Signs in as somebody, up to the URL that the provider sends the visitor back to. */
async function signIn(provider: Provider, name: string) {
  const { url, secrets } = await provider.begin(callback, undefined);
  const visitor = new Visitor({});
  let next = url;
  for (let left = 10; left > 0 && !next.startsWith('https://app.site.test'); left--) {
    const seen = await visitor.ask(next);
    next =
      seen.headers.location === undefined
        ? await visitor.sendForm(seen, name)
        : new URL(seen.headers.location, next).href;
  }
  return { url, address: next, secrets };
}

test('a provider without metadata and signed claims is asked for the profile', async (t) => {
  const running = await IdentityProvider.start({ ada: { email: 'ada@example.com', name: 'Ada' } }, ['app.site.test']);
  t.after(() => running[Symbol.asyncDispose]());
  const { issuer } = running;
  const settings: SignInProvider = {
    name: 'github',
    issuer,
    clientId: postClientId,
    clientSecret,
    scopes: ['openid', 'email', 'profile'],
    groupsClaim: 'groups',
    differs: {
      oauth2: { authorize: `${issuer}/auth`, token: `${issuer}/token`, profile: `${issuer}/me`, subject: 'sub' },
    },
  };
  const provider = new Provider(settings, partsWith(fetch));
  const { url, address, secrets } = await signIn(provider, 'ada');
  assert.equal(new URL(url).searchParams.has('nonce'), false);
  assert.equal(new URL(url).searchParams.get('code_challenge_method'), 'S256');
  const { claims, token } = await provider.finish(address, secrets);
  assert.deepEqual([claims['sub'], claims['email'], claims['email_verified']], ['ada', 'ada@example.com', undefined]);
  assert.ok(token);
  await assert.rejects(provider.finish(address, secrets), LoginRefused, 'a code counts once');
  await assert.rejects(provider.finish(address.replace('state=', 'state=x'), secrets), LoginRefused);
});

test('a key of the provider that would cost a check many times the usual is no key for signed claims', async (t) => {
  const running = await IdentityProvider.start({ ada: { email: 'ada@example.com' } }, ['app.site.test']);
  t.after(() => running[Symbol.asyncDispose]());
  const seen: (readonly string[])[] = [];
  // Beside each key stands a costly one of the same name: with it, nobody could say which was meant.
  const withCostly: typeof fetch = async (url, options) => {
    const answer = await fetch(url, options);
    if (!url.endsWith('/jwks')) return answer;
    const { keys } = (await answer.json()) as { keys: Record<string, string>[] };
    seen.push(keys.map(({ kty = '' }) => kty));
    return Response.json({
      keys: keys.flatMap((key) => [key, { ...key, e: Buffer.alloc(256, 1).toString('base64url') }]),
    });
  };
  const scopes = ['openid', 'email'];
  const settings = { name: 'oidc', issuer: running.issuer, clientId, clientSecret, scopes, groupsClaim: 'groups' };
  const provider = new Provider(settings, partsWith(withCostly));
  const { address, secrets } = await signIn(provider, 'ada');
  assert.equal((await provider.finish(address, secrets)).claims['sub'], 'ada');
  assert.deepEqual(seen, [['RSA']]);
});

test('a provider that is away is told from one that refuses', async () => {
  const settings = {
    name: 'oidc',
    issuer: 'http://127.0.0.1:9',
    clientId,
    clientSecret,
    scopes: ['openid'],
    groupsClaim: 'groups',
  };
  await assert.rejects(new Provider(settings, partsWith(fetch)).begin(callback, undefined), ProviderDown);
});

test('a provider that has failed is not asked for its metadata by each login that begins, and soon again', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
  const running = await IdentityProvider.start({ ada: { email: 'ada@example.com' } }, ['app.site.test']);
  t.after(() => running[Symbol.asyncDispose]());
  let asked = 0;
  let isDown = true;
  const counted: typeof fetch = async (url, options) => {
    asked += 1;
    return isDown ? Response.json({ error: 'down' }, { status: 500 }) : fetch(url, options);
  };
  const scopes = ['openid', 'email'];
  const settings = { name: 'oidc', issuer: running.issuer, clientId, clientSecret, scopes, groupsClaim: 'groups' };
  const provider = new Provider(settings, partsWith(counted));
  for (let login = 0; login < 20; login++) await assert.rejects(provider.begin(callback, undefined), ProviderDown);
  assert.equal(asked, 1);
  isDown = false;
  t.mock.timers.tick(2_000);
  await provider.begin(callback, undefined);
  // Metadata that are known serve on, and a provider that fails again is left alone as before.
  isDown = true;
  t.mock.timers.tick(11_000);
  const before = asked;
  for (let login = 0; login < 20; login++) await assert.rejects(provider.begin(callback, undefined), ProviderDown);
  assert.equal(asked - before, 1);
  assert.ok((await provider.signOutUrl())?.startsWith(running.issuer));
  assert.equal(asked - before, 1);
});

test('metadata that were read by a clock ahead of today are read again', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 86_400_000 });
  const running = await IdentityProvider.start({ ada: { email: 'ada@example.com' } }, ['app.site.test']);
  t.after(() => running[Symbol.asyncDispose]());
  let asked = 0;
  const counted: typeof fetch = (url, options) => {
    asked += 1;
    return fetch(url, options);
  };
  const settings = {
    name: 'oidc',
    issuer: running.issuer,
    clientId,
    clientSecret,
    scopes: ['openid'],
    groupsClaim: 'groups',
  };
  const provider = new Provider(settings, partsWith(counted));
  await provider.begin(callback, undefined);
  await provider.signOutUrl();
  const before = asked;
  t.mock.timers.setTime(Date.now() - 86_400_000);
  await provider.signOutUrl();
  assert.equal(asked - before, 1, 'those that serve for an hour');
  t.mock.timers.setTime(Date.now() - 3_000_000);
  await provider.begin(callback, undefined);
  assert.equal(asked - before, 2, 'those that serve for ten seconds');
});

test('groups of GitHub are organizations and teams, and the address is the one that is verified', () => {
  const profile = { id: 583_231, login: 'octocat', name: null, email: 'shown@example.com' };
  const lists = {
    emails: [
      { email: 'new@example.com', primary: false, verified: false },
      { email: 'octocat@example.com', primary: true, verified: true },
    ],
    organizations: [{ login: 'acme' }],
    teams: [{ slug: 'ops', organization: { login: 'acme' } }],
  };
  assert.deepEqual(claimsOfProfile('id', { profile, lists }), {
    sub: '583231',
    name: 'octocat',
    email: 'octocat@example.com',
    email_verified: true,
    groups: ['acme', 'acme/ops'],
  });
  // The primary one counts before others, and only if it is verified.
  const [unverified, primary] = lists.emails;
  const other = { email: 'other@example.com', primary: false, verified: true };
  const addressOf = (...emails: readonly object[]) => {
    const { email, email_verified: verified } = claimsOfProfile('id', { profile, lists: { emails } });
    return [email, verified];
  };
  assert.deepEqual(addressOf(other, { ...primary }), ['octocat@example.com', true]);
  assert.deepEqual(addressOf({ ...unverified, primary: true }, other), ['other@example.com', true]);
  assert.deepEqual(addressOf({ ...unverified, primary: true }), ['shown@example.com', undefined]);
  const none = claimsOfProfile('id', { profile, lists: { emails: [lists.emails[0]] } });
  assert.deepEqual([none['email'], none['email_verified'], none['groups']], ['shown@example.com', undefined, []]);
  assert.equal(claimsOfProfile('id', { profile: {}, lists: {} })['sub'], undefined);
});
