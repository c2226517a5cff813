import { Type } from 'typebox';
import type { Static } from 'typebox';

import { defineError, quote, UserError } from '../../errors/user-error.ts';
import { moduleInput, moduleView } from '../module.ts';
import type { EdgeModule } from '../module.ts';
import { faultOfProviderUrl } from '../../lib/provider-url.ts';
import { clientId, clientSecret, emailInput, emailView, signInInput, signInView } from '../sign-in-fields.ts';
import { signInModule } from '../sign-in-module.ts';
import type { StoredSignIn } from '../sign-in-module.ts';
import { signInErrors } from '../sign-in-settings.ts';

const invalidIssuer = defineError(
  20311,
  400,
  'The issuer {issuer} is not acceptable: {reason}. Give the URL that the provider names as its issuer, such as https://id.example.com/realms/staff.',
);

const issuer = Type.String({
  description:
    'URL of the OpenID provider, exactly as it names itself. https, or http on this machine. Max 1024 bytes.',
  maxBytes: 1024,
  wellFormed: true,
  examples: ['https://id.example.com/realms/staff'],
});
const scopes = Type.Array(Type.String({ maxBytes: 255, wellFormed: true }), {
  description: 'Scopes to ask the provider for; openid is always among them. Default: openid, profile, email.',
  examples: [['openid', 'profile', 'email', 'groups']],
  maxItems: 50,
});
const groupsClaim = Type.String({
  description: 'The claim that contains the groups of a visitor. Max 255 bytes.',
  maxBytes: 255,
  wellFormed: true,
  default: 'groups',
  examples: ['groups'],
});

const Input = moduleInput(
  'Oidc',
  {
    ...signInInput,
    ...emailInput,
    issuer,
    client_id: clientId,
    client_secret: clientSecret('issuer and client'),
    scopes: Type.Optional(scopes),
    groups_claim: Type.Optional(groupsClaim),
  },
  'Asks visitors to sign in with an OpenID provider. Register `https://HOST/.gatehouse/sign-in/callback` there for each host of ' +
    'the edge. Programs that cannot be shown a login get 401. The upstream gets `Gatehouse-User-Id`, `-Email`, `-Name` and ' +
    '`-Groups`; such headers of visitors are removed.',
);

const View = moduleView('Oidc', {
  ...signInView,
  ...emailView,
  issuer,
  client_id: clientId,
  scopes,
  groups_claim: groupsClaim,
});

interface OwnSettings {
  readonly issuer: string;
  readonly groups_claim: string;
}

const usual = { scopes: ['openid', 'profile', 'email'], groups_claim: 'groups' };

/** Asks visitors to sign in with an OpenID provider. */
export const oidc: EdgeModule<Static<typeof Input>, StoredSignIn<OwnSettings>> = {
  name: 'oidc',
  title: 'OIDC',
  targets: ['https_route'],
  input: Input,
  view: View,
  errors: [invalidIssuer, ...signInErrors],
  ...signInModule<Static<typeof Input>, OwnSettings>({
    name: 'oidc',
    cookiePrefix: '',
    acceptOwn({ issuer: own, groups_claim = usual.groups_claim }) {
      checkIssuer(own);
      return { issuer: own, groups_claim };
    },
    defaultsOf: () => usual,
    providerField: 'issuer',
    providerOf: ({ issuer: own, scopes: asked, groups_claim }) => ({
      name: 'oidc',
      issuer: own,
      scopes: asked.includes('openid') ? asked : ['openid', ...asked],
      groupsClaim: groups_claim,
    }),
  }),
};

function checkIssuer(text: string): void {
  const reason = faultOfProviderUrl(text);
  if (reason !== undefined) throw new UserError(invalidIssuer, { issuer: quote(text), reason });
}
