import { Type } from 'typebox';
import type { Static } from 'typebox';

import { UserError } from '../../errors/user-error.ts';
import type { EdgeModule } from '../module.ts';
import { isKept, newSecret } from '../kept-secret.ts';
import {
  acceptEmails,
  acceptSignIn,
  buildSignIn,
  clientSecrets,
  emailInput,
  emailView,
  ipPolicyReference,
  presentSignIn,
  sameText,
  signInErrors,
  signInInput,
  signInView,
  withoutDefaults,
} from '../sign-in-settings.ts';
import type { HasClientSecret, SignInSettings } from '../sign-in-settings.ts';
import { signInStep } from '../sign-in-step.ts';
import { checkRules } from './check-rules.ts';
import { oneProvider } from './errors.ts';
import * as errors from './errors.ts';
import { findProvider, providerNames } from './providers.ts';
import type { ProviderName } from './providers.ts';

const cookiePrefix = 'gatehouse.';

const clientId = Type.String({
  description: 'Id of the client that was registered at the provider. Max 255 bytes.',
  maxBytes: 255,
  wellFormed: true,
  examples: ['gatehouse'],
});
const texts = (description: string, example: string) =>
  Type.Array(Type.String({ maxBytes: 255, wellFormed: true }), { description, examples: [[example]], maxItems: 100 });
const scopes = texts('Scopes to ask the provider for. Default: those that tell name, address and groups.', 'email');
const organizations = texts('GitHub alone: organizations whose members may enter.', 'example');
const teams = texts('GitHub alone: teams whose members may enter, as organization/team.', 'example/ops');

const ProviderInput = Type.Object(
  {
    client_id: clientId,
    client_secret: Type.Optional(
      Type.String({
        description:
          'Never shown again. Left out, the stored one stays if provider and client are the same. Max 4096 bytes.',
        maxBytes: 4096,
        wellFormed: true,
        examples: ['a long secret'],
      }),
    ),
    scopes: Type.Optional(scopes),
    ...emailInput,
    organizations: Type.Optional(organizations),
    teams: Type.Optional(teams),
  },
  { additionalProperties: false, description: 'The settings of this provider.' },
);

const Input = Type.Object(
  {
    ...signInInput,
    provider: Type.Object(Object.fromEntries(providerNames.map((name) => [name, Type.Optional(ProviderInput)])), {
      additionalProperties: false,
      description: 'The settings of one provider, by its name.',
      examples: [{ github: { client_id: 'gatehouse', client_secret: 'a long secret', organizations: ['example'] } }],
    }),
  },
  {
    $id: 'OauthModuleReplace',
    additionalProperties: false,
    description:
      'Asks visitors to sign in with one of the well-known providers, with a client of your own there. Register ' +
      '`https://HOST/.gatehouse/sign-in/callback` for each host of the edge. All else is as in the module `oidc`.',
  },
);

const providerView = {
  type: ['object', 'null'],
  properties: { client_id: clientId, scopes, ...emailView, organizations, teams },
  additionalProperties: false,
  description: 'Null but for the one that is set.',
};
const View = Type.Object(
  {
    ...signInView,
    provider: Type.Object(Object.fromEntries(providerNames.map((name) => [name, Type.Unsafe<unknown>(providerView)])), {
      description: 'The settings of the provider; the secret of the client is never shown.',
    }),
  },
  { $id: 'OauthModule', additionalProperties: false },
);

type OauthInput = Omit<Static<typeof Input>, 'provider'> & {
  readonly provider: Readonly<Partial<Record<ProviderName, Static<typeof ProviderInput>>>>;
};

interface OauthSettings extends SignInSettings, HasClientSecret {
  readonly provider: ProviderName;
  readonly client_id: string;
  readonly scopes: readonly string[];
  readonly email_addresses: readonly string[];
  readonly email_domains: readonly string[];
  readonly organizations: readonly string[];
  readonly teams: readonly string[];
}

/** Asks visitors to sign in with one of the well-known providers. */
export const oauth: EdgeModule<OauthInput, OauthSettings> = {
  name: 'oauth',
  title: 'OAuth',
  targets: ['https_route'],
  input: Input,
  view: View,
  errors: [...Object.values(errors), ...signInErrors],
  references: [ipPolicyReference],
  accept(input) {
    const given = theOne(input).settings.client_secret;
    return { ...accept(input), client_secret: given === undefined ? undefined : newSecret(given) };
  },
  isSame(input, { client_secret, ...stored }) {
    const given = theOne(input).settings.client_secret;
    return isKept(given, client_secret) && sameText(accept(input), stored);
  },
  secrets: {
    conceal: (settings) => ({
      ...withoutDefaults(sharedOf(settings), cookiePrefix),
      provider: { [settings.provider]: withoutEmpty(settings) },
    }),
    concealInput: (input) => {
      const { name, settings } = theOne(input);
      const { client_secret, ...rest } = settings;
      return {
        ...input,
        provider: { [name]: { ...rest, ...(client_secret === undefined ? {} : { client_secret: '(secret)' }) } },
      };
    },
    ...clientSecrets<OauthSettings>(
      (one, other) => one.provider === other.provider && one.client_id === other.client_id,
    ),
  },
  present: (settings, ref) => ({
    ...presentSignIn(sharedOf(settings), ref),
    provider: Object.fromEntries(
      providerNames.map((name) => [name, name === settings.provider ? ownOf(settings) : null]),
    ),
  }),
  build(settings) {
    const { client_secret: clientSecret, provider: name, client_id, organizations: orgs, teams: ofTeams } = settings;
    if (typeof clientSecret !== 'string') throw new Error('the client secret of the module oauth is not open');
    const { issuer, differs, groupsClaim = 'groups' } = findProvider(name);
    const provider = { name, issuer, clientId: client_id, clientSecret, scopes: settings.scopes, groupsClaim, differs };
    const groups = [...orgs, ...ofTeams, ...settings.groups];
    return { steps: [signInStep(buildSignIn({ ...settings, groups }, provider, settings))] };
  },
};

function theOne({ provider }: OauthInput): {
  readonly name: ProviderName;
  readonly settings: Static<typeof ProviderInput>;
} {
  const given = providerNames.flatMap((name) => {
    const settings = provider[name];
    return settings === undefined ? [] : [{ name, settings }];
  });
  const [one] = given;
  if (one === undefined || given.length > 1) throw new UserError(oneProvider, { count: given.length });
  return one;
}

function accept(input: OauthInput): Omit<OauthSettings, 'client_secret'> {
  const { name, settings } = theOne(input);
  const { scopes: given = [], organizations: orgs = [], teams: ofTeams = [] } = settings;
  const accepted = {
    ...acceptSignIn(input, cookiePrefix),
    ...acceptEmails(settings),
    provider: name,
    client_id: settings.client_id,
    scopes: given.length === 0 ? findProvider(name).scopes : given,
    organizations: orgs,
    teams: ofTeams,
  };
  checkRules(accepted);
  return accepted;
}

type Own = Pick<
  OauthSettings,
  'client_id' | 'scopes' | 'email_addresses' | 'email_domains' | 'organizations' | 'teams'
>;

function ownOf({
  client_id,
  scopes: own,
  email_addresses,
  email_domains,
  organizations: orgs,
  teams: ofTeams,
}: OauthSettings): Own {
  return { client_id, scopes: own, email_addresses, email_domains, organizations: orgs, teams: ofTeams };
}

function sharedOf(settings: OauthSettings): SignInSettings {
  const { provider: _provider, client_secret: _secret, ...rest } = settings;
  const own = Object.keys(ownOf(settings));
  // What is left are the fields that every such module has.
  return Object.fromEntries(Object.entries(rest).filter(([name]) => !own.includes(name))) as unknown as SignInSettings;
}

function withoutEmpty(settings: OauthSettings): object {
  const usual = findProvider(settings.provider).scopes;
  return Object.fromEntries(
    Object.entries(ownOf(settings)).filter(
      ([name, value]) => value.length > 0 && !(name === 'scopes' && sameText(value, usual)),
    ),
  );
}
