import { Type } from 'typebox';
import type { TOptional, TProperties } from 'typebox';

import { anyKey } from '../lib/any-key.ts';

/** The longest session, in seconds. */
const longestSession = 31_536_000;

const networks = ['any', 'or_login', 'and_login'] as const;

const text = (description: string, example: string, maxBytes: number) =>
  Type.String({ description, maxBytes, wellFormed: true, examples: [example] });
export const texts = (description: string, example: string) =>
  Type.Array(Type.String({ maxBytes: 255, wellFormed: true }), { description, examples: [[example]], maxItems: 100 });
const flag = (description: string) => Type.Boolean({ description, default: false });
const seconds = (description: string) =>
  Type.Integer({ description, minimum: 0, maximum: longestSession, examples: [28_800], default: 0 });

/** Fields of every module by which visitors sign in. */
const shared = {
  options_passthrough: flag('true: requests with the method OPTIONS, such as CORS preflights, need no login.'),
  cookie_prefix: text('The name of the session cookie begins with it, after "__Host-". Max 64 bytes.', 'shop.', 64),
  inactivity_timeout: seconds('Seconds without use after which a session ends. 0: no such limit.'),
  maximum_duration: seconds('Seconds after the login at which a session ends. 0: 14 days. At most a year.'),
  auth_check_interval: seconds(
    'Seconds after which Gatehouse asks the provider again whether the login still holds. 0: never.',
  ),
  groups: texts('Groups whose members may enter.', 'ops'),
  claims: Type.Record(
    anyKey,
    Type.Array(Type.String({ maxBytes: 255, wellFormed: true }), { minItems: 1, maxItems: 100 }),
    {
      description: 'Claims that a visitor must have as well, each with one of these values.',
      examples: [{ department: ['sales', 'support'] }],
    },
  ),
  unverified_email: flag(
    'true: e-mail addresses count even if the provider does not say that it has verified them. Use it only for a provider where nobody can choose an address.',
  ),
  network: Type.Union(
    networks.map((each) => Type.Literal(each)),
    {
      description:
        'any: a login, from everywhere. or_login: visitors whom the IP policies allow need no login, all others do. and_login: ' +
        'only visitors whom the IP policies allow, and only after a login.',
      default: 'any',
    },
  ),
};

const upstreamToken = flag(
  'true: the upstream also gets a signed token (JWT) in `Gatehouse-User-Token`, to be checked with the keys at ' +
    '`/.gatehouse/jwks.json` of the same host.',
);

const ipPolicyIds = texts(
  'Ids of the IP policies of the trusted network; needed unless `network` is any.',
  'ipp_2tQzYDLwIVU45s8sSMNpRfQp1Ng',
);

export const signInInput = {
  ...optional(shared),
  ip_policy_ids: Type.Optional(ipPolicyIds),
  upstream_token: Type.Optional(upstreamToken),
};

export const signInView = {
  ...shared,
  ip_policies: Type.Array(Type.Ref('Ref'), { description: 'The IP policies of the trusted network.' }),
  upstream_token: upstreamToken,
};

/** Settings that stand with the provider where a module has several. */
export const emailView = {
  email_addresses: texts('E-mail addresses that may enter, if the provider has verified them.', 'ada@example.com'),
  email_domains: texts('Domains of verified e-mail addresses that may enter.', 'example.com'),
};

export const emailInput = optional(emailView);

export const clientId = Type.String({
  description: 'Id of the client that was registered at the provider. Max 255 bytes.',
  maxBytes: 255,
  wellFormed: true,
  examples: ['gatehouse'],
});

/** The secret of that client. `owners` are those for which a stored one stays. */
export const clientSecret = (owners: string) =>
  Type.Optional(
    Type.String({
      description: `Never shown again. If it is left out, the stored one stays while ${owners} are the same. Max 4096 bytes.`,
      maxBytes: 4096,
      wellFormed: true,
      examples: ['a long secret'],
    }),
  );

function optional<Fields extends TProperties>(fields: Fields) {
  // The same names.
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, Type.Optional(field)])) as {
    readonly [Name in keyof Fields]: TOptional<Fields[Name]>;
  };
}
