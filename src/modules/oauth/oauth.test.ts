import assert from 'node:assert/strict';
import { test } from 'node:test';

import { UserError } from '../../errors/user-error.ts';
import { judgeVisitor } from '../sign-in.ts';
import { oauth } from './index.ts';
import { providerNames } from './providers.ts';

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
  const { client_secret: _secret, ...other } = github;
  assert.throws(() => oauth.secrets!.keep(oauth.accept({ provider: { google: other } }), stored), /client secret/);
});

test('members of organizations and teams may enter', () => {
  const stored = oauth.accept({ provider: { github: { ...github, teams: ['acme/ops'], email_domains: [] } } });
  const { mayEnter, provider } = oauth.build({ ...stored, client_secret: 's' }).signIn!;
  const visitor = { subject: '1', email: undefined, emailVerified: false, name: undefined, claims: {} };
  assert.equal(judgeVisitor(mayEnter, { ...visitor, groups: ['acme'] }), 'enters');
  assert.equal(judgeVisitor(mayEnter, { ...visitor, groups: ['acme/ops'] }), 'enters');
  assert.equal(judgeVisitor(mayEnter, { ...visitor, groups: ['acme/other'] }), 'refused');
  assert.ok(provider.differs?.oauth2);
});
