import assert from 'node:assert/strict';
import { test } from 'node:test';

import { signInOf } from '../../../test/support/step-visit.ts';
import { UserError } from '../../errors/user-error.ts';
import { claimsOfProfile } from '../../sign-in/profile-claims.ts';
import { judgeVisitor } from '../sign-in.ts';
import { oauth } from './index.ts';
import { profileClaims, providerNames } from './providers.ts';

const github = { client_id: 'c', client_secret: 's', organizations: ['acme'], email_domains: ['Example.com'] };

test('one provider is named, with its own settings', () => {
  const stored = oauth.accept({ provider: { github } });
  assert.deepEqual(
    [stored.provider, stored.cookie_prefix, stored.email_domains],
    ['github', 'gatehouse.', ['example.com']],
  );
  const shown = oauth.present(stored, (_kind, id) => ({ id, uri: id })) as { provider: Record<string, unknown> };
  assert.deepEqual(Object.keys(shown.provider), [...providerNames]);
  assert.deepEqual(shown.provider['google'], null);
  assert.doesNotMatch(JSON.stringify(shown), /digest|salt|"s"/);
  for (const provider of [{}, { github, google: github }])
    assert.throws(
      () => oauth.accept({ provider }),
      (error) => error instanceof UserError && error.status === 400,
    );
});

test('its concealed form asks for what is stored, and its secret goes to no other provider', () => {
  const stored = oauth.accept({ provider: { github }, groups: ['x'] });
  const concealed = oauth.secrets!.conceal(stored) as never;
  assert.deepEqual(concealed, {
    enabled: true,
    groups: ['x'],
    provider: { github: { client_id: 'c', email_domains: ['example.com'], organizations: ['acme'] } },
  });
  assert.equal(oauth.isSame?.(concealed, stored), true);
  const kept = oauth.secrets!.keep(oauth.accept(concealed), stored);
  assert.equal(kept.client_secret, stored.client_secret);
  const google = { client_id: 'c', email_domains: ['example.com'] };
  assert.throws(() => oauth.secrets!.keep(oauth.accept({ provider: { google } }), stored), /client secret/);
});

test('a rule that the provider has no answer to is refused by its name', () => {
  const refused = (provider: string, own: object, shared: object = {}): string | undefined => {
    try {
      oauth.accept({ ...shared, provider: { [provider]: { client_id: 'c', client_secret: 's', ...own } } });
      return undefined;
    } catch (error) {
      return error instanceof UserError ? /^The rule (\S+) /.exec(error.message)?.[1] : assert.fail(String(error));
    }
  };
  const rules = (provider: string) => ({
    organizations: refused(provider, { organizations: ['a'], email_domains: [] }),
    teams: refused(provider, { teams: ['a/b'] }),
    groups: refused(provider, {}, { groups: ['g'] }),
    addresses: refused(provider, { email_addresses: ['ada@example.com'] }),
    domains: refused(provider, { email_domains: ['example.com'] }),
    claims: refused(provider, {}, { claims: { department: ['x'] } }),
  });
  const nothing = { organizations: undefined, teams: undefined, groups: undefined, claims: undefined };
  const emails = { addresses: undefined, domains: undefined };
  const named = (name: string) => ({
    organizations: `provider.${name}.organizations`,
    teams: `provider.${name}.teams`,
  });
  const unverified = (name: string) => ({
    addresses: `provider.${name}.email_addresses`,
    domains: `provider.${name}.email_domains`,
  });
  const groups = { groups: 'groups' };
  const claims = { claims: 'claims' };
  const expected: Readonly<Record<(typeof providerNames)[number], object>> = {
    github: { ...nothing, ...emails, ...claims },
    facebook: { ...named('facebook'), ...unverified('facebook'), ...groups, ...claims },
    microsoft: { ...nothing, ...named('microsoft'), ...unverified('microsoft') },
    google: { ...nothing, ...named('google'), ...emails, ...groups },
    linkedin: { ...nothing, ...named('linkedin'), ...emails, ...groups },
    gitlab: { ...nothing, ...named('gitlab'), ...emails },
    twitch: { ...nothing, ...named('twitch'), ...emails, ...groups },
    amazon: { ...named('amazon'), ...unverified('amazon'), ...groups, ...claims },
  };
  for (const name of providerNames) assert.deepEqual(rules(name), expected[name], name);
  assert.equal(refused('microsoft', { email_domains: ['example.com'] }, { unverified_email: true }), undefined);
  assert.equal(refused('github', {}, { claims: { groups: ['a'], email: ['b'] } }), undefined);
  assert.equal(refused('amazon', {}, { claims: { groups: ['a'] } }), 'claims');
  assert.equal(refused('google', { organizations: [], teams: [] }), undefined, 'a rule without values is none');
});

test('claims of a profile are those that rules may name', () => {
  const person = { id: 1, login: 'ada', email: 'a@b.c' };
  const emails = [{ email: 'a@b.c', primary: true, verified: true }];
  const claims = claimsOfProfile('id', { profile: person, lists: { emails, organizations: [], teams: [] } });
  assert.deepEqual(new Set(Object.keys(claims)), new Set(profileClaims));
});

test('members of organizations and teams may enter', () => {
  const stored = oauth.accept({ provider: { github: { ...github, teams: ['acme/ops'], email_domains: [] } } });
  const { mayEnter, provider } = signInOf(oauth.build({ ...stored, client_secret: 's' }));
  const visitor = { subject: '1', email: undefined, emailVerified: false, name: undefined, claims: {} };
  assert.equal(judgeVisitor(mayEnter, { ...visitor, groups: ['acme'] }), 'enters');
  assert.equal(judgeVisitor(mayEnter, { ...visitor, groups: ['acme/ops'] }), 'enters');
  assert.equal(judgeVisitor(mayEnter, { ...visitor, groups: ['acme/other'] }), 'refused');
  assert.ok(provider.differs?.oauth2);
});

test('a text without "@" is no address of a domain', () => {
  const google = { client_id: 'c', client_secret: 's', email_domains: ['example.com'] };
  const part = oauth.build({ ...oauth.accept({ provider: { google } }), client_secret: 's' });
  const rules = signInOf(part).mayEnter;
  const judge = (email: string) =>
    judgeVisitor(rules, { subject: 's', email, emailVerified: true, name: undefined, groups: [], claims: {} });
  assert.deepEqual(['a@example.com', 'example.com', '@example.com', 'example.com@'].map(judge), [
    'enters',
    'refused',
    'refused',
    'refused',
  ]);
});

test('addresses that only look alike are others', () => {
  const google = { client_id: 'c', client_secret: 's', email_addresses: ['Mike@Example.com'] };
  const part = oauth.build({ ...oauth.accept({ provider: { google } }), client_secret: 's' });
  const rules = signInOf(part).mayEnter;
  const judge = (email: string) =>
    judgeVisitor(rules, { subject: 's', email, emailVerified: true, name: undefined, groups: [], claims: {} });
  assert.deepEqual(['mike@example.com', 'MIKE@EXAMPLE.COM'].map(judge), ['enters', 'enters']);
  assert.deepEqual(['mi\u212Ae@example.com', 'm\u0130ke@example.com', 'MI\u212AE@example.com'].map(judge), [
    'refused',
    'refused',
    'refused',
  ]);
});
