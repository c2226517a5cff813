import assert from 'node:assert/strict';
import { test } from 'node:test';

import { requestVisit, signInOf } from '../../../test/support/step-visit.ts';
import { oidc } from '../../modules/oidc/index.ts';
import { holdsUntil, runSteps } from '../../modules/run-steps.ts';
import { judgeVisitor } from '../../modules/sign-in.ts';
import type { SignIn } from '../../modules/sign-in.ts';
import { signInStep } from '../../modules/sign-in-step.ts';
import { Signatures } from '../../sign-in/signatures.ts';
import { sessionCookieName } from './cookies.ts';
import { endOf, expiryOf, identityFrom, readSession, withIdToken, writeSession } from './session.ts';
import type { Session } from './session.ts';
import { publicKeys } from './upstream-token.ts';
import { VisitorKeys } from './visitor-keys.ts';
import { Visitors } from './visitors.ts';

function signIn(more: object = {}): SignIn {
  const input = { issuer: 'https://id.example.com', client_id: 'c', client_secret: 's', ...more };
  return signInOf(oidc.build({ ...oidc.accept(input), client_secret: 's' }));
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
    formerToken: undefined,
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
  assert.match(
    endOf(session({ seenAt: now + 301 }), rules, now) ?? '',
    /to come/,
    'nor is a use of a time to come one',
  );
  assert.equal(expiryOf(session(), rules), now + 600);
  assert.equal(expiryOf(session({ seenAt: now + 3500 }), rules), now + 3600, 'no use goes beyond its time');
});

test('where nothing is set a session lasts two weeks, and not longer', () => {
  const begun = session({ endsAt: Infinity, seenAt: now + 1_209_599 });
  assert.equal(endOf(begun, signIn(), now + 1_209_599), undefined);
  assert.match(endOf(begun, signIn(), now + 1_209_600) ?? '', /as long as it may/);
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
  const keys = withKey();
  for (const idToken of [undefined, 't', 't'.repeat(5000)]) {
    const own = session({ visitor });
    const text = writeSession(idToken === undefined ? own : withIdToken(own, idToken));
    const sealed = keys.seal(text, 'here');
    assert.ok(sealed.length < 3800, `${sealed.length}`);
    assert.deepEqual(readSession(keys.open(sealed, 'here')!).visitor, visitor);
  }
  const sealed = keys.seal('{}', 'here');
  assert.equal(keys.open(sealed, 'there'), undefined);
});

test('a token of the provider is kept where a cookie has room for it', () => {
  const kept = (idToken?: string) => readSession(writeSession(withIdToken(session(), idToken))).idToken;
  assert.equal(kept('a'.repeat(2000)), 'a'.repeat(2000));
  assert.equal(kept('a'.repeat(3000)), '');
  assert.equal(kept(), '', 'nobody is asked to sign in for it again');
  assert.equal(readSession(writeSession(session())).idToken, undefined);
});

test('keys are changed, and those before still open', async () => {
  const keys = withKey();
  const sealed = keys.seal('text', 'here');
  const second = Buffer.alloc(32, 2).toString('base64');
  const set = [{ kind: 'visitor_key', id: '2', secret: second, privateJwk: '{}' }] as const;
  keys.prepare({ version: 2, full: false, removed: [], set }, assert.fail)();
  assert.match(keys.seal('text', 'here'), /^2\./);
  assert.equal(keys.open(sealed, 'here'), 'text');
  // Upstreams hold tokens of both.
  const shown = (await publicKeys(keys)).keys.map(({ kid }) => kid);
  assert.deepEqual(shown, ['2', '1']);
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

test('a claim of another route is asked for again, unless all of its values are known', () => {
  const [sales, support] = [['sales'], ['support']].map((department) => signIn({ claims: { department } }));
  const judge = (department: unknown, rules = support!) =>
    judgeVisitor(rules.mayEnter, identityFrom({ sub: 'ada', department }, sales!));
  assert.equal(judge(['sales', 'support']), 'enters');
  assert.equal(judge(['sales']), 'refused');
  const many = ['sales', 'support', ...Array.from({ length: 500 }, (_, at) => `d${at}`)];
  assert.equal(judge(many, sales), 'enters');
  assert.equal(judge(many), 'unknown', 'too many to keep');
  const former = { ...identityFrom({ sub: 'ada' }, sales!), claims: { department: ['sales'] } };
  assert.equal(judgeVisitor(support!.mayEnter, former), 'unknown', 'as older releases kept it');
});

test('a group of another route is asked for again where there are more than were kept', () => {
  const ids = Array.from({ length: 60 }, (_, at) => `00000000-0000-4000-8000-0000000000${String(at).padStart(2, '0')}`);
  const [first, late, none] = [ids[3], ids[55], 'another'].map((group) => signIn({ groups: [group] }));
  const judge = (groups: readonly string[], rules = late!) =>
    judgeVisitor(
      rules.mayEnter,
      readSession(writeSession(session({ visitor: identityFrom({ sub: 'ada', groups }, first!) }))).visitor,
    );
  assert.equal(judge(ids, first), 'enters');
  assert.equal(judge(ids), 'unknown');
  assert.equal(judge(ids, none), 'unknown');
  assert.equal(judge(ids.slice(0, 10)), 'refused', 'all of them are known');
  assert.equal(judge(ids, signIn({ email_domains: ['example.com'] })), 'refused', 'no group is asked for');
  const again = identityFrom({ sub: 'ada', groups: ids }, late!);
  assert.equal(judgeVisitor(late!.mayEnter, again), 'enters');
});

test('a whole snapshot forgets sessions that it does not name as ended', () => {
  const keys = withKey();
  const update = (full: boolean, ids: readonly string[]) =>
    keys.prepare(
      { version: 2, full, removed: [], set: ids.map((id) => ({ kind: 'ended_session' as const, id })) },
      () => {},
    )();
  update(false, ['as_1', 'as_2']);
  const isEnded = (id: string) => keys.isEnded({ id, accountId: 'ac_1', edgeId: 'e', person: 'p', signedInAt: 1 });
  assert.deepEqual([isEnded('as_1'), isEnded('as_2')], [true, true]);
  update(true, ['as_2']);
  assert.deepEqual([isEnded('as_1'), isEnded('as_2')], [false, true]);
});

/** Visitors who have sessions by these rules, all of them of now. */
function visitWith(keys: VisitorKeys, sessions: readonly (readonly [rules: SignIn, session: Session])[]) {
  const sealed = sessions.map(([rules, each]) => {
    const text = keys.seal(writeSession(each), `visitor session ac_1 edghts_1 app.example.com ${rules.key}`);
    return `${sessionCookieName(rules)}=${text}`;
  });
  const visit = requestVisit({ headers: ['Cookie', sealed.join('; ')] });
  const log = { info() {}, warn() {}, error() {} };
  const observer = { visitorSeen() {}, visitorLeft() {} };
  const fetchFor = () => () => assert.fail('nobody is asked');
  const signatures = new Signatures({ fetchFor, log });
  return {
    visit,
    visitors: new Visitors({
      keys,
      observer,
      log,
      fetchFor,
      signatures,
      secrets: { get: () => undefined },
      clock: () => now * 1000,
    }),
  };
}

test('a connection ends when its network is no longer that of the rule, whatever its session says', () => {
  const rules = signIn({ network: 'and_login', ip_policy_ids: ['ipp_1'] });
  const { visit, visitors } = visitWith(withKey(), [[rules, session()]]);
  const holds = (isInside: boolean) => {
    const access = { allows: () => isInside, denies: () => !isInside, isUnloadable: () => false };
    const services = { ...visit.services, access, logins: visitors };
    return signInStep(rules).holds({ ...visit, services });
  };
  assert.deepEqual([holds(true), holds(false)], [session().endsAt * 1000, 0]);
});

test('a preflight that passes without a login has no identity, and none that a rule has put there', () => {
  const step = signInStep(signIn({ options_passthrough: true }));
  const visit = requestVisit({ method: 'OPTIONS' });
  assert.equal(step.run(visit), undefined);
  assert.deepEqual(visit.identity, []);
});

test('where two logins are needed, the first that ends counts, in either order, and both cookies are renewed', () => {
  const [one, other] = [signIn(), signIn({ client_id: 'd' })];
  for (const [first, second] of [
    [600, 1200],
    [1200, 600],
  ] as const) {
    const seenAt = now - 400;
    const { visit, visitors } = visitWith(withKey(), [
      [one, session({ id: 'as_1', seenAt, endsAt: now + first })],
      [other, session({ id: 'as_2', seenAt, endsAt: now + second })],
    ]);
    const steps = [one, other].map((rules) => ({
      run: () => visitors.admit(visit, rules, false),
      holds: () => visitors.holds(visit, rules),
    }));
    assert.equal(runSteps(steps, { ...visit, at: 0, done: undefined }), undefined);
    assert.equal(holdsUntil(steps, visit, 2, now * 1000), (now + 600) * 1000);
    assert.deepEqual(
      visit.cookies.map((cookie) => cookie.split('=')[0]),
      [one, other].map(sessionCookieName),
    );
  }
});
