import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

import type { Static, TObject } from 'typebox';

import { duplicateEntry, notAnIpPolicyId } from '../errors/shared.ts';
import { quote, UserError } from '../errors/user-error.ts';
import { comparableEmail } from '../lib/email-address.ts';
import { isToken } from '../lib/http-syntax.ts';
import { modulePolicyNotFound } from './ip-restriction/errors.ts';
import type { ModuleReference, Ref, ReferenceKind, Settings } from './module.ts';
import type { NetworkRule, SignIn, SignInProvider, TrustedNetwork } from './sign-in.ts';
import * as errors from './sign-in-errors.ts';
import type { signInInput } from './sign-in-fields.ts';

/** The longest session of modules that set no limit, in seconds. */
const usualSession = 1_209_600;

export type SignInInput = Partial<Settings> & Static<TObject<typeof signInInput>>;

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

export interface Emails {
  readonly email_addresses: readonly string[];
  readonly email_domains: readonly string[];
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

/** Undefined where the network does not matter. */
function trustedNetwork({ network, ip_policy_ids: policyIds }: SignInSettings): TrustedNetwork | undefined {
  return network === 'any' ? undefined : { rule: network, policyIds };
}

/** Brings addresses and domains to the spelling that they are compared in. */
export function acceptEmails(given: Partial<Emails>): Emails {
  const email_addresses = (given.email_addresses ?? []).map(comparableEmail);
  const email_domains = (given.email_domains ?? []).map((each) => comparableEmail(each).replace(/^@/, ''));
  for (const address of email_addresses)
    if (!/^[^@\s]+@[^@\s]+$/.test(address)) throw new UserError(errors.invalidEmail, { email: quote(address) });
  for (const domain of email_domains)
    if (!/^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/.test(domain))
      throw new UserError(errors.invalidEmailDomain, { domain: quote(domain) });
  return { email_addresses, email_domains };
}

/** The settings without the secret, and without those that are as they are by default. */
export function withoutDefaults(settings: SignInSettings, own: object): Settings {
  const known = new Map<string, unknown>(Object.entries({ ...defaults, ...own }));
  const shown = Object.entries(settings).filter(
    ([name, value]) => name === 'enabled' || (name !== 'client_secret' && !isDeepStrictEqual(value, known.get(name))),
  );
  return { enabled: settings.enabled, ...Object.fromEntries(shown) };
}

export function presentSignIn(
  { ip_policy_ids, client_secret: _secret, ...settings }: SignInSettings & { readonly client_secret?: unknown },
  ref: (kind: ReferenceKind, id: string) => Ref,
): object {
  return { ...settings, ip_policies: ip_policy_ids.map((id) => ref('ip_policy', id)) };
}

/** The rules that traffic goes by. `provider` has its secret open. */
export function buildSignIn(settings: SignInSettings & Emails, provider: SignInProvider): SignIn {
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
      emails: new Set(settings.email_addresses),
      domains: new Set(settings.email_domains),
      groups: new Set(settings.groups),
      claims: Object.entries(settings.claims).map(([name, values]) => [name, new Set(values)] as const),
      unverifiedEmail: settings.unverified_email,
    },
    network: trustedNetwork(settings),
    upstreamToken: settings.upstream_token,
  };
}
