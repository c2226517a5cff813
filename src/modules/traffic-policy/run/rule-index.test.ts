import assert from 'node:assert/strict';
import { test } from 'node:test';

import { requestVisit } from '../../../../test/support/step-visit.ts';
import { isLong } from '../../../../test/support/long-form.ts';
import { UserError } from '../../../errors/user-error.ts';
import { readPolicy } from '../document/known-policies.ts';
import type { Policy } from '../document/read-policy.ts';
import { PolicyVisit } from './policy-visit.ts';
import { RuleIndex } from './rule-index.ts';
import { runRules } from './run-rules.ts';

const seed = Number(process.env['TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
let state = seed;

function below(bound: number): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
  return (state >>> 8) % bound;
}

function one<Of>(of: readonly Of[]): Of {
  return of[below(of.length)] ?? assert.fail('an empty list');
}

const paths = ['/', '/a', '/a/b', '/a/bc', '/b', '/b/c/d', '/c', '/a//b', '/a;x/b', '/%2561', '/A'];
const hosts = ['a.example.com', 'b.example.com', ''];
const texts = (of: readonly string[]) => `'${one(of)}'`;

/** Conditions that an index knows, those that look like it, and those that fail. */
const conditions: readonly (() => string)[] = [
  () => `req.url.path == ${texts(paths)}`,
  () => `${texts(paths)} == req.url.path`,
  () => `req.url.path.startsWith(${texts(paths)})`,
  () => `req.host == ${texts(hosts)}`,
  () => `req.url.path != ${texts(paths)}`,
  () => `!req.url.path.startsWith(${texts(paths)})`,
  () => `req.url.raw_path == ${texts(paths)}`,
  () => `req.url.path.endsWith('b')`,
  () => `req.url.path in [${texts(paths)}, ${texts(paths)}]`,
  () => `req.method == 'GET'`,
  () => `vars.set == 'yes'`,
  () => `req.headers['x'][0] == 'y'`,
  () => `int(req.url.path.substring(1, 2)) == 1`,
  () => 'true',
];

function expression(depth = 2): string {
  if (depth === 0 || below(3) > 0) return one(conditions)();
  const [left, right] = [expression(depth - 1), expression(depth - 1)];
  return one([`${left} && ${right}`, `(${left}) && (${right})`, `(${left} || ${right})`, `!(${left})`]);
}

const actions: readonly (() => object)[] = [
  () => ({ type: 'add-headers', config: { headers: { [one(['x', 'x-b', 'x_b'])]: 'y' } } }),
  () => ({ type: 'add-headers', config: { headers: { host: one(hosts.slice(0, 2)) } } }),
  () => ({ type: 'remove-headers', config: { headers: [one(['x', 'x-b'])] } }),
  () => ({ type: 'set-vars', config: { vars: [{ set: one(['yes', 'no']) }] } }),
  () => ({ type: 'url-rewrite', config: { from: `^${one(['/a', '/b'])}(.*)$`, to: `${one(paths.slice(0, 6))}$1` } }),
  () => ({ type: 'url-rewrite', config: { from: '^https://[^/]+', to: `https://${one(hosts.slice(0, 2))}` } }),
  () => ({ type: 'deny', config: { status_code: 400 + below(100) } }),
  () => ({ type: 'custom-response', config: { status_code: one([200, 404, 418, 503]), body: one(paths) } }),
];

function randomPolicy(): Policy {
  const rules = Array.from({ length: 20 + below(30) }, () => {
    const expressions = Array.from({ length: 1 + below(3) }, () => expression());
    return { expressions, actions: [below(3) === 0 ? one(actions)() : one(actions.slice(0, 6))()] };
  });
  return readPolicy(JSON.stringify({ on_http_request: rules }));
}

/** All that can be seen of a run. */
function ran(policy: Policy, index: RuleIndex | undefined, host: string, target: string): object {
  const headers = ['Host', host, 'X', 'z'];
  const engine = requestVisit({ host, target, headers, outgoing: [...headers, 'X-Forwarded-For', '192.0.2.1'] });
  const visit = new PolicyVisit(policy, engine);
  visit.enter('on_http_request');
  const outcome = runRules(policy.rules.on_http_request, index, visit);
  const { outgoing, upstreamTarget } = engine;
  const { position, vars, headers: seen } = visit;
  const word = outcome instanceof UserError ? outcome.message : JSON.stringify(outcome ?? 'it goes on');
  return { word, outgoing, seen, upstreamTarget, rule: position.rule, vars: [...vars] };
}

test('rules do the same with an index as one by one', (t) => {
  t.diagnostic(`TEST_SEED=${seed}`);
  let indexed = 0;
  for (let left = isLong ? 5_000 : 60; left > 0; left--) {
    const policy = randomPolicy();
    const index = RuleIndex.of(policy.rules.on_http_request);
    if (index !== undefined) indexed += 1;
    for (let asked = 0; asked < 6; asked++) {
      const [host, target] = [one(hosts.slice(0, 2)), one(paths)];
      const plain = ran(policy, undefined, host, target);
      assert.deepEqual(ran(policy, index, host, target), plain, `TEST_SEED=${seed}: ${host}${target}`);
    }
  }
  assert.ok(indexed > 10, 'the policies have rules that an index knows');
});

/** Rules that are looked at, of as many. */
function lookedAt(expressionOf: (at: number) => string, host: string, target: string): number {
  const rules = Array.from({ length: 500 }, (_, at) => ({
    expressions: [expressionOf(at)],
    actions: [{ type: 'set-vars', config: { vars: [{ at }] } }],
  }));
  const policy = readPolicy(JSON.stringify({ on_http_request: rules }));
  const list = policy.rules.on_http_request;
  let count = 0;
  const counted = list.map((rule) => ({
    ...rule,
    conditions: rule.conditions.map((condition) => ({
      ...condition,
      run: (frame: Parameters<typeof condition.run>[0]) => {
        count += 1;
        return condition.run(frame);
      },
    })),
  }));
  const visit = new PolicyVisit(policy, requestVisit({ host, target, headers: ['Host', host] }));
  visit.enter('on_http_request');
  assert.equal(runRules(counted, RuleIndex.of(list), visit), undefined);
  return count;
}

test('of 500 rules by host and path, those alone are looked at that may match', () => {
  const forms: readonly (readonly [form: (at: number) => string, most: number])[] = [
    [(at) => `req.url.path == '/service-${at}'`, 1],
    [(at) => `req.url.path.startsWith('/service-${at}')`, 3],
    [(at) => `req.host == 'h${at}.example.com'`, 1],
    [(at) => `req.host == 'h7.example.com' && req.url.path.startsWith('/service-${at}')`, 3],
    [(at) => `req.url.path.startsWith('/') && req.host == 'h${at}.example.com'`, 1],
    [(at) => `req.method == 'GET' && (req.url.path == '/service-${at}' && vars.a == 1)`, 1],
  ];
  for (const [form, most] of forms) {
    const count = lookedAt(form, 'h7.example.com', '/service-123');
    assert.ok(count >= 1 && count <= most, `${form(7)}: ${count} of 500`);
  }
});
