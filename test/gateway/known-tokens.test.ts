import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { suite, test } from 'node:test';
import type { TestContext } from 'node:test';

import { UserError } from '../../src/errors/user-error.ts';
import { Tokens } from '../../src/gateway/sign-in/tokens.ts';
import type { TokenRule } from '../../src/modules/sign-in.ts';
import { createFetch } from '../../src/sign-in/guarded-fetch.ts';
import { Signatures } from '../../src/sign-in/signatures.ts';
import { until } from '../e2e/gateway/support/until.ts';
import { audience, TokenIssuer } from './support/token-issuer.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const start = 1_800_000_000_000;

/** How a request is decided: at once, or after a check. */
type Outcome = 'known' | 'checked' | number;

/** The tokens of a gateway with a clock of its own, and an issuer with the key "a". */
async function startTokens(
  t: TestContext,
  { answerMs = 10_000, ...more }: Partial<TokenRule> & { answerMs?: number } = {},
) {
  const issuer = await TokenIssuer.start('a');
  t.after(() => issuer[Symbol.asyncDispose]());
  const clock = { ms: start };
  const logged: string[] = [];
  const note = (_fields: object, message: string) => void logged.push(message);
  const signatures = new Signatures({
    // Every name leads here.
    fetchFor: createFetch(({ port }, _options, established) => connect(port, '127.0.0.1', established)),
    log: { warn: note, info: note },
    clock: () => clock.ms,
    answerMs,
  });
  const tokens = new Tokens({ signatures, clock: () => clock.ms });
  const rule: TokenRule = {
    key: 'rule',
    issuer: issuer.url,
    audiences: [audience],
    algorithms: ['ES256', 'RS256'],
    jwksUri: `${issuer.url}/keys`,
    skewSeconds: 60,
    header: 'authorization',
    claims: [],
    ...more,
  };
  const decide = async (token: string, { accountId = 'acc_a', by = rule } = {}): Promise<Outcome> => {
    const checked = tokens.check(accountId, by, ['Authorization', `Bearer ${token}`]);
    if (typeof checked === 'number') return 'known';
    if (checked instanceof UserError) return checked.status;
    assert.ok(checked.kind === 'wait');
    assert.equal(await checked.start(), undefined);
    return 'checked';
  };
  /** The outcome after a check, if one is needed. */
  const settle = async (...given: Parameters<typeof decide>): Promise<Outcome> => {
    const outcome = await decide(...given);
    return outcome === 'checked' ? decide(...given) : outcome;
  };
  const sign = (kid = 'a', seconds = 1e6, claims = {}) => issuer.token(claims, kid, seconds, clock.ms);
  return { issuer, clock, logged, tokens, rule, decide, settle, sign };
}

suite('a token', () => {
  test('is checked once, again while keys may have changed, and when it has ended', async (t) => {
    const { tokens, clock, rule, decide, sign } = await startTokens(t);
    const token = await sign('a', 3600);
    assert.equal(await decide(token), 'checked');
    assert.equal(await decide(token), 'known');
    const untilMs = start + hourMs + rule.skewSeconds * 1000;
    assert.equal(tokens.check('acc_a', rule, ['authorization', `Bearer ${token}`]), untilMs);
    clock.ms += 5 * minuteMs - 1;
    assert.equal(await decide(token), 'known');
    clock.ms += 1;
    assert.equal(await decide(token), 'checked');
    assert.equal(await decide(token), 'known');
    clock.ms = untilMs - 1;
    assert.equal(await decide(token), 'checked');
    assert.equal(await decide(token), 'known');
    clock.ms += 2000;
    assert.equal(await decide(token), 'checked');
    assert.equal(await decide(token), 401);
  });

  test('is checked again when the clock was set back', async (t) => {
    const { issuer, clock, decide, sign } = await startTokens(t);
    const token = await sign();
    assert.equal(await decide(token), 'checked');
    clock.ms -= hourMs;
    const asked = issuer.asked.length;
    assert.equal(await decide(token), 'checked');
    assert.equal(await decide(token), 'known');
    assert.equal(issuer.asked.length, asked + 1, 'by keys that are read again');
  });

  test('is checked by keys whose age counts from when they were asked for', async (t) => {
    const { issuer, clock, settle, sign } = await startTokens(t);
    issuer.beforeAnswer = () => {
      clock.ms += 200_000;
      issuer.beforeAnswer = () => {};
    };
    assert.equal(await settle(await sign()), 'known');
    assert.equal(issuer.asked.length, 1);
    clock.ms = start + 4 * minuteMs;
    assert.equal(await settle(await sign('a', 2000)), 'known');
    await until(() => issuer.asked.length === 2, 'they are read again before they are five minutes old');
  });

  test('of a key that the issuer has taken away lets nobody in ten minutes later, however often it is used', async (t) => {
    const usedAt = {
      often: Array.from({ length: 30 }, (_, at) => (at + 1) * 20_000),
      'right before each end': [4, 5, 9, 10].map((minutes) => minutes * minuteMs - 1),
      'as late as it can be': [5 * minuteMs - 1, 10 * minuteMs - 2],
      seldom: [],
    };
    for (const [how, times] of Object.entries(usedAt)) {
      const { issuer, clock, settle, sign } = await startTokens(t);
      const token = await sign();
      assert.equal(await settle(token), 'known');
      issuer.shown.clear();
      for (const time of times) {
        clock.ms = start + time;
        await settle(token);
      }
      clock.ms = start + 10 * minuteMs;
      assert.equal(await settle(token), 401, how);
    }
  });

  test('of a new key is good, and one of an old key refused, ten minutes after the issuer has moved its keys', async (t) => {
    const { issuer, clock, settle, sign } = await startTokens(t, { jwksUri: '' });
    const old = await sign();
    assert.equal(await settle(old), 'known');
    issuer.elsewhere.set('/keys', [...issuer.shown.values()]);
    issuer.shown.clear();
    await issuer.addKey('b');
    issuer.metadata = { jwks_uri: `${issuer.url}/moved` };
    clock.ms += 10 * minuteMs;
    assert.equal(await settle(old), 401);
    assert.equal(await settle(await sign('b')), 'known');
  });

  test('that is refused counts from when it was found so, however long the issuer took', async (t) => {
    const { issuer, clock, decide, sign } = await startTokens(t);
    issuer.fault = 500;
    issuer.beforeAnswer = () => (clock.ms += 10_000);
    const token = await sign();
    assert.equal(await decide(token), 'checked');
    assert.equal(await decide(token), 503);
    clock.ms += 4_999;
    assert.equal(await decide(token), 503);
    clock.ms += 1;
    issuer.fault = undefined;
    assert.equal(await decide(token), 'checked');
    assert.equal(await decide(token), 'known');
  });

  test('is answered while the issuer hangs, and known keys go on', async (t) => {
    const { issuer, clock, settle, sign } = await startTokens(t, { answerMs: 50 });
    issuer.fault = 'hangs';
    assert.equal(await settle(await sign()), 503);
    issuer.fault = undefined;
    clock.ms += 5_000;
    assert.equal(await settle(await sign('a', 1000)), 'known');
    issuer.fault = 'hangs';
    clock.ms += hourMs;
    assert.equal(await settle(await sign('a', 2000)), 'known', 'after the issuer had its time');
    const asked = issuer.asked.length;
    assert.equal(await settle(await sign('a', 3000)), 'known');
    assert.equal(issuer.asked.length, asked, 'nobody waits for it again');
  });

  test('needs each claim of the rule, also where it names one alone', async (t) => {
    const { settle, sign } = await startTokens(t, { claims: [['scope', new Set(['orders:read'])]] });
    assert.equal(await settle(await sign('a', 100, { scope: 'orders:read more' })), 'known');
    assert.equal(await settle(await sign('a', 100, { scope: 'orders:write' })), 401);
    assert.equal(await settle(await sign('a', 100, { scope: ['orders:read'] })), 'known');
    assert.equal(await settle(await sign('a', 100)), 401);
  });

  test('has one value in each text, but for its scopes', async (t) => {
    const { settle, sign } = await startTokens(t, { claims: [['role', new Set(['admin'])]] });
    assert.equal(await settle(await sign('a', 100, { role: 'no admin' })), 401);
    assert.equal(await settle(await sign('a', 100, { role: 'admin' })), 'known');
  });

  test('stands in one line, and is not looked at beyond 8 kB', async (t) => {
    const { tokens, rule, settle, sign } = await startTokens(t);
    const token = await sign();
    assert.equal(await settle(token), 'known');
    const line = ['Authorization', `Bearer ${token}`];
    for (const second of [line, ['authorization', 'x'], ['AUTHORIZATION', '']])
      assert.ok(tokens.check('acc_a', rule, [...line, ...second]) instanceof UserError);
    const long = async (length: number) => {
      const others = (await sign('a', 100, { more: '' })).length;
      return sign('a', 100, { more: 'x'.repeat(Math.floor(((length - others) * 3) / 4)) });
    };
    assert.equal(await settle(await long(8_000)), 'known');
    assert.equal(await settle(await long(8_300)), 401);
  });

  test('that many requests carry at once is checked once', async (t) => {
    const { decide, sign } = await startTokens(t);
    const token = await sign();
    const outcomes = await Promise.all(Array.from({ length: 2_000 }, () => decide(token)));
    assert.deepEqual(new Set(outcomes), new Set(['checked']));
    assert.equal(await decide(token), 'known');
  });

  test('that comes to two accounts at once is known at both after one check of each', async (t) => {
    const { decide, sign } = await startTokens(t);
    const token = await sign();
    for (const expected of ['checked', 'known']) {
      const outcomes = ['acc_a', 'acc_b'].map((accountId) => decide(token, { accountId }));
      assert.deepEqual(await Promise.all(outcomes), [expected, expected]);
    }
  });
});

suite('keys of an issuer', () => {
  test('are those of its own metadata, which name an address that nobody can change on the way', async (t) => {
    const { issuer, clock, settle, sign } = await startTokens(t, { jwksUri: '' });
    for (const metadata of [
      { issuer: 'https://other.example' },
      { issuer: `${issuer.url}/` },
      { jwks_uri: issuer.url.replace('127.0.0.1', 'keys.example') },
      { jwks_uri: undefined },
    ]) {
      issuer.metadata = metadata;
      assert.equal(await settle(await sign()), 503, JSON.stringify(metadata));
      clock.ms += 5_000;
    }
    issuer.metadata = { jwks_uri: `${issuer.url}/keys?policy=sign-in` };
    assert.equal(await settle(await sign()), 'known');
    assert.equal(issuer.asked.at(-1), '/keys?policy=sign-in');
  });

  test('that cannot be read are logged once, and once more when they can', async (t) => {
    const { issuer, clock, logged, settle, sign } = await startTokens(t);
    await issuer.addKey('hidden');
    issuer.shown.delete('hidden');
    assert.equal(await settle(await sign()), 'known');
    for (let round = 0; round < 3; round++) {
      issuer.fault = 500;
      for (let minute = 0; minute < 30; minute++) {
        clock.ms += minuteMs;
        assert.equal(await settle(await sign()), 'known', 'known keys serve');
        await nextTurn();
      }
      // Waits for the reading that is under way.
      assert.equal(await settle(await sign('hidden')), 503);
      issuer.fault = undefined;
      clock.ms += 10 * minuteMs;
      // One that fits no key has them read, and waits for it.
      await issuer.addKey(`new ${round}`);
      assert.equal(await settle(await sign(`new ${round}`)), 'known');
    }
    const [away, back] = [
      'the keys of an issuer of tokens cannot be read',
      'the keys of an issuer of tokens can be read again',
    ];
    assert.deepEqual(logged, [away, back, away, back, away, back]);
  });

  test('are asked for once in a while by tokens that fit none, and without an answer nobody says that they are wrong', async (t) => {
    const { issuer, clock, settle, sign } = await startTokens(t);
    assert.equal(await settle(await sign()), 'known');
    await issuer.addKey('b');
    issuer.shown.delete('b');
    clock.ms += 5_000;
    const asked = issuer.asked.length;
    for (let round = 0; round < 20; round++) assert.equal(await settle(await sign('b', 100 + round)), 401);
    assert.equal(issuer.asked.length, asked + 1);
    issuer.fault = 500;
    clock.ms += 5_000;
    for (let round = 0; round < 20; round++) assert.equal(await settle(await sign('b', 200 + round)), 503);
    assert.equal(issuer.asked.length, asked + 2);
  });

  test('that would cost too much are left out, the others serve, and it is logged once', async (t) => {
    const { issuer, clock, logged, settle, sign } = await startTokens(t);
    await issuer.addKey('costly', 'RS256');
    issuer.shown.set('costly', { ...issuer.shown.get('costly'), e: Buffer.alloc(256, 1).toString('base64url') });
    for (let round = 0; round < 3; round++) {
      assert.equal(await settle(await sign('costly', 100 + round)), 401);
      assert.equal(await settle(await sign()), 'known');
      clock.ms += hourMs;
    }
    assert.deepEqual(logged, ['keys of an issuer of tokens are left out: they are too large or of no known form']);
  });
});

suite('another account', () => {
  test('pushes nothing out by tokens that are refused', async (t) => {
    const { decide, settle, sign } = await startTokens(t);
    const token = await sign();
    assert.equal(await settle(token), 'known');
    for (const [accountId, count] of [
      ['acc_a', 1_500],
      ['acc_b', 11_000],
    ] as const)
      for (let at = 0; at < count; at += 500)
        await Promise.all(Array.from({ length: 500 }, (_, each) => decide(`a.b.c${at + each}`, { accountId })));
    assert.equal(await decide(token), 'known');
    assert.equal(await decide('a.b.c1499'), 401, 'the last of this account');
    assert.equal(await decide('a.b.c10999', { accountId: 'acc_b' }), 401, 'the last of the other');
    assert.equal(await decide('a.b.c0', { accountId: 'acc_b' }), 'checked', 'not all are kept');
  });

  test('pushes no keys out by large sets of its own', async (t) => {
    const { issuer, rule, settle, sign } = await startTokens(t);
    assert.equal(await settle(await sign()), 'known');
    const [key] = issuer.shown.values();
    const many = Array.from({ length: 256 }, (_, at) => ({ ...key, kid: `b${at}` }));
    for (let at = 0; at < 40; at++) {
      issuer.elsewhere.set(`/keys-${at}`, many);
      const by = { ...rule, jwksUri: `${issuer.url}/keys-${at}` };
      assert.equal(await settle(await sign(), { accountId: 'acc_b', by }), 401);
    }
    await issuer.down();
    assert.equal(await settle(await sign('a', 100)), 'known');
  });

  test('waits for its own checks alone', async (t) => {
    const { issuer, decide, settle, sign } = await startTokens(t);
    await issuer.addKey('slow', 'RS256');
    const good = await sign();
    const warm = await sign('slow', 100);
    assert.equal(await settle(warm), 'known');
    assert.equal(await settle(warm, { accountId: 'acc_b' }), 'known');
    const wrong = warm.slice(0, -10);
    let done = 0;
    const flood = Array.from({ length: 900 }, async (_, at) => {
      assert.equal(await decide(`${wrong}${String(at).padStart(10, 'A')}`, { accountId: 'acc_b' }), 'checked');
      done++;
    });
    assert.equal(await decide(good), 'checked');
    assert.ok(done < 450, `${done} of another account came first`);
    assert.equal(await decide(good), 'known');
    await Promise.all(flood);
  });

  test('is told to come later where too many of its checks wait, and nobody else is', async (t) => {
    const { issuer, settle, sign } = await startTokens(t);
    await issuer.addKey('slow', 'RS256');
    const warm = await sign('slow', 100);
    assert.equal(await settle(warm, { accountId: 'acc_b' }), 'known');
    const wrong = warm.slice(0, -10);
    const flood = Array.from({ length: 1_500 }, async (_, at) =>
      settle(`${wrong}${String(at).padStart(10, 'A')}`, { accountId: 'acc_b' }),
    );
    assert.equal(await settle(await sign()), 'known');
    const outcomes = await Promise.all(flood);
    assert.ok(outcomes.filter((each) => each === 503).length > 100);
    assert.ok(outcomes.filter((each) => each === 401).length > 100);
  });
});
