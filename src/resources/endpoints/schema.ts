import { Type } from 'typebox';

import { text, textFields } from '../../api/body/text-fields.ts';

export const urlInput = text(
  300,
  'Where it is reached: scheme, host and perhaps port. The schemes are http, https, tcp and tls. A public name must be reserved, an internal one ends with .internal.',
  'https://app.internal',
);
export const policyInput = text(
  262_144,
  'What becomes of its traffic, as YAML or JSON; kept to the byte. It must end each visit, as with custom-response, deny or forward-internal.',
  '{"on_http_request":[{"actions":[{"type":"custom-response","config":{"status_code":200,"body":"hello"}}]}]}',
);
const bindings = Type.Array(Type.String(), {
  description: 'One of "public" and "internal". Without it the name decides.',
  examples: [['public']],
});
export const poolingInput = Type.Boolean({
  description: 'True: others of the account that say the same may have this URL too, and share its visitors.',
  default: false,
});

export const EndpointCreate = Type.Object(
  {
    ...textFields,
    url: urlInput,
    type: Type.Optional(Type.String({ description: 'Always "cloud".', examples: ['cloud'] })),
    traffic_policy: policyInput,
    bindings: Type.Optional(bindings),
    pooling_enabled: Type.Optional(poolingInput),
  },
  { $id: 'EndpointCreate', additionalProperties: false },
);

export const EndpointUpdate = Type.Object(
  {
    ...textFields,
    url: Type.Optional(urlInput),
    traffic_policy: Type.Optional(policyInput),
    bindings: Type.Optional(bindings),
    pooling_enabled: Type.Optional(poolingInput),
  },
  { $id: 'EndpointUpdate', additionalProperties: false },
);
