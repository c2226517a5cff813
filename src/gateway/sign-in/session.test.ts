import assert from 'node:assert/strict';
import { test } from 'node:test';

import { oidc } from '../../modules/oidc/index.ts';
import type { SignIn } from '../../modules/sign-in.ts';
import { endOf, expiryOf, identityFrom, readSession, writeSession } from './session.ts';
import type { Session } from './session.ts';
import { VisitorKeys } from './visitor-keys.ts';

function signIn(more: object = {}): SignIn {
  const input = { issuer: 'https://id.example.com', client_id: 'c', client_secret: 's', ...more };
  return oidc.build({ ...oidc.accept(input), client_secret: 's' }).signIn!;
}

const now = 1_800_000_000;

function session(more: Partial<Session> = {}): Session {
  const visitor = identityFrom({ sub: 'ada', email: 'ada@example.com' }, signIn());
  return {
    id: 'as_1',
    visitor,
    signedInAt: now,
    seenAt: now,
    checkedAt: now,
    endsAt: now + 86_400,
    token: undefined,
    ...more,
  };
}

test('a session ends by its use, by its time, and when the clock says that it is of a time to come', () => {
  const rules = signIn({ inactivity_timeout: 600, maximum_duration: 3600 });
  assert.equal(endOf(session(), rules, now + 599), undefined);
  assert.match(endOf(session(), rules, now + 600) ?? '', /not used/);
  assert.equal(endOf(session({ seenAt: now + 3500 }), rules, now + 3599), undefined);
  assert.match(endOf(session({ seenAt: now + 3500 }), rules, now + 3600) ?? '', /as long as it may/);
  assert.match(endOf(session({ endsAt: now + 60 }), rules, now + 60) ?? '', /as long as it may/);
  // A clock that was ahead when it began, and was set right.
  assert.match(endOf(session(), rules, now - 301) ?? '', /to come/);
  assert.equal(endOf(session(), rules, now - 299), undefined, 'clocks may differ a little');
  assert.equal(expiryOf(session(), rules), now + 600);
});

test('a limit that is lowered holds at once, and one that is raised does not bring a session back', () => {
  const begun = session({ endsAt: now + 3600 });
  assert.notEqual(endOf(begun, signIn({ maximum_duration: 60 }), now + 60), undefined);
  assert.notEqual(endOf(begun, signIn({ maximum_duration: 86_400 }), now + 3600), undefined);
});

test('a cookie stays within what browsers take, whatever the provider tells', () => {
  const many = Array.from({ length: 500 }, (_, at) => `group-${at}-${'x'.repeat(30)}`);
  const rules = signIn({ groups: [many.at(-1)] });
  const claims = { sub: 's'.repeat(255), email: `${'e'.repeat(240)}@example.com`, name: 'ż'.repeat(60), groups: many };
  const visitor = identityFrom(claims, rules);
  assert.equal(visitor.groups[0], many.at(-1), 'those that rules name come first');
  const token = { kind: 'refresh', value: 't'.repeat(1400) } as const;
  const text = writeSession(session({ visitor, token }));
  const keys = withKey();
  const sealed = keys.seal(text, 'here');
  assert.ok(sealed.length < 3800, `${sealed.length}`);
  assert.deepEqual(readSession(keys.open(sealed, 'here')!).visitor, visitor);
  assert.equal(keys.open(sealed, 'there'), undefined);
});

test('keys are changed, and those before still open', () => {
  const keys = withKey();
  const sealed = keys.seal('text', 'here');
  const second = Buffer.alloc(32, 2).toString('base64');
  const set = [{ kind: 'visitor_key', id: '2', secret: second, privateJwk: '{}' }] as const;
  keys.prepare({ version: 2, full: false, removed: [], set }, assert.fail)();
  assert.match(keys.seal('text', 'here'), /^2\./);
  assert.equal(keys.open(sealed, 'here'), 'text');
  keys.prepare({ version: 3, full: false, removed: [{ kind: 'visitor_key', id: '1' }], set: [] }, assert.fail)();
  assert.equal(keys.open(sealed, 'here'), undefined);
  const faults: unknown[] = [];
  const damaged = [{ kind: 'visitor_key', id: '3', secret: '', privateJwk: '', fault: 'does not open' }] as const;
  keys.prepare({ version: 4, full: false, removed: [], set: damaged }, (entry) => faults.push(entry.id))();
  assert.deepEqual(faults, ['3']);
  assert.match(keys.seal('text', 'here'), /^2\./);
});

function withKey(): VisitorKeys {
  const keys = new VisitorKeys();
  const secret = Buffer.alloc(32, 1).toString('base64');
  const set = [{ kind: 'visitor_key', id: '1', secret, privateJwk: '{}' }] as const;
  keys.prepare({ version: 1, full: true, removed: [], set }, assert.fail)();
  return keys;
}
