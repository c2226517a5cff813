import type { ProviderDifferences } from '../sign-in.ts';

interface NamedProvider {
  /** Issuer that its metadata names, or the URL that it is known by. */
  readonly issuer: string;
  readonly scopes: readonly string[];
  readonly groupsClaim?: string;
  readonly differs?: ProviderDifferences;
  /** The provider says which groups somebody is in. */
  readonly tellsGroups?: true;
  /** The provider says whether an e-mail address is verified. */
  readonly verifiesEmail?: true;
}

/** Facts about somebody at a provider without signed claims. */
export const profileClaims: readonly string[] = ['sub', 'name', 'email', 'email_verified', 'groups'];

const oidcScopes = ['openid', 'profile', 'email'];

/** Providers that speak OpenID Connect do so here; the others have their addresses. */
export const namedProviders = {
  github: {
    issuer: 'https://github.com',
    scopes: ['read:user', 'user:email', 'read:org'],
    tellsGroups: true,
    verifiesEmail: true,
    differs: {
      oauth2: {
        authorize: 'https://github.com/login/oauth/authorize',
        token: 'https://github.com/login/oauth/access_token',
        profile: 'https://api.github.com/user',
        subject: 'id',
        lists: {
          emails: 'https://api.github.com/user/emails',
          organizations: 'https://api.github.com/user/orgs?per_page=100',
          teams: 'https://api.github.com/user/teams?per_page=100',
        },
      },
    },
  },
  facebook: {
    issuer: 'https://www.facebook.com',
    scopes: ['public_profile', 'email'],
    differs: {
      oauth2: {
        authorize: 'https://www.facebook.com/v21.0/dialog/oauth',
        token: 'https://graph.facebook.com/v21.0/oauth/access_token',
        profile: 'https://graph.facebook.com/v21.0/me?fields=id,name,email',
        subject: 'id',
      },
    },
  },
  microsoft: { issuer: 'https://login.microsoftonline.com/common/v2.0', scopes: oidcScopes, tellsGroups: true },
  google: { issuer: 'https://accounts.google.com', scopes: oidcScopes, verifiesEmail: true },
  linkedin: {
    issuer: 'https://www.linkedin.com/oauth',
    scopes: oidcScopes,
    verifiesEmail: true,
    differs: { noNonce: true, noPkce: true },
  },
  gitlab: { issuer: 'https://gitlab.com', scopes: oidcScopes, tellsGroups: true, verifiesEmail: true },
  twitch: {
    issuer: 'https://id.twitch.tv/oauth2',
    scopes: ['openid', 'user:read:email'],
    verifiesEmail: true,
    differs: {
      parameters: {
        claims: JSON.stringify({
          id_token: { email: null, email_verified: null, preferred_username: null },
          userinfo: { email: null, email_verified: null, preferred_username: null },
        }),
      },
    },
  },
  amazon: {
    issuer: 'https://www.amazon.com',
    scopes: ['profile'],
    differs: {
      oauth2: {
        authorize: 'https://www.amazon.com/ap/oa',
        token: 'https://api.amazon.com/auth/o2/token',
        profile: 'https://api.amazon.com/user/profile',
        subject: 'user_id',
      },
    },
  },
} as const satisfies Readonly<Record<string, NamedProvider>>;

export type ProviderName = keyof typeof namedProviders;
// The keys of an object are those of its type.
export const providerNames = Object.keys(namedProviders) as readonly ProviderName[];

export function findProvider(name: ProviderName): NamedProvider {
  return namedProviders[name];
}
