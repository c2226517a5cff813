import { Type } from 'typebox';
import type { Static } from 'typebox';

import { UserError } from '../../errors/user-error.ts';
import { moduleInput, moduleView } from '../module.ts';
import type { EdgeModule } from '../module.ts';
import { clientId, clientSecret, emailInput, emailView, signInInput, signInView, texts } from '../sign-in-fields.ts';
import { signInModule } from '../sign-in-module.ts';
import type { StoredSignIn } from '../sign-in-module.ts';
import { presentSignIn, signInErrors } from '../sign-in-settings.ts';
import { checkRules } from './check-rules.ts';
import { oneProvider } from './errors.ts';
import * as errors from './errors.ts';
import { findProvider, providerNames } from './providers.ts';
import type { ProviderName } from './providers.ts';

const scopes = texts('Scopes to ask the provider for. Default: those that tell name, address and groups.', 'email');
const organizations = texts('GitHub only: organizations whose members may enter.', 'example');
const teams = texts('GitHub only: teams whose members may enter, as organization/team.', 'example/ops');

const ProviderInput = Type.Object(
  {
    client_id: clientId,
    client_secret: clientSecret('provider and client'),
    scopes: Type.Optional(scopes),
    ...emailInput,
    organizations: Type.Optional(organizations),
    teams: Type.Optional(teams),
  },
  { additionalProperties: false, description: 'The settings of this provider.' },
);

const Input = moduleInput(
  'Oauth',
  {
    ...signInInput,
    provider: Type.Object(Object.fromEntries(providerNames.map((name) => [name, Type.Optional(ProviderInput)])), {
      additionalProperties: false,
      description: 'The settings of one provider, by its name.',
      examples: [{ github: { client_id: 'gatehouse', client_secret: 'a long secret', organizations: ['example'] } }],
    }),
  },
  'Asks visitors to sign in with one of the well-known providers, with a client of your own there. Register ' +
    '`https://HOST/.gatehouse/sign-in/callback` for each host of the edge. All else is as in the module `oidc`.',
);

const providerView = {
  type: ['object', 'null'],
  properties: { client_id: clientId, scopes, ...emailView, organizations, teams },
  additionalProperties: false,
  description: 'Null but for the one that is set.',
};
const View = moduleView('Oauth', {
  ...signInView,
  provider: Type.Object(Object.fromEntries(providerNames.map((name) => [name, Type.Unsafe<unknown>(providerView)])), {
    description: 'The settings of the provider; the secret of the client is never shown.',
  }),
});

type ProviderFields = Static<typeof ProviderInput>;
type OauthInput = Omit<Static<typeof Input>, 'provider'> & {
  readonly provider: Readonly<Partial<Record<ProviderName, ProviderFields>>>;
};

interface OwnSettings {
  readonly provider: ProviderName;
  readonly organizations: readonly string[];
  readonly teams: readonly string[];
}

/** An input as it is stored: the fields of the provider beside the others. */
type FlatInput = Omit<OauthInput, 'provider'> & ProviderFields & { readonly provider: ProviderName };

const { secrets, ...login } = signInModule<FlatInput, OwnSettings>({
  name: 'oauth',
  cookiePrefix: 'gatehouse.',
  acceptOwn: ({ provider, organizations: orgs = [], teams: ofTeams = [] }) => ({
    provider,
    organizations: orgs,
    teams: ofTeams,
  }),
  check: checkRules,
  defaultsOf: ({ provider }) => ({
    scopes: findProvider(provider).scopes,
    email_addresses: [],
    email_domains: [],
    organizations: [],
    teams: [],
  }),
  providerField: 'provider',
  providerOf({ provider: name, scopes: asked }) {
    const { issuer, differs, groupsClaim = 'groups' } = findProvider(name);
    return { name, issuer, scopes: asked, groupsClaim, differs };
  },
  groupsOf: ({ organizations: orgs, teams: ofTeams, groups }) => [...orgs, ...ofTeams, ...groups],
});

/** Asks visitors to sign in with one of the well-known providers. */
export const oauth: EdgeModule<OauthInput, StoredSignIn<OwnSettings>> = {
  ...login,
  name: 'oauth',
  title: 'OAuth',
  targets: ['https_route'],
  input: Input,
  view: View,
  errors: [...Object.values(errors), ...signInErrors],
  accept: (input) => login.accept(flatten(input)),
  isSame: (input, stored) => login.isSame(flatten(input), stored),
  secrets: {
    ...secrets,
    conceal: (settings) => ({ enabled: settings.enabled, ...nest(secrets.conceal(settings), settings.provider) }),
    concealInput(input) {
      const flat = flatten(input);
      return nest(secrets.concealInput(flat), flat.provider);
    },
  },
  present(settings, ref) {
    const { provider, ...shared } = nest(presentSignIn(settings, ref), settings.provider);
    const others = Object.fromEntries(providerNames.map((name) => [name, null]));
    return { ...shared, provider: { ...others, ...provider } };
  },
};

function flatten({ provider, ...shared }: OauthInput): FlatInput {
  const given = providerNames.flatMap((name) => {
    const settings = provider[name];
    return settings === undefined ? [] : [{ ...shared, ...settings, provider: name }];
  });
  const [one] = given;
  if (one === undefined || given.length > 1) throw new UserError(oneProvider, { count: given.length });
  return one;
}

/** The wire form of flat settings. */
function nest(flat: object, provider: ProviderName) {
  const fields = Object.entries(flat).filter(([name]) => name !== 'provider');
  const isOwn = ([name]: readonly [string, unknown]) => Object.hasOwn(ProviderInput.properties, name);
  const own = Object.fromEntries(fields.filter(isOwn));
  return { ...Object.fromEntries(fields.filter((each) => !isOwn(each))), provider: { [provider]: own } };
}
