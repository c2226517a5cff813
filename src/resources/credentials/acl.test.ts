import assert from 'node:assert/strict';
import { test } from 'node:test';

import { UserError } from '../../errors/user-error.ts';
import { acceptAcl, Acl } from './acl.ts';

test('an empty list, "*" and "bind:*" allow everything', () => {
  for (const texts of [[], ['*'], ['bind:*'], ['bind:other.example.com', 'bind:*']]) {
    const acl = new Acl(acceptAcl(texts));
    assert.ok(acl.allowsName('a.example.com') && acl.allowsName('*.example.com'));
    assert.ok(acl.allowsAddress('tcp.example.com', 10_022));
    assert.ok(acl.allowsLabels({ app: 'shop', tier: 'web' }));
  }
});

test('a rule for a name allows that name alone', () => {
  const acl = new Acl(acceptAcl(['bind:App.Example.com']));
  assert.ok(acl.allowsName('app.example.com'));
  for (const name of ['example.com', 'b.app.example.com', 'xapp.example.com', '*.example.com']) {
    assert.ok(!acl.allowsName(name), name);
  }
  assert.ok(!acl.allowsAddress('app.example.com', 443) && !acl.allowsLabels({ app: 'shop' }));
});

test('a wildcard allows every name below it and the wildcard itself, not its parent', () => {
  const acl = new Acl(acceptAcl(['bind:*.example.com']));
  for (const name of ['a.example.com', 'a.b.example.com', '*.example.com', '*.a.example.com']) {
    assert.ok(acl.allowsName(name), name);
  }
  for (const name of ['example.com', 'aexample.com', 'a.example.com.evil.test']) assert.ok(!acl.allowsName(name), name);
});

test('a rule for an address allows that host and port alone', () => {
  const acl = new Acl(acceptAcl(['bind:tcp.example.com:10022']));
  assert.ok(acl.allowsAddress('tcp.example.com', 10_022));
  assert.ok(!acl.allowsAddress('tcp.example.com', 10_023) && !acl.allowsAddress('other.example.com', 10_022));
  assert.ok(!acl.allowsName('tcp.example.com'));
});

test('every label of a tunnel needs a rule; "*" stands for any key or value', () => {
  const labels = { app: 'shop', tier: 'web' };
  assert.ok(!new Acl(['bind:app=shop']).allowsLabels(labels));
  assert.ok(new Acl(['bind:app=shop', 'bind:tier=*']).allowsLabels(labels));
  assert.ok(new Acl(['bind:*=shop', 'bind:*=web']).allowsLabels(labels));
  assert.ok(!new Acl(['bind:app=*']).allowsLabels({ app: 'x', edge: 'y' }));
  assert.ok(new Acl(['bind:a=b=c']).allowsLabels({ a: 'b=c' }));
});

test('what is no rule is refused with what is wrong', () => {
  for (const text of [
    '',
    'app.example.com',
    'bind:',
    'bind:*.com',
    'bind:a b',
    'bind:=shop',
    'bind:app=',
    'bind:tcp.example.com:0',
    'bind:tcp.example.com:x',
    'Bind:*',
    'connect:*',
    `bind:${'a'.repeat(600)}=b`,
  ]) {
    assert.throws(() => acceptAcl([text]), UserError, JSON.stringify(text));
  }
  assert.throws(() => acceptAcl(Array.from({ length: 101 }, () => '*')), /101 rules, where 100/);
});
