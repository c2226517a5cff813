import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseIp } from '../../../lib/ip/address.ts';
import { explain } from '../../explain.ts';
import { namedParts } from '../../index.ts';

const visitor = { source: parseIp('192.0.2.1')!, person: undefined };
const noRules = { allows: () => false, denies: () => false };

function toldOf(policy: object) {
  const value = JSON.stringify(policy);
  return explain(namedParts({ traffic_policy: { enabled: true, value } }), visitor, noRules).map(({ word, asks }) => [
    word,
    asks?.needs?.((id) => id).replace(/ \([^()]*\)$/, ''),
  ]);
}

const rule = (type: string, config: object, ...expressions: readonly string[]) => ({
  expressions,
  actions: [{ type, config }],
});
const asked = 'must satisfy the rules of the traffic policy';

test('a policy that may refuse a visitor is never told to let them in', () => {
  const mayRefuse: readonly object[] = [
    { on_http_request: [rule('deny', {}, "req.method == 'PUT'")] },
    { on_http_request: [rule('deny', {}, "req.url.path == '/admin'")] },
    { on_http_request: [rule('deny', {}, "!hasReqHeader('x-key')")] },
    { on_http_request: [rule('deny', {}, 'rand.double() < 0.5')] },
    { on_http_request: [rule('custom-response', { status_code: 404 }, "req.host == 'a'")] },
    { on_http_request: [rule('forward-internal', { url: 'https://a.internal' })] },
    { on_tcp_connect: [rule('forward-internal', { url: 'tcp://a.internal:1' })] },
    { on_http_response: [rule('custom-response', { status_code: 403 }, 'res.status_code == 200')] },
    {
      on_http_request: [
        rule('restrict-ips', { ip_policies: ['ipp_1'], enforce: false }),
        rule('deny', {}, "req.host == 'a'"),
      ],
    },
  ];
  for (const policy of mayRefuse) assert.deepEqual(toldOf(policy), [['depends', asked]], JSON.stringify(policy));
});

test('rules that go by the address alone decide, and one question stands for all phases', () => {
  const allow = (range: string) => ({ on_http_request: [rule('restrict-ips', { allow: [range] })] });
  assert.deepEqual(toldOf(allow('192.0.2.0/24')), [['passes', asked]]);
  assert.deepEqual(toldOf(allow('10.0.0.0/8')), [['refuses', asked]]);
  assert.deepEqual(
    toldOf({ ...allow('192.0.2.0/24'), on_http_response: [rule('restrict-ips', { allow: ['::/0'] })] }),
    [['passes', asked]],
  );
});

test('a policy that keeps nobody out asks for nothing', () => {
  const add = rule('add-headers', { headers: { a: 'b' } });
  const hello = rule('custom-response', { body: 'hello' });
  for (const policy of [{ on_http_request: [add], on_http_response: [add] }, { on_http_request: [hello] }])
    assert.deepEqual(
      toldOf(policy).map(([, asks]) => asks),
      [undefined],
    );
});

test('the actions that decide are named, and not those that are only tried', () => {
  const needsOf = (policy: object) => {
    const value = JSON.stringify(policy);
    const told = explain(namedParts({ traffic_policy: { enabled: true, value } }), visitor, noRules);
    return told.map(({ asks }) => asks?.needs?.((id) => id));
  };
  const password = { credentials: ['ada:long enough'] };
  const some = [
    rule('basic-auth', password),
    rule('add-headers', { headers: { a: 'b' } }),
    rule('restrict-ips', { allow: ['::/0'], enforce: false }),
    rule('deny', {}, "req.method == 'PUT'"),
    rule('deny', {}, "req.method == 'POST'"),
  ];
  assert.deepEqual(needsOf({ on_http_request: some }), [`${asked} (basic-auth and deny)`]);
  const forwards = [rule('forward-internal', { url: 'https://a.internal' })];
  assert.deepEqual(needsOf({ on_http_request: forwards }), [`${asked} (forward-internal)`]);
});
