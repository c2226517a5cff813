import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { UserError } from '../../errors/user-error.ts';
import { actions } from './actions/index.ts';
import { trafficPolicy } from './index.ts';

function refusalOf(document: string | object): UserError {
  try {
    const value = typeof document === 'string' ? document : JSON.stringify(document);
    trafficPolicy.checkWritten?.(trafficPolicy.accept({ value }), 'https_route');
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  return assert.fail(`it was taken: ${JSON.stringify(document)}`);
}

const rule = (action: object | null, more: object = {}) => ({ on_http_request: [{ ...more, actions: [action] }] });
const withConfig = (type: string, config: object) => rule({ type, config });

test('a policy is kept to the byte, as JSON and as YAML', () => {
  const texts = [
    ' {"on_http_request" : [ ] }\n',
    'on_http_request:\n  - name: 404 # a number\n    expressions: []\n    actions:\n      - type: deny\n        config: null\n',
    'on_http_response:\n  - expressions:\n      - "!(\'a\' in req.headers)"\n    actions: [{type: add-headers, config: {headers: []}}]\n',
    '{on_tcp_connect: [{actions: [{type: deny}]}]}',
  ];
  for (const value of texts) assert.deepEqual(trafficPolicy.accept({ value }), { enabled: true, value });
});

const refused: readonly (readonly [string | object, number, RegExp])[] = [
  [
    rule({ type: 'deny' }, { expressions: Array.from({ length: 60 }, () => "req.method.matches('(.{900}){2}')") }),
    2200,
    /regular expressions of the policy have more than 100000 steps together/,
  ],
  ['', 2236, /map of phases/],
  ['[]', 2236, /map of phases/],
  ['{"on_http_request": [], "on_http_request": []}', 2236, /same key twice/],
  ['on_http_request: []\non_http_request: []', 2236, /unique/],
  [
    'on_http_request:\n  - expressions:\n    - !req.method\n    actions: [{type: deny}]',
    2236,
    /Put an expression.*in quotes/,
  ],
  ['a: &a [1]\nb: *a', 2236, /no phase "a"/],
  ['x'.repeat(40_000), 2221, /as JSON/],
  [`{"on_http_request": ${' '.repeat(300_000)} []}`, 2221, /262144 bytes/],
  [{ on_http_requests: [] }, 2236, /did you mean on_http_request\?/],
  [{ inbound: [] }, 2236, /on_http_request now/],
  [{ on_event_stream_message: [] }, 2236, /not offered/],
  [{ on_http_request: {} }, 2203, /on_http_request: it must be a list of rules/],
  [{ on_http_request: ['a'] }, 2203, /on_http_request\[0\]: it must be a rule/],
  [{ on_http_request: Array.from({ length: 1001 }, () => ({ actions: [] })) }, 2264, /1001 rules/],
  [{ on_http_request: [{ expressions: [] }] }, 2206, /on_http_request\[0\] .* no action/],
  [rule({ type: 'deny' }, { expression: ['true'] }), 2203, /\[0\]\.expression: .* did you mean expressions\?/],
  [rule({ type: 'deny' }, { expressions: 'true' }), 2203, /a list of expressions/],
  [rule({ type: 'deny' }, { expressions: [true] }), 2203, /an expression, which is a text/],
  [
    rule({ type: 'deny' }, { expressions: ['req.url.pth == 1'] }),
    2200,
    /\.expressions\[0\] .*did you mean req\.url\.path\?.*\(character 9\)/,
  ],
  [
    rule({ type: 'deny' }, { expressions: ["conn.geo.country_code == 'DE'"] }),
    2200,
    /^line 1, column \d+: .*conn\.geo is not offered here: there is no database of places; .*GATEHOUSE_GEO_DATABASE \(character \d+\)/,
  ],
  [
    rule({ type: 'deny' }, { expressions: ["true && ['a'].exists(x, has(conn.client_ip.geo.location.city))"] }),
    2200,
    /conn\.client_ip\.geo is not offered here: there is no database/,
  ],
  [
    rule({ type: 'set-vars', config: { vars: [{ a: 'x ${conn.geo.city}' }] } }),
    2224,
    /config.*conn\.geo is not offered here: there is no database/,
  ],
  [rule({ type: 'deny' }, { expressions: ["'x' in conn.client_ip.categories"] }), 2200, /categories is not offered/],
  [rule({ type: 'deny' }, { expressions: ['res.status_code == 200'] }), 2200, /on_http_response alone/],
  [rule({ type: 'deny' }, { expressions: ["getResHeader('a') == []"] }), 2200, /on_http_response alone/],
  [
    rule({ type: 'deny' }, { expressions: ['actions.ngrok.restrict_ip.action == 1'] }),
    2200,
    /there is no actions\.ngrok\.restrict_ip/,
  ],
  [rule({ type: 'denny' }), 2201, /did you mean deny\?/],
  [rule({ type: 'saml' }), 2201, /openid-connect/],
  [rule({ type: 'owasp-crs-request' }), 2201, /no engine/],
  [rule({}), 2234, /lacks type at on_http_request\[0\]\.actions\[0\]/],
  [rule(null), 2203, /must be an action/],
  [rule({ type: 'deny', conf: {} }), 2203, /actions\[0\]\.conf/],
  [withConfig('deny', { status: 403 }), 2203, /config\.status: .* the fields here are status_code/],
  [withConfig('deny', { status_code: '403' }), 2203, /must be a number/],
  [withConfig('deny', { status_code: 200 }), 2215, /from 400 to 599/],
  [withConfig('custom-response', { body: 'a', content: 'b' }), 2204, /former name of body/],
  [withConfig('custom-response', { status_code: 204, body: 'a' }), 2204, /no body/],
  [withConfig('custom-response', { body: 'a ${req.hots}' }), 2224, /config\.body .*did you mean req\.host/],
  [withConfig('custom-response', { body: 'a ${req.host' }), 2224, /no closing/],
  [withConfig('custom-response', { headers: { 'a b': 'c' } }), 2208, /config\.headers\.a b/],
  [withConfig('custom-response', { headers: { 'Content-Length': '1' } }), 2208, /belongs to the connection/],
  [withConfig('add-headers', { headers: { A: 'b', a: 'c' } }), 2208, /twice/],
  [withConfig('add-headers', { headers: { a: 'b\r\nc' } }), 2209, /line break/],
  [withConfig('add-headers', { headers: { 'User-Agent': 'x' } }), 2208, /cannot be changed/],
  [withConfig('add-headers', {}), 2234, /lacks headers/],
  [
    withConfig('add-headers', { headers: Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`h${at}`, ''])) }),
    2255,
    /11 elements/,
  ],
  [withConfig('remove-headers', { headers: ['host'] }), 2208, /cannot be changed/],
  [withConfig('set-vars', { vars: { a: 1 } }), 2203, /a list/],
  [withConfig('set-vars', { vars: [{ a: 1, b: 2 }] }), 2252, /exactly one key/],
  [withConfig('set-vars', { vars: [{ 'a-b': 1 }] }), 2252, /letters, digits/],
  [withConfig('restrict-ips', {}), 2203, /nobody could come in/],
  [withConfig('restrict-ips', { allow: ['10.0.0.1/8'] }), 2217, /"10\.0\.0\.1\/8" at .*allow\[0\]/],
  [withConfig('forward-internal', { url: 'https://example.com' }), 2226, /\.internal/],
  [withConfig('forward-internal', { url: 'https://a.internal/path' }), 2226, /without a path/],
  [withConfig('forward-internal', { url: 'tcp://a.internal:1' }), 2226, /http or https/],
  [withConfig('forward-internal', { url: 'https://a.internal', on_error: 'go' }), 2222, /halt, continue/],
  [withConfig('forward-internal', { url: 'https://a.internal', binding: 'public' }), 2222, /internal/],
  [
    { on_tcp_connect: [{ actions: [{ type: 'add-headers', config: { headers: {} } }] }] },
    2202,
    /on_http_request or on_http_response/,
  ],
  [{ on_http_request: [{ actions: [{ type: 'deny' }, { type: 'deny' }] }] }, 2207, /actions\[1\]/],
  [
    { on_http_request: [{ actions: [{ type: 'deny' }] }, { actions: [{ type: 'deny' }] }] },
    2207,
    /comes to on_http_request\[1\]/,
  ],
];

for (const [document, code, reason] of refused) {
  const shown = typeof document === 'string' ? document : JSON.stringify(document);
  test(`refused with ${code}: ${shown.slice(0, 100)}`, () => {
    const error = refusalOf(document);
    assert.match(error.message, reason);
    assert.equal(error.code, code);
    // The Kubernetes operator knows faults of policies by this word.
    assert.match(error.message, /policy/i);
  });
}

test('each kind of edge and route takes only phases that it comes to', () => {
  const settings = (phase: string) =>
    trafficPolicy.accept({
      value: JSON.stringify({ [phase]: [{ actions: [{ type: 'restrict-ips', config: { allow: ['::/0'] } }] }] }),
    });
  const refuses = (phase: string, target: 'tcp_edge' | 'tls_edge' | 'https_route' | 'agent_endpoint') => {
    try {
      trafficPolicy.checkTarget?.(settings(phase), target);
      return undefined;
    } catch (error) {
      assert.ok(error instanceof UserError);
      return error.code;
    }
  };
  assert.deepEqual(
    (['on_tcp_connect', 'on_http_request', 'on_http_response'] as const).map((phase) =>
      (['tcp_edge', 'tls_edge', 'https_route', 'agent_endpoint'] as const).map((target) => refuses(phase, target)),
    ),
    [
      [undefined, undefined, 2248, undefined],
      [2230, 2230, undefined, undefined],
      [2230, 2230, undefined, undefined],
    ],
  );
});

test('the page about policies has an example of each action, and each is taken', () => {
  const page = readFileSync(new URL('../../../docs/traffic-policy.md', import.meta.url), 'utf8');
  const examples = Array.from(page.matchAll(/```json\n([^]*?)```/g), ([, text = '']) => text);
  for (const value of examples) assert.doesNotThrow(() => trafficPolicy.build(trafficPolicy.accept({ value })), value);
  const missing = actions.filter(({ type }) => !examples.some((text) => text.includes(JSON.stringify(type))));
  assert.deepEqual(
    missing.map(({ type }) => type),
    [],
  );
});

// Rules as the Kubernetes operator generates them.
const operator = {
  on_http_request: [
    {
      name: 'Initialize-Local-Service-Match',
      actions: [{ type: 'set-vars', config: { vars: [{ request_matched_local_svc: false }] } }],
    },
    {
      name: 'Capture-Original-Request-Data',
      actions: [
        {
          type: 'set-vars',
          config: {
            vars: [
              { original_path: '${req.url.path}' },
              { original_headers: '${req.headers.encodeJson()}' },
              { original_query_params: '${req.url.query_params.encodeJson()}' },
            ],
          },
        },
      ],
    },
    {
      name: 'Gen-Random-Number',
      actions: [{ type: 'set-vars', config: { vars: [{ weighted_route_random_num: '${rand.int(0,9)}' }] } }],
    },
    {
      name: 'Generated-Route',
      expressions: [
        "vars.original_path.startsWith('/a')",
        "req.headers.exists_one(x, x == 'h') && req.headers['h'].join(',') == 'v'",
        "req.url.query_params.exists_one(x, x == 'q') && req.url.query_params['q'].join(',').matches('^v')",
        "vars.original_headers.decodeJson()['h'].size() > 0",
        'int(vars.weighted_route_random_num) >= 0 && int(vars.weighted_route_random_num) <= 4',
      ],
      actions: [
        { type: 'remove-headers', config: { headers: [] } },
        { type: 'add-headers', config: { headers: {} } },
        { type: 'forward-internal', config: { url: 'https://abcde-svc-default-80.internal' } },
      ],
    },
    {
      name: 'Fallback-404',
      actions: [
        {
          type: 'custom-response',
          config: { status_code: 404, content: 'No route was found', headers: { 'content-type': 'text/plain' } },
        },
      ],
    },
  ],
};

test('forward-internal may say that the endpoint is internal, as guides of the hosted service do', () => {
  const value = JSON.stringify(withConfig('forward-internal', { url: 'https://a.internal', binding: 'internal' }));
  assert.doesNotThrow(() => trafficPolicy.build(trafficPolicy.accept({ value })));
});

test('policies of the Kubernetes operator are taken', () => {
  assert.doesNotThrow(() => trafficPolicy.build(trafficPolicy.accept({ value: JSON.stringify(operator) })));
});
