import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

import { Type } from 'typebox';
import type { Static } from 'typebox';

import { credentialsRequired } from '../../errors/shared.ts';
import { defineError, quote, UserError } from '../../errors/user-error.ts';
import { sentCredentials } from '../sent-credentials.ts';
import { moduleInput, moduleView } from '../module.ts';
import type { EdgeModule } from '../module.ts';
import type { HeaderList, RequestStep } from '../step.ts';

const invalidBasicCredential = defineError(
  20156,
  400,
  'The user name {username} is not acceptable for basic authentication: it must not be empty or contain ":". Give another.',
);

const passwordMissing = defineError(
  20286,
  400,
  'There is no password for {username}, neither in the request nor stored. Give it in password.',
);

const username = Type.String({
  description: 'The name. It must not be empty or contain ":". Max 255 bytes.',
  maxBytes: 255,
});

const Input = moduleInput(
  'BasicAuth',
  {
    credentials: Type.Array(
      Type.Object(
        {
          username,
          password: Type.Optional(
            Type.String({
              description:
                'Never shown again: a hash of it is stored. If it is left out, the one stored for the name stays. At least 8 ' +
                'characters, max 255 bytes.',
              minLength: 8,
              maxBytes: 255,
            }),
          ),
        },
        { additionalProperties: false },
      ),
      {
        description: 'Names and passwords. A visitor must give one of them. At least one.',
        examples: [[{ username: 'ada', password: 'a long secret' }]],
        minItems: 1,
        maxItems: 64,
      },
    ),
  },
  'Asks visitors for a name and a password (HTTP basic authentication). Wrong ones are answered with 401, and a source ' +
    'that gives too many of them within a minute with 429. The upstream gets the header `Authorization` as it came: ' +
    'remove it with `request_headers` where the upstream must not see it.',
);

const View = moduleView('BasicAuth', {
  credentials: Type.Array(Type.Object({ username }, { additionalProperties: false }), {
    description: 'The names; passwords are never shown.',
  }),
});

/** A password that may be given, as it is kept. */
interface Known {
  readonly salt: string;
  /** SHA-256 over the salt and `username:password`, base64. Empty: that of the name before it is to stay. */
  readonly digest: string;
}

interface BasicAuthSettings {
  readonly enabled: boolean;
  readonly credentials: readonly (Known & { readonly username: string })[];
}

/** The form in which release 0.2 has stored what agents ask for. */
interface FormerSettings {
  readonly enabled: boolean;
  readonly salt: string;
  readonly digests: readonly string[];
}

const challenge = { 'WWW-Authenticate': 'Basic realm="restricted", charset="UTF-8"' };

/** Asks visitors for one of several names and passwords. */
export const basicAuth: EdgeModule<Static<typeof Input>, BasicAuthSettings> = {
  name: 'basic_auth',
  title: 'Basic Auth',
  targets: ['https_route', 'agent_endpoint'],
  input: Input,
  view: View,
  errors: [invalidBasicCredential, passwordMissing],
  accept({ enabled = true, credentials }) {
    const salt = randomBytes(16).toString('base64');
    return {
      enabled,
      credentials: credentials.map(({ username: name, password }) => {
        if (name === '' || name.includes(':')) throw new UserError(invalidBasicCredential, { username: quote(name) });
        return { username: name, salt, digest: password === undefined ? '' : digestOf(salt, `${name}:${password}`) };
      }),
    };
  },
  isSame({ enabled = true, credentials }, stored) {
    const known = knownIn(stored);
    if (enabled !== stored.enabled || credentials.length !== known.length) return false;
    return credentials.every(({ username: name, password }, at) => {
      const { salt, digest, username: storedName = name } = known[at]!;
      return name === storedName && (password === undefined || digestOf(salt, `${name}:${password}`) === digest);
    });
  },
  secrets: {
    conceal: ({ enabled, credentials }) => ({
      enabled,
      credentials: credentials.map(({ username: name }) => ({ username: name })),
    }),
    concealInput: ({ credentials, ...rest }) => ({
      ...rest,
      credentials: credentials.map(({ username: name, password }) => ({
        username: name,
        ...(password === undefined ? {} : { password: '(secret)' }),
      })),
    }),
    keep(settings, previous) {
      const left = [...(previous?.credentials ?? [])];
      const credentials = settings.credentials.map((credential) => {
        const at = left.findIndex(({ username: name }) => name === credential.username);
        const [stored] = at < 0 ? [] : left.splice(at, 1);
        if (credential.digest !== '') return credential;
        if (stored === undefined) throw new UserError(passwordMissing, { username: quote(credential.username) });
        return stored;
      });
      return { ...settings, credentials };
    },
  },
  present: ({ enabled, credentials }) => ({
    enabled,
    credentials: credentials.map(({ username: name }) => ({ username: name })),
  }),
  build(settings) {
    const bySalt = Map.groupBy(knownIn(settings), ({ salt }) => salt);
    const known = [...bySalt].map(([salt, all]) => ({
      salt,
      digests: all.map(({ digest }) => Buffer.from(digest, 'base64')),
    }));
    const refuses = (headers: HeaderList): UserError | undefined =>
      isKnown(headers, known) ? undefined : new UserError(credentialsRequired, challenge);
    const step: RequestStep = {
      phase: 'request',
      reads: ['authorization'],
      asks: { by: 'the name and the password of a visitor', needs: () => 'needs a password' },
      run: (visit) => visit.services.passwords.check(visit, refuses),
      holds: ({ headers }) => (isKnown(headers, known) ? Infinity : 0),
    };
    return { steps: [step] };
  },
};

function knownIn(settings: BasicAuthSettings | FormerSettings): readonly (Known & { readonly username?: string })[] {
  if ('credentials' in settings) return settings.credentials;
  return settings.digests.map((digest) => ({ salt: settings.salt, digest }));
}

function isKnown(
  headers: HeaderList,
  known: readonly { readonly salt: string; readonly digests: readonly Buffer[] }[],
): boolean {
  const given = sentCredentials(headers);
  if (given === undefined) return false;
  let found = false;
  // All are compared, so that the time does not tell which one fits.
  for (const { salt, digests } of known) {
    const sent = hash(salt, given);
    for (const each of digests) if (each.length === sent.length && timingSafeEqual(each, sent)) found = true;
  }
  return found;
}

function digestOf(salt: string, credential: string): string {
  return hash(salt, Buffer.from(credential)).toString('base64');
}

function hash(salt: string, credential: Buffer): Buffer {
  return createHash('sha256').update(`${salt}:`).update(credential).digest();
}
