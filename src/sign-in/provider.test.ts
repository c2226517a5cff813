import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';

import { clientId, clientSecret, IdentityProvider, postClientId } from '../../test/support/identity-provider.ts';
import { Visitor } from '../../test/support/visitor.ts';
import type { SignInProvider } from '../modules/sign-in.ts';
import { createFetch } from './guarded-fetch.ts';
import { claimsOfProfile } from './profile-claims.ts';
import { LoginRefused, Provider, ProviderDown } from './provider.ts';

const callback = 'https://app.site.test/.gatehouse/sign-in/callback';
const fetch = createFetch(({ host, port }, _options, established) => connect({ host, port }, established));

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
  const provider = new Provider(settings, fetch);
  const { url, address, secrets } = await signIn(provider, 'ada');
  assert.equal(new URL(url).searchParams.has('nonce'), false);
  assert.equal(new URL(url).searchParams.get('code_challenge_method'), 'S256');
  const { claims, token } = await provider.finish(address, secrets);
  assert.deepEqual([claims['sub'], claims['email'], claims['email_verified']], ['ada', 'ada@example.com', undefined]);
  assert.ok(token);
  await assert.rejects(provider.finish(address, secrets), LoginRefused, 'a code counts once');
  await assert.rejects(provider.finish(address.replace('state=', 'state=x'), secrets), LoginRefused);
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
  await assert.rejects(new Provider(settings, fetch).begin(callback, undefined), ProviderDown);
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
  const none = claimsOfProfile('id', { profile, lists: { emails: [lists.emails[0]] } });
  assert.deepEqual([none['email'], none['email_verified'], none['groups']], ['shown@example.com', undefined, []]);
  assert.equal(claimsOfProfile('id', { profile: {}, lists: {} })['sub'], undefined);
});
