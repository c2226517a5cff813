import { createHash } from 'node:crypto';

import { Type } from 'typebox';
import type { Static } from 'typebox';

import { duplicateEntry, notAnIpPolicyId } from '../errors/shared.ts';
import { quote, UserError } from '../errors/user-error.ts';
import { anyKey } from '../lib/any-key.ts';
import { comparableEmail } from '../lib/email-address.ts';
import { isToken } from '../lib/http-syntax.ts';
import { modulePolicyNotFound } from './ip-restriction/errors.ts';
import { keptSecret } from './kept-secret.ts';
import type { KeptSecret } from './kept-secret.ts';
import { enabledInput, enabledView } from './module.ts';
import type { ModuleReference, Ref, ReferenceKind, Settings } from './module.ts';
import type { NetworkRule, SignIn, SignInProvider, TrustedNetwork } from './sign-in.ts';
import * as errors from './sign-in-errors.ts';

/** The longest session, and that of modules which set no limit, in seconds. */
const longestSession = 31_536_000;
const usualSession = 1_209_600;

const networks = ['any', 'or_login', 'and_login'] as const;

const text = (description: string, example: string, maxBytes: number) =>
  Type.String({ description, maxBytes, wellFormed: true, examples: [example] });
const texts = (description: string, example: string) =>
  Type.Array(Type.String({ maxBytes: 255, wellFormed: true }), { description, examples: [[example]], maxItems: 100 });
const flag = (description: string) => Type.Boolean({ description, default: false });
const seconds = (description: string) =>
  Type.Integer({ description, minimum: 0, maximum: longestSession, examples: [28_800], default: 0 });

const shared = {
  options_passthrough: flag('true: requests with the method OPTIONS, such as CORS preflights, need no login.'),
  cookie_prefix: text('The name of the session cookie begins with it, after "__Host-". Max 64 bytes.', 'shop.', 64),
  inactivity_timeout: seconds('A session ends when it was not used for so many seconds. 0: no such limit.'),
  maximum_duration: seconds('A session ends so many seconds after the login. 0: 14 days. At most a year.'),
  auth_check_interval: seconds('Every so many seconds the provider is asked whether the login still holds. 0: never.'),
  email_addresses: texts('E-mail addresses that may enter, if the provider has verified them.', 'ada@example.com'),
  email_domains: texts('Domains of verified e-mail addresses that may enter.', 'example.com'),
  groups: texts('Groups whose members may enter.', 'ops'),
  claims: Type.Record(
    anyKey,
    Type.Array(Type.String({ maxBytes: 255, wellFormed: true }), { minItems: 1, maxItems: 100 }),
    {
      description: 'Claims that a visitor must have beside that, each with one of these values.',
      examples: [{ department: ['sales', 'support'] }],
    },
  ),
  unverified_email: flag(
    'true: e-mail addresses count though the provider does not say that it has verified them. Only for a provider where ' +
      'nobody can choose an address.',
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
  upstream_token: flag(
    'true: the upstream also gets a signed token (JWT) in `Gatehouse-User-Token`, to be checked with the keys at ' +
      '`/.gatehouse/jwks.json` of the same host.',
  ),
};

const ipPolicyIds = texts(
  'Ids of the IP policies of the trusted network; needed unless `network` is any.',
  'ipp_2tQzYDLwIVU45s8sSMNpRfQp1Ng',
);

/** Fields that every module has by which visitors sign in. */
export const signInInput = {
  enabled: enabledInput,
  options_passthrough: Type.Optional(shared.options_passthrough),
  cookie_prefix: Type.Optional(shared.cookie_prefix),
  inactivity_timeout: Type.Optional(shared.inactivity_timeout),
  maximum_duration: Type.Optional(shared.maximum_duration),
  auth_check_interval: Type.Optional(shared.auth_check_interval),
  groups: Type.Optional(shared.groups),
  claims: Type.Optional(shared.claims),
  unverified_email: Type.Optional(shared.unverified_email),
  network: Type.Optional(shared.network),
  ip_policy_ids: Type.Optional(ipPolicyIds),
  upstream_token: Type.Optional(shared.upstream_token),
};

/** Settings that stand with the provider where a module has several. */
export const emailInput = {
  email_addresses: Type.Optional(shared.email_addresses),
  email_domains: Type.Optional(shared.email_domains),
};

export const signInView = {
  enabled: enabledView,
  options_passthrough: shared.options_passthrough,
  cookie_prefix: shared.cookie_prefix,
  inactivity_timeout: shared.inactivity_timeout,
  maximum_duration: shared.maximum_duration,
  auth_check_interval: shared.auth_check_interval,
  groups: shared.groups,
  claims: shared.claims,
  unverified_email: shared.unverified_email,
  network: shared.network,
  ip_policies: Type.Array(Type.Ref('Ref'), { description: 'The IP policies of the trusted network.' }),
  upstream_token: shared.upstream_token,
};

export const emailView = { email_addresses: shared.email_addresses, email_domains: shared.email_domains };

const InputObject = Type.Object(signInInput);
type SignInInput = Static<typeof InputObject>;

/** The settings that every such module stores. */
export interface SignInSettings extends Settings {
  readonly options_passthrough: boolean;
  readonly cookie_prefix: string;
  readonly inactivity_timeout: number;
  readonly maximum_duration: number;
  readonly auth_check_interval: number;
  readonly groups: readonly string[];
  readonly claims: Readonly<Record<string, readonly string[]>>;
  readonly unverified_email: boolean;
  readonly network: NetworkRule;
  readonly ip_policy_ids: readonly string[];
  readonly upstream_token: boolean;
}

const defaults: Omit<SignInSettings, 'cookie_prefix'> = {
  enabled: true,
  options_passthrough: false,
  inactivity_timeout: 0,
  maximum_duration: 0,
  auth_check_interval: 0,
  groups: [],
  claims: {},
  unverified_email: false,
  network: 'any',
  ip_policy_ids: [],
  upstream_token: false,
};

/** Errors that the shared fields meet. */
export const signInErrors = [...Object.values(errors), modulePolicyNotFound, notAnIpPolicyId, duplicateEntry];

export const ipPolicyReference: ModuleReference<SignInSettings> = {
  kind: 'ip_policy',
  field: 'ip_policy_ids',
  nameField: 'ip_policies',
  isOptional: true,
  ids: ({ ip_policy_ids }) => ip_policy_ids,
  wrongKind: (id) => new UserError(notAnIpPolicyId, { field: 'ip_policy_ids', id: quote(id) }),
  missing: (id) => new UserError(modulePolicyNotFound, { id: quote(id) }),
};

/** Reads the shared fields. `prefix` is that of cookies where none is given. */
export function acceptSignIn(input: SignInInput, prefix: string): SignInSettings {
  const settings = { ...defaults, cookie_prefix: prefix, ...definedOf(input) };
  if (settings.cookie_prefix !== '' && !isToken(settings.cookie_prefix))
    throw new UserError(errors.invalidCookiePrefix, { prefix: quote(settings.cookie_prefix) });
  if (settings.network !== 'any' && settings.ip_policy_ids.length === 0)
    throw new UserError(errors.networkWithoutPolicy, { network: settings.network });
  if (settings.network === 'any' && settings.ip_policy_ids.length > 0) throw new UserError(errors.policyWithoutNetwork);
  checkClaimNames(settings.claims);
  return settings;
}

/** Throws for a name that no claim has, or where there are too many. */
export function checkClaimNames(claims: Readonly<Record<string, unknown>>): void {
  const wrong = Object.keys(claims).find(
    (name, at) => at >= 20 || name === '' || !name.isWellFormed() || Buffer.byteLength(name) > 255,
  );
  if (wrong !== undefined) throw new UserError(errors.invalidClaimName, { name: quote(wrong) });
}

function definedOf(input: SignInInput): Partial<SignInSettings> {
  const own = Object.keys(defaults);
  return Object.fromEntries(
    Object.entries(input).filter(
      ([name, value]) => value !== undefined && (own.includes(name) || name === 'cookie_prefix'),
    ),
  );
}

/** The policies of the network, and what they are for; undefined where the network does not matter. */
function trustedNetwork({ network, ip_policy_ids: policyIds }: SignInSettings): TrustedNetwork | undefined {
  return network === 'any' ? undefined : { rule: network, policyIds };
}

/** Brings addresses and domains to the spelling that they are compared in. */
export function acceptEmails(given: {
  readonly email_addresses?: readonly string[];
  readonly email_domains?: readonly string[];
}) {
  const email_addresses = (given.email_addresses ?? []).map(comparableEmail);
  const email_domains = (given.email_domains ?? []).map((each) => comparableEmail(each).replace(/^@/, ''));
  for (const address of email_addresses)
    if (!/^[^@\s]+@[^@\s]+$/.test(address)) throw new UserError(errors.invalidEmail, { email: quote(address) });
  for (const domain of email_domains)
    if (!/^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/.test(domain))
      throw new UserError(errors.invalidEmailDomain, { domain: quote(domain) });
  return { email_addresses, email_domains };
}

/** The settings without those that are as they are by default. */
export function withoutDefaults(settings: SignInSettings, prefix: string): Settings {
  const known = new Map<string, unknown>([...Object.entries(defaults), ['cookie_prefix', prefix]]);
  const shown = Object.entries(settings).filter(
    ([name, value]) => name === 'enabled' || JSON.stringify(value) !== JSON.stringify(known.get(name)),
  );
  return { enabled: settings.enabled, ...Object.fromEntries(shown) };
}

export function presentSignIn(
  { ip_policy_ids, ...settings }: SignInSettings,
  ref: (kind: ReferenceKind, id: string) => Ref,
): object {
  return { ...settings, ip_policies: ip_policy_ids.map((id) => ref('ip_policy', id)) };
}

/** Settings with the secret of a client. */
export interface HasClientSecret {
  /** Undefined: that which is stored is to stay. A text: open, as the gateway gets it. */
  readonly client_secret: KeptSecret | string | undefined;
}

/** How the secret of a client is kept. It stays only for the same client: another provider must not get it. */
export function clientSecrets<Stored extends HasClientSecret & Settings>(
  isSameOwner: (one: Stored, other: Stored) => boolean,
) {
  const missing = (): Error => new UserError(errors.clientSecretMissing);
  return keptSecret<'client_secret', Stored>({
    field: 'client_secret',
    purpose: 'client secret',
    isSameOwner,
    missing,
  });
}

export function sameText(one: unknown, other: unknown): boolean {
  return stable(one) === stable(other);
}

/** Keys in one order: stored settings may have come in another. */
function stable(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(stable).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? '';
  return `{${Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, each]) => `${name}:${stable(each)}`)
    .join()}}`;
}

interface Emails {
  readonly email_addresses: readonly string[];
  readonly email_domains: readonly string[];
}

/** The rules that traffic goes by. `provider` has its secret open. */
export function buildSignIn(settings: SignInSettings, provider: SignInProvider, emails: Emails): SignIn {
  const { clientSecret: _secret, ...shown } = provider;
  return {
    key: createHash('sha256').update(JSON.stringify(shown)).digest('hex'),
    provider,
    cookiePrefix: settings.cookie_prefix,
    optionsPassthrough: settings.options_passthrough,
    inactivitySeconds: settings.inactivity_timeout,
    maximumSeconds: settings.maximum_duration === 0 ? usualSession : settings.maximum_duration,
    checkSeconds: settings.auth_check_interval,
    mayEnter: {
      emails: new Set(emails.email_addresses),
      domains: new Set(emails.email_domains),
      groups: new Set(settings.groups),
      claims: Object.entries(settings.claims).map(([name, values]) => [name, new Set(values)] as const),
      unverifiedEmail: settings.unverified_email,
    },
    network: trustedNetwork(settings),
    upstreamToken: settings.upstream_token,
  };
}
