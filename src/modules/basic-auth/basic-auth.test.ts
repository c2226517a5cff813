import assert from 'node:assert/strict';
import { test } from 'node:test';

import { refusalOf } from '../../../test/support/step-visit.ts';
import { UserError } from '../../errors/user-error.ts';
import { basicAuth } from './index.ts';

const stored = basicAuth.accept({
  credentials: [
    { username: 'ada', password: 'pass:word' },
    { username: 'bö', password: '' },
  ],
});

function answer(...values: readonly string[]) {
  return refusalOf(basicAuth.build(stored), { headers: values.flatMap((value) => ['authorization', value]) });
}

function basic(text: string): string {
  return `Basic ${Buffer.from(text).toString('base64')}`;
}

test('a visitor with one of the credentials is let in', () => {
  for (const text of ['ada:pass:word', 'bö:']) assert.equal(answer(basic(text)), undefined, text);
  assert.equal(answer(basic('ada:pass:word').replace('Basic', 'bAsIC ')), undefined);
});

test('any other visitor is asked for them', () => {
  const wrong = ['ada:password', 'ada:', 'ada', ':pass:word', 'bö:x', 'Ada:pass:word', ''];
  const headers = [...wrong.map(basic), 'Bearer YQ==', 'Basic', 'Basic !', 'Basic YQ== YQ=='];
  for (const value of headers) assert.equal(answer(value)?.status, 401, value);
  const refusal = answer();
  assert.deepEqual([refusal?.status, refusal?.code], [401, 20151]);
  assert.match(refusal?.headers['WWW-Authenticate'] ?? '', /^Basic realm="/);
  assert.equal(answer(basic('ada:pass:word'), basic('x:y'))?.status, 401, 'two headers are none');
});

test('credentials that are fewer, more or in another order are not the same', () => {
  const given = [
    { username: 'ada', password: 'pass:word' },
    { username: 'bö', password: '' },
  ];
  const isSame = (credentials: typeof given) => basicAuth.isSame?.({ credentials }, stored);
  assert.equal(isSame(given), true);
  for (const others of [given.slice(0, 1), given.toReversed(), [...given, { username: 'eve', password: '' }]])
    assert.equal(isSame(others), false, JSON.stringify(others));
});

test('passwords are not kept, and the same ones look different each time', () => {
  assert.doesNotMatch(JSON.stringify(stored), /pass/);
  const credentials = [{ username: 'ada', password: 'p' }];
  assert.notDeepEqual(basicAuth.accept({ credentials }), basicAuth.accept({ credentials }));
});

test('a password that is left out stays, that of each name in turn', () => {
  const [ada] = basicAuth.accept({ credentials: [{ username: 'ada', password: 'new' }] }).credentials;
  const left = basicAuth.accept({ credentials: [{ username: 'bö' }, { username: 'ada', password: 'new' }] });
  const kept = basicAuth.secrets?.keep(left, stored);
  assert.deepEqual(kept?.credentials[0], stored.credentials[1]);
  assert.equal(kept?.credentials[1]?.username, ada?.username);
  const refuses = (text: string) => refusalOf(basicAuth.build(kept!), { headers: ['Authorization', basic(text)] });
  for (const text of ['bö:', 'ada:new']) assert.equal(refuses(text), undefined, text);
  assert.equal(refuses('ada:pass:word')?.status, 401);
  assert.throws(() => basicAuth.secrets?.keep(left, undefined), /no password for "bö"/);
  const two = basicAuth.accept({ credentials: ['old', 'next'].map((password) => ({ username: 'ada', password })) });
  const both = basicAuth.secrets?.keep(
    basicAuth.accept({ credentials: [{ username: 'ada' }, { username: 'ada' }] }),
    two,
  );
  assert.deepEqual(both?.credentials, two.credentials, 'a name that stands twice keeps both of its passwords');
  // Were it used as it is, nobody would get in.
  assert.equal(refusalOf(basicAuth.build(left), { headers: ['Authorization', basic('bö:')] })?.status, 401);
});

test('settings that an agent had stored before an upgrade still ask, and are those that it asks for again', () => {
  const { salt, digest } = stored.credentials[0]!;
  // As release 0.2 has stored them.
  const former = { enabled: true, salt, digests: [digest] } as never;
  const refuses = (text: string) => refusalOf(basicAuth.build(former), { headers: ['Authorization', basic(text)] });
  assert.equal(refuses('ada:pass:word'), undefined);
  assert.equal(refuses('ada:other')?.status, 401);
  const isSame = (password: string) => basicAuth.isSame?.({ credentials: [{ username: 'ada', password }] }, former);
  assert.deepEqual([isSame('pass:word'), isSame('other')], [true, false]);
});

test('a user name that could be read otherwise is refused', () => {
  for (const username of ['', 'a:b'])
    assert.throws(
      () => basicAuth.accept({ credentials: [{ username, password: 'p' }] }),
      (error) => error instanceof UserError && error.code === 20156,
    );
});
