import { Type } from 'typebox';

import { restrictionTypes } from '../../snapshot/contract.ts';

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
        description: 'Try traffic to this route of an HTTPS edge.',
        examples: ['edghtsrt_2tQzYDLwIVU45s8sSMNpRfQp1Ng'],
      }),
    ),
  },
  { $id: 'IpCheckRequest', description: 'Give `ip` and one of the others.', additionalProperties: false },
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

export const IpCheckVerdict = Type.Object(
  {
    ip: Type.String({ description: 'The address in canonical form.' }),
    allowed: Type.Boolean({ description: 'Whether it is let through now.' }),
    allowed_if_all_enforced: Type.Boolean({
      description: 'Whether it would be let through if every restriction that only warns were enforced.',
    }),
    explanation: Type.String({ description: 'The verdict in words.' }),
    further_checks: Type.Array(
      Type.Object({
        module: Type.String({ description: 'The module that decides.', examples: ['basic_auth'] }),
        by: Type.String({ description: 'What it decides by, in words.' }),
      }),
      { description: 'Modules that decide about access by something else than the address.' },
    ),
    checks: Type.Array(
      Type.Object({
        kind: Type.String({ enum: ['ip_restriction', 'module'] }),
        id: Type.String({ description: 'Id of the restriction, or of the edge or route whose module it is.' }),
        effect: Type.String({
          enum: ['allows', 'refuses', 'warns', 'off'],
          description: 'warns: it would refuse but is not enforced. off: the module is disabled.',
        }),
        ip_policies: Type.Array(Type.Ref('Ref'), { description: 'The IP policies that were consulted.' }),
        rule,
        reason: Type.String({ description: 'Why, in words.' }),
      }),
      { description: 'Everything that was consulted, in order.' },
    ),
  },
  { $id: 'IpCheckVerdict' },
);
