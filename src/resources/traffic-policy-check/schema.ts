import { Type } from 'typebox';
import type { TSchema } from 'typebox';

import { nullable } from '../../api/body/view-fields.ts';
import { anyKey } from '../../lib/any-key.ts';

const headers = (description: string) =>
  Type.Record(anyKey, Type.String({ maxLength: 8_000 }), {
    description,
    examples: [{ 'user-agent': 'curl/8.9.0' }],
    maxProperties: 100,
  });

const DescribedRequest = Type.Object(
  {
    method: Type.Optional(
      Type.String({
        description: 'Method of the request; GET if it is left out.',
        pattern: '^[A-Za-z-]{1,32}$',
        examples: ['POST'],
      }),
    ),
    url: Type.String({
      description:
        'URL that is visited, with scheme and host. With tcp:// or tls:// it is a connection, to which only on_tcp_connect applies.',
      maxLength: 8_000,
      examples: ['https://shop.example.com/cart?item=7'],
    }),
    ip: Type.String({ description: 'Address of the visitor, IPv4 or IPv6.', examples: ['203.0.113.7'] }),
    region: Type.Optional(
      Type.String({
        description:
          'Region of the gateway to which the visitor comes (conn.server_region). Left out: it is not known, and what goes by it depends on it.',
        maxLength: 255,
        examples: ['eu'],
      }),
    ),
    headers: Type.Optional(headers('All headers of the request. Host is added if it is left out.')),
    vars: Type.Optional(
      Type.Record(anyKey, Type.String({ maxLength: 8_000 }), {
        description: 'Variables that are set when each phase begins; each is a text.',
        examples: [{ tier: 'gold' }],
        maxProperties: 100,
      }),
    ),
    response: Type.Optional(
      Type.Object(
        {
          status_code: Type.Integer({
            description: 'Status of the answer.',
            minimum: 200,
            maximum: 599,
            examples: [200],
          }),
          headers: Type.Optional(headers('All headers of the answer.')),
        },
        {
          description: 'The answer of the upstream, for the rules of on_http_response. Without it, they are not tried.',
          additionalProperties: false,
        },
      ),
    ),
  },
  {
    description: 'The visit that the policy is tried with.',
    examples: [{ url: 'https://shop.example.com/cart', ip: '203.0.113.7' }],
    additionalProperties: false,
  },
);

export const TrafficPolicyCheckRequest = Type.Object(
  {
    policy: Type.String({
      description: 'The policy, as YAML or JSON. It is not stored.',
      examples: ['{"on_http_request": [{"actions": [{"type": "deny"}]}]}'],
    }),
    request: Type.Optional({ ...DescribedRequest, description: 'The visit. Left out: only the policy is checked.' }),
  },
  {
    $id: 'TrafficPolicyCheckRequest',
    examples: [
      {
        policy: '{"on_http_request": [{"actions": [{"type": "deny"}]}]}',
        request: { url: 'https://shop.example.com/cart', ip: '203.0.113.7' },
      },
    ],
    additionalProperties: false,
  },
);

interface Line {
  readonly name: string;
  readonly value: string;
}

function objectOrNull(description: string, properties: Record<string, TSchema>) {
  return Type.Unsafe<Readonly<Record<string, string | number | null | readonly Line[]>> | null>({
    type: ['object', 'null'],
    description,
    required: Object.keys(properties),
    properties,
  });
}

const headerList = Type.Array(Type.Object({ name: Type.String(), value: Type.String() }), {
  description: 'The headers, in order. The gateway adds its own, such as X-Forwarded-For.',
});

const TriedRule = Type.Object({
  phase: Type.String({ enum: ['on_tcp_connect', 'on_http_request', 'on_http_response'] }),
  path: Type.String({ description: 'Place of the rule in the policy.', examples: ['on_http_request[0]'] }),
  name: nullable('string', 'Name of the rule; null if it has none.'),
  result: Type.String({
    enum: ['matches', 'does_not_match', 'fault', 'depends', 'not_reached'],
    description:
      'fault: an expression has no value, so that the rule does not match, or refuses the visit if it decides about access. depends: on ' +
      'something that is not described.',
  }),
  expressions: Type.Array(
    Type.Object({
      expression: Type.String({ description: 'The expression, as it is written.' }),
      result: Type.String({ enum: ['true', 'false', 'fault', 'depends'] }),
      reason: nullable('string', 'The reason for a fault, or what it depends on, in words; null for true and false.'),
    }),
    { description: 'The expressions that were evaluated, up to the first that is not true.' },
  ),
  actions: Type.Array(
    Type.Object({
      path: Type.String({ description: 'Place of the action in the policy.' }),
      type: Type.String({ examples: ['deny'] }),
      result: Type.String({ enum: ['passes', 'answers', 'refuses', 'closes', 'forwards', 'depends'] }),
      effect: Type.String({ description: 'The effect of the action, in words.' }),
    }),
    { description: 'The actions that were run.' },
  ),
});

export const TrafficPolicyCheckVerdict = Type.Object(
  {
    verdict: Type.String({
      enum: ['valid', 'passes', 'answers', 'refuses', 'closes', 'forwards', 'depends'],
      description:
        'valid: no visit was described. passes: it goes on to the upstream. forwards: to another endpoint, whose own rules follow. depends: on something that is not described.',
    }),
    explanation: Type.String({ description: 'The verdict in words.' }),
    depends_on: Type.Array(Type.String(), {
      description:
        'Everything that is not described and that the result goes by, in words, such as the value of a secret. Checks that go by it are taken to pass.',
    }),
    rules: Type.Array(TriedRule, { description: 'Every rule, in order; none if no visit was described.' }),
    is_cut: Type.Boolean({ description: 'true: more expressions and actions were run than are listed.' }),
    upstream: objectOrNull('The request as it goes on; null if nothing goes on.', {
      url: Type.String({ description: 'The URL as rules have changed it, or that of the endpoint.' }),
      headers: headerList,
    }),
    answer: objectOrNull('The answer that the visitor gets, as far as it is known; else null.', {
      status_code: Type.Integer({ description: 'Status of the answer.' }),
      headers: headerList,
      body: nullable(
        'string',
        'The body, cut short if it is long; null if the upstream sends it, or the gateway its page of errors.',
      ),
    }),
  },
  { $id: 'TrafficPolicyCheckVerdict' },
);
