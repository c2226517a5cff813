import { Type } from 'typebox';

import { nullable } from '../../api/body/view-fields.ts';
import { anyKey } from '../../lib/any-key.ts';
import { restrictionTypes } from '../../snapshot/contract.ts';
import { mostRoutes } from './consulted.ts';

const textList = Type.Array(Type.String({ maxLength: 255 }), { maxItems: 100 });

export const DescribedPerson = Type.Object(
  {
    email: Type.Optional(
      Type.String({
        description: 'E-mail address of the visitor, taken to be verified.',
        maxLength: 320,
        examples: ['ada@example.com'],
      }),
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
      'A visitor who has signed in, as the provider would describe the person. Without it, the verdict names the logins that are asked for.',
    additionalProperties: false,
  },
);

const DescribedCertificate = Type.Object(
  {
    authority_id: Type.Optional(
      Type.String({
        description: 'The certificate authority that has signed the certificate. Left out: the visitor shows none.',
        examples: ['ca_2tQzYDLwIVU45s8sSMNpRfQp1Ng'],
      }),
    ),
  },
  {
    description: 'The certificate that the visitor shows where one is asked for. It is taken to be valid.',
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
        description: 'Try traffic to this TCP, TLS or HTTPS edge, or to this endpoint of an agent or of the cloud.',
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
          'Path of the request. With the `edge_id` of an HTTPS edge, only the route for this path is checked.',
        examples: ['/v2/admin'],
        maxLength: 8_000,
      }),
    ),
    method: Type.Optional(
      Type.String({
        description:
          'Method of the request. Without it, checks that go by the method are among the further ones, and others take a GET.',
        examples: ['POST'],
        pattern: '^[A-Za-z-]{1,32}$',
      }),
    ),
    visitor: Type.Optional(DescribedPerson),
    headers: Type.Optional(
      Type.Record(anyKey, Type.String({ maxLength: 8_000 }), {
        description:
          'All headers of the request. With them, the verdict covers its User-Agent and its password; without them, it names what a visitor ' +
          'must show.',
        examples: [{ 'user-agent': 'curl/8.9.0' }],
        maxProperties: 100,
      }),
    ),
    certificate: Type.Optional(DescribedCertificate),
  },
  {
    $id: 'IpCheckRequest',
    description: 'Give `ip`, and either `type`, or the edge or route that traffic goes to.',
    examples: [{ ip: '203.0.113.7', type: 'endpoints' }],
    additionalProperties: false,
  },
);

const rule = Type.Unsafe<unknown>({
  type: ['object', 'null'],
  description: 'The rule that decided; null if no rule matches, which is a refusal.',
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
      'true: the address is let through now, at an HTTPS edge by at least one of its routes. false: every visitor from the address is ' +
      'refused.',
  }),
  allowed_if_all_enforced: Type.Boolean({
    description: 'true: the address would be let through too if every restriction that only warns were enforced.',
  }),
  explanation: Type.String({ description: 'The verdict in words.' }),
  further_checks: Type.Array(
    Type.Object({
      module: Type.String({ description: 'The module that decides.', examples: ['basic_auth'] }),
      by: Type.String({ description: 'Basis of the decision of this module, in words.' }),
      asks: nullable(
        'string',
        'The demand on a visitor, in words that continue "a visitor", such as "needs a password"; null if the module asks visitors for ' +
          'nothing.',
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
        description: 'warns: the restriction would refuse, but is not enforced. off: the module is disabled.',
      }),
      ip_policies: Type.Array(Type.Ref('Ref'), { description: 'The IP policies that were consulted.' }),
      rule,
      reason: Type.String({ description: 'The reason of this effect, in words.' }),
    }),
    { description },
  );

export const IpCheckVerdict = Type.Object(
  {
    ip: Type.String({ description: 'The address in canonical form.' }),
    ...verdictFields,
    checks: checks(
      'Every restriction and module that was consulted, in order; for an HTTPS edge, those that all routes have in common.',
    ),
    routes: nullable(
      'array',
      `The verdict for each route of an HTTPS edge, newest first, at most ${mostRoutes}; null for everything else.`,
      Type.Object({
        id: Type.String({ description: 'Id of the route.' }),
        match_type: Type.String({ enum: ['path_prefix', 'exact_path'] }),
        match: Type.String({ description: 'The path of the route.' }),
        ...verdictFields,
        checks: checks('Restrictions and modules that were consulted for this route alone.'),
      }),
    ),
  },
  { $id: 'IpCheckVerdict' },
);
