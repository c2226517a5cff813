import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { completionsAt } from '../../dashboard/src/parts/policy/completion.ts';
import type { PolicyWords } from '../../dashboard/src/parts/policy/completion.ts';
import { actions } from '../../src/modules/traffic-policy/actions/index.ts';
import { environmentOf } from '../../src/modules/traffic-policy/variables/environment.ts';
import { phases } from '../../src/modules/traffic-policy/phases.ts';

const file = new URL('../../dashboard/src/parts/policy/words.json', import.meta.url);
const words = JSON.parse(readFileSync(file, 'utf8')) as PolicyWords;

/** Names that are offered at the caret, which is written as `|`. */
function at(text: string): readonly string[] {
  const caret = text.indexOf('|');
  return completionsAt(text.replace('|', ''), caret, words).options.map(({ name }) => name);
}

/** The text once the first name is taken. */
function taken(text: string): string {
  const caret = text.indexOf('|');
  const plain = text.replace('|', '');
  const { from, options } = completionsAt(plain, caret, words);
  return plain.slice(0, from) + options[0]?.text + plain.slice(caret);
}

test('every phase, action, variable and function of the server is known', () => {
  assert.deepEqual(Object.keys(words.phases), [...phases]);
  for (const phase of phases) {
    const known = words.phases[phase];
    const offered = actions.filter((action) => action.phases.includes(phase)).map(({ type }) => type);
    assert.deepEqual(Object.keys(known?.actions ?? {}), offered);
    const { variables, functions } = environmentOf(phase);
    assert.deepEqual(Object.keys(known?.variables ?? {}), [...variables.keys()]);
    for (const name of Object.keys(known?.functions ?? {})) assert.ok(functions.has(name), name);
  }
});

test('every field of every action in the documentation is known', () => {
  const page = readFileSync(new URL('../../docs/traffic-policy.md', import.meta.url), 'utf8');
  const named = page.matchAll(/type: ([a-z-]+)\n\s+config: \{ ?([a-z_]+):/g);
  const unknown = Array.from(named, ([, type = '', field = '']) => [type, field] as const).filter(([type, field]) =>
    Object.values(words.phases).every((phase) => phase.actions[type]?.[field] === undefined),
  );
  assert.deepEqual(unknown, []);
});

test('keys are offered where keys stand, in either form of lists', () => {
  assert.deepEqual(at('on_h|'), ['on_http_request', 'on_http_response']);
  assert.deepEqual(at('on_http_request:\n  - na|'), ['name']);
  assert.deepEqual(at('on_http_request:\n- |'), ['name', 'expressions', 'actions']);
  assert.deepEqual(at('on_http_request:\n  - name: x\n    |'), ['name', 'expressions', 'actions']);
  assert.deepEqual(at('on_http_request:\n  - actions:\n      - |'), ['type', 'config']);
  assert.deepEqual(at('on_http_request:\n- actions:\n  - type: deny\n    c|'), ['config']);
  assert.equal(taken('on_http_request:\n  - act|'), 'on_http_request:\n  - actions: ');
});

test('actions of the phase are offered, and fields of the action', () => {
  const types = at('on_tcp_connect:\n  - actions:\n      - type: |');
  assert.ok(types.includes('terminate-tls') && !types.includes('rate-limit'));
  const limit =
    'on_http_request:\n  - actions:\n      - type: deny\n      - type: rate-limit\n        config:\n          ';
  assert.deepEqual(at(`${limit}ra|`), ['rate']);
  assert.deepEqual(at(`${limit}algorithm: |`), ['sliding_window']);
  assert.deepEqual(at(`${limit}enforce: f|`), ['false']);
  assert.ok(at(`${limit}bucket_key:\n            - conn.client|`).includes('conn.client_ip'));
  const deny = 'on_http_request:\n  - actions:\n      - type: deny\n        config: { ';
  assert.deepEqual(at(`${deny}|`), ['status_code']);
  assert.deepEqual(at(`${deny}status_code: |`), []);
  const replaces =
    'on_http_request:\n  - actions:\n      - type: request-body-find-replace\n        config:\n          ';
  assert.deepEqual(at(`${replaces}replacements:\n            - |`), ['from', 'to']);
});

test('expressions have variables and functions of their phase, and methods behind a dot', () => {
  const rule = (phase: string) => `${phase}:\n  - expressions:\n      - `;
  assert.ok(at(`${rule('on_http_request')}req.url.pa|`).includes('req.url.path'));
  assert.ok(!at(`${rule('on_http_request')}res.st|`).includes('res.status_code'));
  assert.ok(at(`${rule('on_http_response')}res.st|`).includes('res.status_code'));
  assert.ok(at(`${rule('on_http_request')}req.url.path.starts|`).includes('startsWith'));
  assert.ok(at(`${rule('on_http_request')}req.method == 'GET' && inCidr|`).includes('inCidrRange'));
  const header =
    'on_http_request:\n  - actions:\n      - type: add-headers\n        config:\n          headers:\n            a: ';
  assert.ok(at(`${header}"from \${conn.client|`).includes('conn.client_ip'));
  assert.deepEqual(at(`${header}"from conn.client|`), []);
});

test('JSON is completed too, with its quotes', () => {
  const start = '{"on_http_request": [{"actions": [{"type": "rate-limit", "config": {"';
  assert.deepEqual(at(`${start}capa|`), ['capacity']);
  assert.deepEqual(at(`${start}algorithm": |`), ['sliding_window']);
  assert.equal(taken('{"on_http_request": [{"actions": [{"type": |}]}]}').includes('"type": "add-headers"'), true);
  assert.equal(taken('{"on_http_request": [{"actions": [{"type": "den|"}]}]}').includes('"type": "deny"'), true);
  assert.deepEqual(at('{"on_http_request": [{"|'), ['name', 'expressions', 'actions']);
});
