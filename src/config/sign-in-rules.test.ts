import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readSignInRules } from './sign-in-rules.ts';

test('rules are read with their account, and names in quotes hold commas and "="', () => {
  const rule = (kind: string, name: string, role: string, account?: string) => ({ kind, name, role, account });
  assert.deepEqual(readSignInRules(''), []);
  assert.deepEqual(readSignInRules('group:platform-admins=admin, domain:Example.COM=viewer,'), [
    rule('group', 'platform-admins', 'admin'),
    rule('domain', 'example.com', 'viewer'),
  ]);
  assert.deepEqual(readSignInRules('group:"cn=ops,ou=groups"=member@"acme, inc", group:a:b/c d=viewer@acme'), [
    rule('group', 'cn=ops,ou=groups', 'member', 'acme, inc'),
    rule('group', 'a:b/c d', 'viewer', 'acme'),
  ]);
});

test('all faults of rules are told, each with how to write it', () => {
  for (const [text, said] of [
    ['platform-admins=admin', /"platform-admins=admin": write it as group:NAME=ROLE/],
    ['group:ops', /"group:ops": write it as/],
    ['group:=admin', /write it as/],
    ['user:ann@example.com=admin', /write it as/],
    ['group:ops=owner', /the role must be one of: admin, member, viewer/],
    ['group:ops=Admin', /write it as|the role must be/],
    ['domain:@example.com=viewer', /without "@"/],
    ['domain:localhost=viewer', /without "@"/],
    ['domain:*.example.com=viewer', /without "@"/],
    ['group:ops=admin@', /write it as/],
    ['group:"ops=admin', /write it as/],
  ] as const) {
    assert.throws(() => readSignInRules(text), said, text);
  }
  assert.throws(
    () => readSignInRules('group:ops=owner, domain:x=viewer, group:a=viewer'),
    (error: Error) => {
      assert.match(error.message, /"group:ops=owner": .*; "domain:x=viewer": /);
      return !error.message.includes('group:a');
    },
  );
});
