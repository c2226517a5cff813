import { Type } from 'typebox';

import { nullable } from '../../api/body/view-fields.ts';
import { anyKey } from '../../lib/any-key.ts';
import { restrictionTypes } from '../../snapshot/contract.ts';
import { mostRoutes } from './consulted.ts';

const textList = Type.Array(Type.String({ maxLength: 255 }), { maxItems: 100 });

export const DescribedPerson = Type.Object(
  {
    email: Type.Optional(
      Type.String({ description: 'A verified address.', maxLength: 320, examples: ['ada@example.com'] }),
    ),
    groups: Type.Optional({ ...textList, description: 'All groups of the visitor.', examples: [['ops']] }),
    claims: Type.Optional(
      Type.Record(
        anyKey,
        { ...textList, minItems: 1 },
        {
          description: 'Further claims, each with all its values.',
          examples: [{ department: ['it'] }],
        },
      ),
    ),
  },
  {
    description:
      'Somebody who has signed in, as the provider would describe them. Without it, the verdict names the logins that are asked for.',
    additionalProperties: false,
  },
);

const DescribedCertificate = Type.Object(
  {
    authority_id: Type.Optional(
      Type.String({
        description: 'The certificate authority that has signed it. Left out: the visitor shows none.',
        examples: ['ca_2tQzYDLwIVU45s8sSMNpRfQp1Ng'],
      }),
    ),
  },
  {
    description: 'What the visitor shows where a certificate is asked for; one is taken to be valid.',
    additionalProperties: false,
  },
);

export const IpCheckRequest = Type.Object(
  {
    ip: Type.String({ description: 'The address to try, IPv4 or IPv6.', examples: ['203.0.113.7'] }),
    type: Type.Optional(
      Type.Union(
        restrictionTypes.map((each) => Type.Literal(each)),
        { description: 'Try the IP restrictions of this type.' },
      ),
    ),
    edge_id: Type.Optional(
      Type.String({
        description: 'Try traffic to this TCP, TLS or HTTPS edge.',
        examples: ['edgtcp_2tQzYDLwIVU45s8sSMNpRfQp1Ng'],
      }),
    ),
    route_id: Type.Optional(
      Type.String({
        description: 'Try traffic to this route of an HTTPS edge. With `edge_id` too, it must be a route of that edge.',
        examples: ['edghtsrt_2tQzYDLwIVU45s8sSMNpRfQp1Ng'],
      }),
    ),
    path: Type.Optional(
      Type.String({
        description:
          'Path of the request. With the `edge_id` of an HTTPS edge: only the route that it leads to is looked at.',
        examples: ['/v2/admin'],
        maxLength: 8_000,
      }),
    ),
    visitor: Type.Optional(DescribedPerson),
    headers: Type.Optional(
      Type.Record(anyKey, Type.String({ maxLength: 8_000 }), {
        description:
          'All headers of the request. With them the verdict says what becomes of its User-Agent and its password; without ' +
          'them it names what is asked for.',
        examples: [{ 'user-agent': 'curl/8.9.0' }],
        maxProperties: 100,
      }),
    ),
    certificate: Type.Optional(DescribedCertificate),
  },
  {
    $id: 'IpCheckRequest',
    description: 'Give `ip`, and `type` or what traffic goes to.',
    examples: [{ ip: '203.0.113.7', type: 'endpoints' }],
    additionalProperties: false,
  },
);

const rule = Type.Unsafe<unknown>({
  type: ['object', 'null'],
  description: 'The rule that decided; null when no rule matches, which refuses.',
  required: ['id', 'uri', 'cidr', 'action', 'ip_policy'],
  properties: {
    id: Type.String(),
    uri: Type.String(),
    cidr: Type.String(),
    action: Type.String({ enum: ['allow', 'deny'] }),
    ip_policy: Type.Ref('Ref'),
  },
});

const verdictFields = {
  allowed: Type.Boolean({
    description:
      'Whether the address is let through now; false: every visitor from it is refused. For an HTTPS edge: at one of its ' +
      'routes or more.',
  }),
  allowed_if_all_enforced: Type.Boolean({
    description: 'Whether it would be let through if every restriction that only warns were enforced.',
  }),
  explanation: Type.String({ description: 'The verdict in words.' }),
  further_checks: Type.Array(
    Type.Object({
      module: Type.String({ description: 'The module that decides.', examples: ['basic_auth'] }),
      by: Type.String({ description: 'What it decides by, in words.' }),
      asks: nullable(
        'string',
        'What a visitor must show, in words that go on after "a visitor", such as "needs a password"; null where it decides by ' +
          'something that nobody is asked for.',
      ),
    }),
    { description: 'Modules that decide about access by something other than the address.' },
  ),
};

const checks = (description: string) =>
  Type.Array(
    Type.Object({
      kind: Type.String({ enum: ['ip_restriction', 'module'] }),
      id: Type.String({ description: 'Id of the restriction, or of the edge or route whose module it is.' }),
      module: nullable('string', 'Name of the module, such as "ip_restriction"; null for a restriction.'),
      effect: Type.String({
        enum: ['allows', 'refuses', 'warns', 'off'],
        description: 'warns: it would refuse but is not enforced. off: the module is disabled.',
      }),
      ip_policies: Type.Array(Type.Ref('Ref'), { description: 'The IP policies that were consulted.' }),
      rule,
      reason: Type.String({ description: 'Why, in words.' }),
    }),
    { description },
  );

export const IpCheckVerdict = Type.Object(
  {
    ip: Type.String({ description: 'The address in canonical form.' }),
    ...verdictFields,
    checks: checks('Everything that was consulted, in order; for an HTTPS edge, what its routes have in common.'),
    routes: nullable(
      'array',
      `The same for each route of an HTTPS edge, newest first, at most ${mostRoutes}; null for everything else.`,
      Type.Object({
        id: Type.String({ description: 'Id of the route.' }),
        match_type: Type.String({ enum: ['path_prefix', 'exact_path'] }),
        match: Type.String({ description: 'The path of the route.' }),
        ...verdictFields,
        checks: checks('What was consulted beside what all routes have in common.'),
      }),
    ),
  },
  { $id: 'IpCheckVerdict' },
);
