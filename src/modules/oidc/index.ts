import { Type } from 'typebox';
import type { Static } from 'typebox';

import { quote, UserError } from '../../errors/user-error.ts';
import type { EdgeModule } from '../module.ts';
import { faultOfProviderUrl } from '../../lib/provider-url.ts';
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
import { invalidIssuer } from './errors.ts';
import * as errors from './errors.ts';

const issuer = Type.String({
  description:
    'URL of the OpenID provider, exactly as it names itself. https, or http on this machine. Max 1024 bytes.',
  maxBytes: 1024,
  wellFormed: true,
  examples: ['https://id.example.com/realms/staff'],
});
const clientId = Type.String({
  description: 'Id of the client that was registered at the provider. Max 255 bytes.',
  maxBytes: 255,
  wellFormed: true,
  examples: ['gatehouse'],
});
const scopes = Type.Array(Type.String({ maxBytes: 255, wellFormed: true }), {
  description: 'Scopes to ask the provider for; openid is always among them. Default: openid, profile, email.',
  examples: [['openid', 'profile', 'email', 'groups']],
  maxItems: 50,
});
const groupsClaim = Type.String({
  description: 'The claim that holds the groups of a visitor. Max 255 bytes.',
  maxBytes: 255,
  wellFormed: true,
  default: 'groups',
  examples: ['groups'],
});

const Input = Type.Object(
  {
    ...signInInput,
    ...emailInput,
    issuer,
    client_id: clientId,
    client_secret: Type.Optional(
      Type.String({
        description:
          'Never shown again. Left out, the stored one stays if issuer and client are the same. Max 4096 bytes.',
        maxBytes: 4096,
        wellFormed: true,
        examples: ['a long secret'],
      }),
    ),
    scopes: Type.Optional(scopes),
    groups_claim: Type.Optional(groupsClaim),
  },
  {
    $id: 'OidcModuleReplace',
    additionalProperties: false,
    description:
      'Asks visitors to sign in with an OpenID provider. Register `https://HOST/.gatehouse/sign-in/callback` there for each host of ' +
      'the edge. Programs that cannot be shown a login get 401. The upstream gets `Gatehouse-User-Id`, `-Email`, `-Name` and ' +
      '`-Groups`; such headers of visitors are removed.',
  },
);

const View = Type.Object(
  { ...signInView, ...emailView, issuer, client_id: clientId, scopes, groups_claim: groupsClaim },
  { $id: 'OidcModule', additionalProperties: false },
);

interface OidcSettings extends SignInSettings, HasClientSecret {
  readonly issuer: string;
  readonly client_id: string;
  readonly scopes: readonly string[];
  readonly groups_claim: string;
  readonly email_addresses: readonly string[];
  readonly email_domains: readonly string[];
}

const usualScopes = ['openid', 'profile', 'email'];

/** Asks visitors to sign in with an OpenID provider. */
export const oidc: EdgeModule<Static<typeof Input>, OidcSettings> = {
  name: 'oidc',
  title: 'OIDC',
  targets: ['https_route'],
  input: Input,
  view: View,
  errors: [...Object.values(errors), ...signInErrors],
  references: [ipPolicyReference],
  accept: (input) => ({
    ...accept(input),
    client_secret: input.client_secret === undefined ? undefined : newSecret(input.client_secret),
  }),
  isSame(input, { client_secret, ...stored }) {
    const { client_secret: given } = input;
    return isKept(given, client_secret) && sameText(accept(input), stored);
  },
  secrets: {
    conceal: ({ client_secret: _secret, scopes: own, groups_claim, ...settings }) => ({
      ...withoutDefaults(settings, ''),
      ...(sameText(own, usualScopes) ? {} : { scopes: own }),
      ...(groups_claim === 'groups' ? {} : { groups_claim }),
    }),
    concealInput: ({ client_secret, ...rest }) => ({
      ...rest,
      ...(client_secret === undefined ? {} : { client_secret: '(secret)' }),
    }),
    ...clientSecrets<OidcSettings>((one, other) => one.issuer === other.issuer && one.client_id === other.client_id),
  },
  present: ({ client_secret: _secret, ...settings }, ref) => presentSignIn(settings, ref),
  build(settings) {
    const { client_secret: clientSecret } = settings;
    if (typeof clientSecret !== 'string') throw new Error('the client secret of the module oidc is not open');
    const { issuer: own, client_id, scopes: asked, groups_claim } = settings;
    const provider = {
      name: 'oidc',
      issuer: own,
      clientId: client_id,
      clientSecret,
      scopes: asked.includes('openid') ? asked : ['openid', ...asked],
      groupsClaim: groups_claim,
    };
    return { steps: [signInStep(buildSignIn(settings, provider, settings))] };
  },
};

function accept(input: Static<typeof Input>): Omit<OidcSettings, 'client_secret'> {
  checkIssuer(input.issuer);
  const { scopes: given = [], groups_claim = 'groups' } = input;
  return {
    ...acceptSignIn(input, ''),
    ...acceptEmails(input),
    issuer: input.issuer,
    client_id: input.client_id,
    scopes: given.length === 0 ? usualScopes : given,
    groups_claim,
  };
}

function checkIssuer(text: string): void {
  const reason = faultOfProviderUrl(text);
  if (reason !== undefined) throw new UserError(invalidIssuer, { issuer: quote(text), reason });
}
