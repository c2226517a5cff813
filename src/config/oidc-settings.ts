import { readFileSync } from 'node:fs';

import { faultOfProviderUrl } from '../lib/provider-url.ts';
import { readSignInRules } from './sign-in-rules.ts';
import type { Setting } from './setting.ts';
import { optional, readWholeNumber } from './values.ts';

/** Settings of the identity provider that people sign in to the dashboard with. */
export const oidcSettings = {
  oidcIssuer: {
    form: 'url',
    help: 'OpenID provider with which people sign in to the dashboard, such as https://id.example.com; register PUBLIC-URL/dashboard/sign-in/callback there',
    fallback: '',
    read: optional(readIssuer),
  },
  oidcClientId: {
    form: 'id',
    help: 'id of this installation as a client of the provider',
    fallback: '',
    read: optional(readText),
  },
  oidcClientSecret: {
    form: 'secret',
    help: 'secret of that client',
    fallback: '',
    read: optional(readText),
    secret: true,
  },
  oidcClientSecretFile: {
    form: 'file',
    help: 'file with the secret of the client, instead of the setting',
    fallback: '',
    read: optional(readSecretFile),
  },
  oidcScopes: {
    form: 'scopes',
    help: 'scopes that the provider is asked for, separated by commas or spaces; many need "offline_access" before sessions can be checked, some "groups"',
    fallback: 'openid,profile,email',
    read: readScopes,
  },
  oidcGroupsClaim: {
    form: 'claim',
    help: 'claim that contains the groups of a person',
    fallback: 'groups',
    read: readText,
  },
  oidcRules: {
    form: 'rules',
    help: 'who becomes a user at the first sign-in, and with which role: GROUP-OR-DOMAIN=ROLE, separated by commas, such as "group:platform-admins=admin, domain:example.com=viewer"; with several accounts =ROLE@ACCOUNT; put a name with commas or "=" in quotes. Without rules, only people whose address a user or an invitation has can sign in',
    fallback: '',
    read: readSignInRules,
  },
  oidcLabel: {
    form: 'text',
    help: 'name of the provider on the button and in the pages; the host of the issuer when not given',
    fallback: '',
    read: optional(readLabel),
  },
  oidcCheckSeconds: {
    form: 'seconds',
    help: 'how often Gatehouse asks the provider whether the login behind a session in use still holds',
    fallback: '300',
    read: readWholeNumber(1, 86_400),
  },
} as const satisfies Readonly<Record<string, Setting<unknown>>>;

type OidcValues = { readonly [Name in keyof typeof oidcSettings]: ReturnType<(typeof oidcSettings)[Name]['read']> } & {
  readonly publicUrl: string | undefined;
  readonly dashboardTokenSignIn: 'on' | 'off';
};

/** Faults of settings that do not fit each other. */
export function oidcFaults(config: OidcValues): readonly string[] {
  const { oidcIssuer, oidcClientId, oidcClientSecret, oidcClientSecretFile, oidcRules, oidcLabel, publicUrl } = config;
  if (oidcIssuer === undefined) {
    const given = [oidcClientId, oidcClientSecret, oidcClientSecretFile, oidcRules[0], oidcLabel];
    return [
      ...(given.every((value) => value === undefined)
        ? []
        : [
            'GATEHOUSE_OIDC_ISSUER is not given, and the other settings GATEHOUSE_OIDC_… are: give it, or none of them',
          ]),
      ...(config.dashboardTokenSignIn === 'on'
        ? []
        : [
            'GATEHOUSE_DASHBOARD_TOKEN_SIGN_IN "off": without GATEHOUSE_OIDC_ISSUER nobody could sign in to the dashboard; give that, or leave this "on"',
          ]),
    ];
  }
  const faults: string[] = [];
  if (oidcClientId === undefined)
    faults.push(
      'GATEHOUSE_OIDC_CLIENT_ID is not given: the provider shows it where you have registered this installation',
    );
  if ((oidcClientSecret === undefined) === (oidcClientSecretFile === undefined))
    faults.push('GATEHOUSE_OIDC_CLIENT_SECRET and GATEHOUSE_OIDC_CLIENT_SECRET_FILE: give one of the two');
  if (publicUrl === undefined)
    faults.push(
      'GATEHOUSE_PUBLIC_URL is not given: the provider sends people back to it, so give the address of the dashboard without /dashboard, such as https://gate.example.com',
    );
  else if (faultOfProviderUrl(publicUrl) !== undefined)
    faults.push(
      `GATEHOUSE_PUBLIC_URL ${JSON.stringify(publicUrl)}: people sign in there with their provider, so it must begin with https:// (or be http://localhost)`,
    );
  return faults;
}

function readIssuer(text: string): string {
  const fault = faultOfProviderUrl(text);
  if (fault !== undefined) throw new Error(`${fault}; write it as the provider does, such as https://id.example.com`);
  return text;
}

function readText(text: string): string {
  if (!/^[\x20-\x7e]+$/.test(text)) throw new Error('use printable ASCII characters only');
  return text;
}

function readLabel(text: string): string {
  if (text.length > 60 || /\p{Cc}/u.test(text)) throw new Error('write at most 60 characters, on one line');
  return text;
}

function readScopes(text: string): readonly string[] {
  const scopes = text.split(/[\s,]+/).filter((scope) => scope !== '');
  if (!scopes.includes('openid'))
    throw new Error('"openid" must be among them, or the provider says nothing of the person');
  return scopes;
}

/** The content of the file; a line end after it does not count. */
function readSecretFile(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new Error('the file cannot be read: name one that is there and that this process may read', { cause: error });
  }
  if (text === '') throw new Error('the file is empty: write the secret of the client into it');
  return readText(text);
}
