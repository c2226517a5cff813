import assert from 'node:assert/strict';
import { test } from 'node:test';

import { assertLinear } from '../../../test/support/linear-work.ts';
import { cookieValues, loginCookieName, staleLogins } from './cookies.ts';

const name = '__Host-gatehouse_visitor_0123456789ab';

test('a cookie is found by its whole name at the start of a pair, in each header, with every value that it has', () => {
  const headers = [
    'Cookie',
    `a=1; ${name}=one ;${name}=two;\t${name}=`,
    'Accept',
    `${name}=no`,
    'cOOKIE',
    `${name}=three`,
  ];
  assert.deepEqual(cookieValues(headers, name), ['one', 'two', '', 'three']);
  for (const line of [
    `a=b ${name}=planted`,
    `a=b\t${name}=planted`,
    `a=b, ${name}=planted`,
    `a="b; c" ${name}=planted`,
    `x${name}=planted`,
    `${name}x=planted`,
    `${name} =planted`,
    `"${name}"=planted`,
    `=${name}=planted`,
    `\u00a0${name}=planted`,
    `\u000b${name}=planted`,
    `${name.toLowerCase()}=planted`,
    `$Version=1, ${name}=planted`,
    `${'x'.repeat(name.length)}=${name}`,
    name,
    '',
  ])
    assert.deepEqual(cookieValues(['Cookie', line], name), [], line);
});

test('of many cookies of one name only some are looked at, and long lines cost no more than their length', () => {
  assert.equal(cookieValues(['Cookie', `${name}=x; `.repeat(500)], name).length, 20);
  for (const piece of [`${name};`, `${name}=x;`, `${name} `, ';', ' ', 'a=b; ', `a ${name}=`]) {
    const fill = (length: number) => piece.repeat(Math.ceil(length / piece.length));
    assertLinear(piece, fill, (line) => cookieValues(['Cookie', line], name));
    assertLinear(piece, fill, (line) => staleLogins(['Cookie', line]));
  }
});

test('cookies of logins that were given up are removed, some at a time, and none of another form', () => {
  const logins = Array.from({ length: 40 }, (_, at) => loginCookieName(`state ${at}`));
  const lineOf = (names: readonly string[]) => ['Cookie', names.map((each) => `${each}=x`).join('; ')];
  assert.deepEqual(staleLogins(lineOf(logins.slice(0, 4))), []);
  assert.deepEqual(staleLogins(lineOf(logins.slice(0, 5))), logins.slice(0, 5));
  assert.equal(staleLogins(lineOf(logins)).length, 20);
  const others = logins.slice(0, 5).map((each) => `${each}, Domain`);
  assert.deepEqual(staleLogins(lineOf(others)), []);
});
