import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

import { Type } from 'typebox';
import type { Static } from 'typebox';

import { credentialsRequired } from '../../errors/shared.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { headerValues } from '../header-values.ts';
import { enabledInput, enabledView } from '../module.ts';
import type { EdgeModule, HeaderList } from '../module.ts';
import * as errors from './errors.ts';

const Input = Type.Object(
  {
    enabled: enabledInput,
    credentials: Type.Array(
      Type.Object({ username: Type.String(), password: Type.String() }, { additionalProperties: false }),
      { minItems: 1, maxItems: 64 },
    ),
  },
  { $id: 'BasicAuthModuleReplace', additionalProperties: false },
);

const View = Type.Object({ enabled: enabledView }, { $id: 'BasicAuthModule', additionalProperties: false });

interface BasicAuthSettings {
  readonly enabled: boolean;
  readonly salt: string;
  /** SHA-256 over the salt and `username:password`, base64. */
  readonly digests: readonly string[];
}

const challenge = { 'WWW-Authenticate': 'Basic realm="restricted", charset="UTF-8"' };
const scheme = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i;

/** Asks visitors for one of several names and passwords. */
export const basicAuth: EdgeModule<Static<typeof Input>, BasicAuthSettings> = {
  name: 'basic_auth',
  title: 'Basic Auth',
  targets: ['agent_endpoint'],
  input: Input,
  view: View,
  errors: Object.values(errors),
  accept({ enabled = true, credentials }) {
    for (const { username } of credentials) {
      if (username === '' || username.includes(':'))
        throw new UserError(errors.invalidBasicCredential, { username: quote(username) });
    }
    const salt = randomBytes(16).toString('base64');
    return { enabled, salt, digests: digestsOf(salt, credentials) };
  },
  isSame: ({ enabled = true, credentials }, stored) =>
    enabled === stored.enabled && digestsOf(stored.salt, credentials).join() === stored.digests.join(),
  present: ({ enabled }) => ({ enabled }),
  build({ salt, digests }) {
    const known = digests.map((text) => Buffer.from(text, 'base64'));
    return {
      asksPassword: true,
      refuses: (headers) => (isKnown(headers, salt, known) ? undefined : new UserError(credentialsRequired, challenge)),
    };
  },
};

function isKnown(headers: HeaderList, salt: string, known: readonly Buffer[]): boolean {
  const [value, ...more] = headerValues(headers, 'authorization');
  const encoded = value === undefined || more.length > 0 ? undefined : scheme.exec(value)?.[1];
  if (encoded === undefined) return false;
  const sent = digest(salt, Buffer.from(encoded, 'base64'));
  let found = false;
  // All are compared, so that the time does not tell which one fits.
  for (const each of known) if (timingSafeEqual(each, sent)) found = true;
  return found;
}

function digestsOf(salt: string, credentials: Static<typeof Input>['credentials']): readonly string[] {
  return credentials.map(({ username, password }) =>
    digest(salt, Buffer.from(`${username}:${password}`)).toString('base64'),
  );
}

function digest(salt: string, credential: Buffer): Buffer {
  return createHash('sha256').update(`${salt}:`).update(credential).digest();
}
