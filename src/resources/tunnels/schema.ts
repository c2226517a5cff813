import { Type } from 'typebox';

import { anyKey } from '../../lib/any-key.ts';

const startedAt = Type.String({ format: 'date-time', description: 'When it was opened, RFC 3339.' });
const region = Type.String({ description: 'The region of this installation.' });

export const TunnelSessionView = Type.Object(
  {
    id: Type.String({ description: 'Unique identifier of the session.' }),
    uri: Type.String({ description: "URI of this session's resource." }),
    agent_version: Type.String({ description: 'Version of the program that the agent is part of.' }),
    credential: Type.Ref('Ref'),
    ip: Type.String({ description: 'The address from which the agent is connected.' }),
    metadata: Type.String({ description: 'Metadata that the agent gave.' }),
    os: Type.String({ description: 'The system that the agent runs on.' }),
    region,
    started_at: startedAt,
    transport: Type.String({
      description: 'The protocol of the agent: "agent/2", or with a vendor its word in place of "agent".',
    }),
  },
  { $id: 'TunnelSession' },
);

export const TunnelView = Type.Object(
  {
    id: Type.String({ description: 'Unique identifier of the tunnel.' }),
    public_url: Type.Optional(Type.String({ description: 'Where visitors reach it; absent for a tunnel of labels.' })),
    started_at: startedAt,
    metadata: Type.String({ description: 'Metadata that the agent gave.' }),
    proto: Type.Optional(
      Type.String({
        enum: ['http', 'https', 'tcp', 'tls'],
        description: 'The protocol of its visitors; absent for a tunnel of labels.',
      }),
    ),
    region,
    tunnel_session: Type.Ref('Ref'),
    endpoint: Type.Optional(Type.Ref('Ref')),
    labels: Type.Optional(
      Type.Record(anyKey, Type.String(), {
        description: 'Labels of the tunnel; absent for a tunnel with an endpoint.',
      }),
    ),
    backends: Type.Optional(
      Type.Array(Type.Ref('Ref'), { description: 'The tunnel group backends that it belongs to by its labels.' }),
    ),
    forwards_to: Type.String({ description: 'Where the agent takes the traffic to, as it says.' }),
  },
  { $id: 'Tunnel' },
);

export const TunnelSessionCommand = Type.Object(
  {},
  { $id: 'TunnelSessionCommand', description: 'A command has no options.', additionalProperties: false },
);
