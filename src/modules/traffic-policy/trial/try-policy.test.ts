import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseIp } from '../../../lib/ip/address.ts';
import { readPolicy } from '../document/known-policies.ts';
import { tryPolicy } from './try-policy.ts';
import type { DescribedRequest } from './described-visit.ts';

const visit: DescribedRequest = {
  source: parseIp('203.0.113.7')!,
  endpoint: { protocol: 'https', host: 'shop.example.com', port: 443 },
  host: 'shop.example.com',
  method: 'GET',
  target: '/cart?item=7',
  headers: ['host', 'shop.example.com', 'x-team', 'blue'],
  region: undefined,
  vars: {},
  response: undefined,
};

function tried(document: object, more: Partial<DescribedRequest> = {}) {
  const policy = readPolicy(JSON.stringify(document));
  return tryPolicy(policy, { ...visit, ...more }, { allows: () => false, denies: () => false });
}

const request = (...rules: readonly object[]) => ({ on_http_request: rules });
const deny = (...expressions: readonly string[]) => ({ expressions, actions: [{ type: 'deny' }] });

test('each rule tells its expressions up to the first that is not true, and what its actions do', () => {
  const { rules, verdict, upstream, explanation } = tried(
    request(
      { name: 'writers', ...deny("req.method == 'GET'", "req.url.path == '/admin'", 'true') },
      {
        actions: [
          { type: 'set-vars', config: { vars: [{ team: "${getReqHeader('x-team')[0]}" }] } },
          { type: 'remove-headers', config: { headers: ['x-team'] } },
          { type: 'add-headers', config: { headers: { 'X-Who': '${vars.team} ${conn.client_ip}' } } },
        ],
      },
    ),
  );
  assert.deepEqual(
    rules.map(({ path, name, result, expressions }) => [path, name, result, expressions.map((each) => each.result)]),
    [
      ['on_http_request[0]', 'writers', 'does_not_match', ['true', 'false']],
      ['on_http_request[1]', undefined, 'matches', []],
    ],
  );
  assert.deepEqual(
    rules[1]?.actions.map(({ effect }) => effect),
    ['sets vars.team to "blue"', 'removes the header x-team: blue', 'adds the header x-who: blue 203.0.113.7'],
  );
  assert.deepEqual(
    [verdict, explanation, upstream],
    [
      'passes',
      'The request goes on to the upstream.',
      {
        url: 'https://shop.example.com/cart?item=7',
        headers: ['host', 'shop.example.com', 'x-who', 'blue 203.0.113.7'],
      },
    ],
  );
});

test('a refusal names its action, and rules behind it are not reached', () => {
  const { verdict, explanation, rules, answer, upstream } = tried(
    request({ actions: [{ type: 'restrict-ips', config: { allow: ['10.0.0.0/8'] } }] }, deny("req.method == 'PUT'")),
  );
  assert.deepEqual([verdict, answer?.status, upstream], ['refuses', 403, undefined]);
  assert.match(explanation, /^on_http_request\[0\]\.actions\[0\] \(restrict-ips\) refuses it with 403\./);
  assert.deepEqual(
    rules.map(({ result }) => result),
    ['matches', 'not_reached'],
  );
});

test('an expression without a value is told in words, and refuses where the rule decides about access', () => {
  const closed = tried(request(deny('int(req.host) == 1')));
  assert.deepEqual([closed.verdict, closed.answer?.status, closed.rules[0]?.result], ['refuses', 500, 'fault']);
  assert.match(closed.rules[0]?.expressions[0]?.reason ?? '', /\w/);
  const open = tried(
    request({ ...deny('int(req.host) == 1'), actions: [{ type: 'add-headers', config: { headers: { a: 'b' } } }] }),
  );
  assert.deepEqual([open.verdict, open.rules[0]?.result], ['passes', 'fault']);
});

test('what nobody has described is never guessed', () => {
  const tls = tried(request(deny("conn.tls.version == '1.2'"), deny()));
  assert.deepEqual(
    [tls.verdict, tls.dependsOn, tls.rules.map(({ result }) => result)],
    ['depends', ['what was agreed on with TLS'], ['depends', 'not_reached']],
  );
  const secret = tried(
    request({ actions: [{ type: 'add-headers', config: { headers: { key: "${secrets.get('a', 'b')}" } } }] }),
  );
  assert.deepEqual([secret.verdict, secret.dependsOn], ['passes', ['the secret b of the vault a']]);
  assert.doesNotMatch(JSON.stringify(secret.upstream), /key/);
  const unsure = tried(
    request({ actions: [{ type: 'set-vars', config: { vars: [{ key: "${secrets.get('a', 'b')}" }] } }] }),
  );
  assert.equal(unsure.verdict, 'depends');
  const lucky = tried(request(deny('rand.double() < 0.0')));
  assert.match(lucky.dependsOn[0] ?? '', /chance/);
});

test('rules for answers are tried with the answer that is described, and with that of a rule', () => {
  const rules = {
    on_http_request: [
      { ...deny("req.method == 'PUT'"), actions: [{ type: 'custom-response', config: { body: 'no' } }] },
    ],
    on_http_response: [
      { actions: [{ type: 'add-headers', config: { headers: { 'x-status': '${res.status_code}' } } }] },
    ],
  };
  const upstream = tried(rules, { response: { status: 404, headers: ['server', 'x'] } });
  assert.deepEqual(upstream.answer, { status: 404, headers: ['server', 'x', 'x-status', '404'], body: undefined });
  const own = tried(rules, { method: 'PUT' });
  assert.deepEqual(
    [own.verdict, own.answer?.status, own.answer?.body, own.answer?.headers.slice(-2)],
    ['answers', 200, 'no', ['x-status', '200']],
  );
  assert.match(tried(rules).dependsOn[0] ?? '', /the answer of the upstream/);
});

test('a connection meets the rules of on_tcp_connect alone, and begins with the variables that are described', () => {
  const policy = { on_tcp_connect: [{ expressions: ["vars.tier == 'gold'"], actions: [{ type: 'deny' }] }] };
  const tcp = {
    endpoint: { protocol: 'tcp', host: 'tcp.example.com', port: 5432 },
    host: 'tcp.example.com:5432',
  } as const;
  assert.equal(tried(policy, { ...tcp, vars: { tier: 'gold' } }).verdict, 'closes');
  const { verdict, explanation } = tried(policy, { ...tcp, vars: { tier: 'tin' } });
  assert.deepEqual([verdict, explanation], ['passes', 'The connection goes on to the upstream.']);
});

test('a visit that is forwarded, or would be if a login were there, is told so', () => {
  const forward = {
    actions: [{ type: 'forward-internal', config: { url: 'https://${req.method.lowerAscii()}.internal' } }],
  };
  const { verdict, upstream, explanation } = tried(request(forward));
  assert.deepEqual([verdict, upstream?.url], ['forwards', 'https://get.internal']);
  assert.match(explanation, /whose own rules follow/);
});

test('changes are told as long as comparing them takes little work', () => {
  const vars = Array.from({ length: 100 }, (_, at) => ({ [`v${at}`]: 'x' }));
  const rules = (count: number) =>
    Array.from({ length: count }, (_, rule) => ({
      actions: [{ type: 'set-vars', config: { vars: vars.map((_each, at) => ({ [`v${rule}_${at}`]: 'x' })) } }],
    }));
  assert.equal(tried(request(...rules(5))).isCut, false);
  const { isCut, rules: told } = tried(request(...rules(90)));
  assert.deepEqual([isCut, told[0]?.actions.length, told.at(-1)?.actions.length], [true, 1, 0]);
});

test('of a policy with very many rules only the first are told in full', () => {
  const { isCut, rules } = tried(request(...Array.from({ length: 900 }, () => deny('true', 'true', 'false'))));
  assert.equal(isCut, true);
  assert.equal(rules.length, 900);
});

test('the region of the gateway is not known where nobody has described it', () => {
  const document = request(deny("conn.server_region == 'local'"));
  const unknown = tried(document);
  assert.equal(unknown.verdict, 'depends');
  assert.deepEqual(unknown.dependsOn, ['the region of the gateway']);
  assert.equal(tried(document, { region: 'local' }).verdict, 'refuses');
  assert.equal(tried(document, { region: 'eu' }).verdict, 'passes');
});
