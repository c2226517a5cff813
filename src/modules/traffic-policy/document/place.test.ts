import assert from 'node:assert/strict';
import { test } from 'node:test';

import { UserError } from '../../../errors/user-error.ts';
import { readPolicy } from './known-policies.ts';

/** The text from the place on that a refusal names. */
function textAt(policy: string): string {
  try {
    readPolicy(policy);
  } catch (error) {
    assert.ok(error instanceof UserError);
    const [, line, column] = /^line (\d+), column (\d+): /.exec(error.message) ?? [];
    return policy.split('\n')[Number(line) - 1]?.slice(Number(column) - 1) ?? error.message;
  }
  return assert.fail('it was taken');
}

const yaml = `# a policy
on_http_request:
  - expressions:
      - req.method == 'GET'
      - "req.url.pth == '/'"
    actions:
      - type: deny
  - actions:
    - type: deny
`;

test('a fault of an expression is told with its line and column in the text, in YAML and in JSON', () => {
  assert.equal(textAt(yaml), `pth == '/'"`);
  const document = {
    name: 'not this',
    on_http_response: [{ actions: [{ type: 'add-headers', config: { headers: { a: 'b' } } }] }],
    on_http_request: [
      { expressions: ['true', 'req.method == 1'], actions: [{ type: 'deny' }] },
      { expressions: [], actions: [{ type: 'deny', config: { status_code: 999 } }] },
    ],
  };
  const { name: _, ...valid } = document;
  assert.match(textAt(JSON.stringify(valid)), /^== 1"\]|^req\.method == 1"\]/);
  assert.match(textAt(JSON.stringify(valid, undefined, 2)), /== 1"/);
});

test('a value is found where it stands, and one that is missing by what it is missing in', () => {
  const of = (action: object) =>
    JSON.stringify({ on_http_request: [{ actions: [{ type: 'set-vars', config: { vars: [] } }, action] }] });
  assert.equal(textAt(of({ type: 'deny', config: { status_code: 999 } })), '999}}]}]}');
  assert.equal(textAt(of({ config: {} })), '{"config":{}}]}]}');
  assert.equal(textAt(of({ type: 'deny', config: { 'status-code': 403 } })), '403}}]}]}');
  assert.equal(textAt(of({ type: 'denny' })), '{"type":"denny"}]}]}');
  assert.equal(textAt('on_http_request:\n- actions:\n  - type: deny\n    config: {status_code: 999}\n'), '999}');
  assert.equal(textAt('on_http_request:\n- name: a\n'), 'name: a');
});
