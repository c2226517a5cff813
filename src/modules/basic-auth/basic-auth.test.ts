import assert from 'node:assert/strict';
import { test } from 'node:test';

import { UserError } from '../../errors/user-error.ts';
import { basicAuth } from './index.ts';

const stored = basicAuth.accept({
  credentials: [
    { username: 'ada', password: 'pass:word' },
    { username: 'bö', password: '' },
  ],
});

function answer(...values: readonly string[]) {
  return basicAuth.build(stored).refuses?.(values.flatMap((value) => ['authorization', value]));
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

test('passwords are not kept, and the same ones look different each time', () => {
  assert.doesNotMatch(JSON.stringify(stored), /ada|pass/);
  const credentials = [{ username: 'ada', password: 'p' }];
  assert.notDeepEqual(basicAuth.accept({ credentials }).digests, basicAuth.accept({ credentials }).digests);
});

test('a user name that could be read otherwise is refused', () => {
  for (const username of ['', 'a:b'])
    assert.throws(
      () => basicAuth.accept({ credentials: [{ username, password: 'p' }] }),
      (error) => error instanceof UserError && error.code === 20156,
    );
});
