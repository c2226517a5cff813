import assert from 'node:assert/strict';
import { test } from 'node:test';

import { listOf, joinClaims, readPerson } from './claims.ts';

test('a text that no database takes, or that is too long, is no claim', () => {
  for (const bad of ['a\0b', '\0', 'a\ud800', '\udc00x', 'x'.repeat(256), 7, {}, null, '']) {
    const { subject, email, name, groups } = readPerson(
      { sub: bad, email: bad, name: bad, groups: [bad, 'ops'] },
      'groups',
    );
    assert.deepEqual([subject, email, name], ['', undefined, undefined], JSON.stringify(bad));
    assert.deepEqual(
      groups.filter((group) => group !== '' && group !== '7'),
      ['ops'],
      JSON.stringify(bad),
    );
  }
  const { subject, name } = readPerson({ sub: 'ż'.repeat(127), name: '😀' }, 'groups');
  assert.deepEqual([subject, name], ['ż'.repeat(127), '😀']);
  assert.equal(readPerson({ sub: 'ż'.repeat(128) }, 'groups').subject, '', 'bytes are counted, not characters');
});

test('who has no name has the one to sign in with', () => {
  const nameOf = (claims: object) => readPerson({ sub: 'ada', ...claims }, 'groups').name;
  assert.equal(nameOf({ preferred_username: 'al' }), 'al');
  assert.equal(nameOf({ preferred_username: 'al', name: '' }), 'al');
  assert.equal(nameOf({ preferred_username: 'al', name: 'Ada' }), 'Ada');
});

test('of a claim with very many values only the first are read', () => {
  assert.equal(listOf(Array.from({ length: 200_000 }, (_, at) => at)).length, 10_000);
  assert.deepEqual(listOf(true), ['true']);
});

test('an address is verified where the provider says so, in as many words', () => {
  const isVerified = (said: unknown) =>
    readPerson({ email: 'ada@example.com', email_verified: said }, '').emailVerified;
  for (const said of [true, 'true']) assert.equal(isVerified(said), true);
  for (const said of [false, 'false', 'no', '', 'TRUE ', 1, 0, {}, [true], null, undefined])
    assert.equal(isVerified(said), false, JSON.stringify(said));
});

test('what is said of one address verifies no other', () => {
  const [ada, eve] = ['ada@example.com', 'eve@example.com'];
  for (const [signed, others, expected] of [
    [{ email: ada }, { email: eve, email_verified: true }, [ada, false]],
    [{ email_verified: true }, { email: eve }, [eve, false]],
    [{ email: ada }, { email_verified: true }, [ada, false]],
    [{ email: ada }, { email: ada, email_verified: true }, [ada, true]],
    [{ email: ada, email_verified: true }, { email: eve, email_verified: false }, [ada, true]],
    [{ email: ada, email_verified: false }, { email: ada, email_verified: true }, [ada, false]],
    [{}, { email: eve, email_verified: true }, [eve, true]],
  ] as const) {
    const { email, emailVerified } = readPerson({ sub: 'a', ...joinClaims(signed, others) }, 'groups');
    assert.deepEqual([email, emailVerified], expected, JSON.stringify([signed, others]));
  }
});
