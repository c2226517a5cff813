import type { Endpoint } from '../../../../client/src/index.ts';
import { PolicyField } from '../../parts/policy/policy-field.tsx';
import { policyErrors } from '../../parts/policy/policy-words.ts';
import type { FormField } from '../../resource/describe.ts';
import { check, description, field, metadata, text } from '../../resource/fields.tsx';

/** Policy of a new endpoint: a cloud endpoint must end each visit. */
const firstPolicy = `on_http_request:
  - actions:
      - type: custom-response
        config:
          status_code: 200
          body: Hello
`;

export const fields: readonly FormField<Endpoint>[] = [
  text('url', {
    label: 'URL',
    mono: true,
    startsFocused: true,
    placeholder: 'https://app.example.com',
    hint: 'http, https or tls and a name that this account has reserved; tcp and a reserved address with its port. A name that ends with .internal is internal: only endpoints and routes of this account forward to it.',
  }),
  field<Endpoint, string>({
    name: 'traffic_policy',
    start: firstPolicy,
    Input: ({ value, onChange, error }) => (
      <PolicyField policy={value} onChange={onChange} error={error} url="https://app.example.com/" />
    ),
  }),
  check('pooling_enabled', 'Shared: others of this account that say the same may have this URL too.'),
  description({ note: 'optional' }),
  metadata(),
];

const aboutUrl = [18001, 18003, 18005, 18006, 18007, 18009, 18015, 18017, 18020, 18022, 18023, 20279, 20280, 20379];

/** Numbers of errors to the field that they are about. */
export const errors: Readonly<Record<number, string>> = {
  ...Object.fromEntries(aboutUrl.map((number) => [number, 'url'])),
  ...policyErrors('traffic_policy'),
  18002: 'traffic_policy',
  18011: 'traffic_policy',
  18012: 'description',
  18013: 'metadata',
  18016: 'pooling_enabled',
};
