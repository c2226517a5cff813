import { Type } from 'typebox';

export const endpointView = Type.Object(
  {
    id: Type.String({ description: 'Unique identifier of the endpoint.' }),
    region: Type.String({ description: 'The region of this installation.' }),
    created_at: Type.String({ format: 'date-time', description: 'Since when it exists, RFC 3339.' }),
    updated_at: Type.String({ format: 'date-time', description: 'When it was changed last, RFC 3339.' }),
    type: Type.String({
      enum: ['ephemeral', 'edge', 'cloud'],
      description: 'ephemeral: of an agent. edge: of an edge. cloud: made by a call.',
    }),
    proto: Type.String({ enum: ['http', 'https', 'tcp', 'tls'], description: 'The protocol of its visitors.' }),
    scheme: Type.String({ description: 'The same.' }),
    hostport: Type.String({ description: 'Where visitors reach it, as host:port.' }),
    host: Type.String({ description: 'The host of it.' }),
    port: Type.Integer({ description: 'The port of it.' }),
    public_url: Type.String({ description: 'The same as a URL.' }),
    url: Type.Optional(Type.String({ description: 'The same; absent for edges.' })),
    metadata: Type.Optional(Type.String({ description: 'As it was given.' })),
    description: Type.Optional(Type.String({ description: 'As it was given.' })),
    name: Type.Optional(Type.String({ description: 'As it was given.' })),
    principal: Type.Optional(Type.Ref('Ref')),
    edge: Type.Optional(Type.Ref('Ref')),
    domain: Type.Optional(Type.Ref('Ref')),
    tcp_addr: Type.Optional(Type.Ref('Ref')),
    tunnel: Type.Optional(Type.Ref('Ref')),
    tunnel_session: Type.Optional(Type.Ref('Ref')),
    upstream_url: Type.Optional(Type.String({ description: 'Where the agent takes the traffic to, as it says.' })),
    upstream_protocol: Type.Optional(Type.String({ description: '"http1", "http2" or "".' })),
    bindings: Type.Array(Type.String(), {
      description: '"public", or "internal" for one that only endpoints of the account forward to.',
    }),
    pooling_enabled: Type.Boolean({ description: 'True if others may share the URL.' }),
    traffic_policy: Type.Optional(Type.String({ description: 'What becomes of its traffic, as it was given.' })),
    uri: Type.Optional(Type.String({ description: "URI of the endpoint's resource; only of a cloud endpoint." })),
  },
  { $id: 'Endpoint' },
);
