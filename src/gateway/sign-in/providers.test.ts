import assert from 'node:assert/strict';
import { test } from 'node:test';

import { signInOf } from '../../../test/support/step-visit.ts';
import { oidc } from '../../modules/oidc/index.ts';
import { Signatures } from '../../sign-in/signatures.ts';
import { Providers } from './providers.ts';

const log = { info() {}, warn() {}, error() {} };
const settingsOf = (client_id: string, issuer = 'https://id.example.com') => {
  const input = { issuer, client_id, client_secret: 's' };
  return signInOf(oidc.build({ ...oidc.accept(input), client_secret: 's' })).provider;
};

/** Providers whose metadata have these fields beside the usual ones. */
function providersWith(more: object): Providers {
  const fetchFor = () => async (url: string) => {
    const { origin } = new URL(url);
    const usual = { issuer: origin, authorization_endpoint: `${origin}/a`, token_endpoint: `${origin}/t` };
    const text = JSON.stringify({ ...usual, jwks_uri: `${origin}/k`, ...more });
    return new Response(text, { headers: { 'content-type': 'application/json' } });
  };
  return new Providers({
    fetchFor,
    signatures: new Signatures({ fetchFor, log }),
    log,
    secrets: { get: () => undefined },
  });
}

test('an account with many providers makes no other account lose what is known of its own', () => {
  const providers = providersWith({});
  const own = providers.get('ac_1', settingsOf('c'));
  for (let at = 0; at < 3_000; at++) providers.get('ac_2', settingsOf(`c${at}`));
  assert.equal(providers.get('ac_1', settingsOf('c')), own);
  assert.notEqual(providers.get('ac_2', settingsOf('c')), own, 'accounts share none');
});

test('what is set otherwise makes another provider: a new secret is used at once', () => {
  const providers = providersWith({});
  const settings = settingsOf('c');
  const own = providers.get('ac_1', settings);
  assert.equal(providers.get('ac_1', { ...settings }), own);
  for (const other of [{ clientSecret: 't' }, { scopes: ['openid'] }, { groupsClaim: 'roles' }])
    assert.notEqual(providers.get('ac_1', { ...settings, ...other }), own, JSON.stringify(other));
});

test('providers are kept by the size of their metadata, of which only the fields that are used count', async () => {
  const keptOf = async (more: object) => {
    const providers = providersWith(more);
    const own = providers.get('ac_1', settingsOf('c'));
    const others = Array.from({ length: 900 }, (_, at) => settingsOf('c', `https://id${at}.example.com`));
    const known = others.map((settings) => providers.get('ac_2', settings));
    for (const each of known) await each.begin('https://app.example.com/callback', undefined);
    assert.equal(providers.get('ac_1', settingsOf('c')), own);
    // The newest first: one that is not known any more is made anew, in place of an older one.
    return others.filter((_, at) => providers.get('ac_2', others.at(-1 - at)!) === known.at(-1 - at)).length;
  };
  const values = Array(32).fill('x'.repeat(64));
  const lists = { id_token_signing_alg_values_supported: values, userinfo_signing_alg_values_supported: values };
  const long = `https://id.example.com/${'x'.repeat(2_000)}`;
  assert.equal(await keptOf({ claims_supported: Array(2_000).fill('a claim that nobody asks for') }), 900);
  assert.equal(await keptOf({ userinfo_endpoint: `${long}${'x'.repeat(50_000)}` }), 900, 'a longer text is none');
  const kept = await keptOf({ ...lists, userinfo_endpoint: long, end_session_endpoint: long });
  assert.ok(kept > 200 && kept < 600, `${kept} with large metadata`);
});
