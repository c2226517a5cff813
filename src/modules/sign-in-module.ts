import { isDeepStrictEqual } from 'node:util';

import { UserError } from '../errors/user-error.ts';
import { isKept, keptSecret, newSecret } from './kept-secret.ts';
import type { KeptSecret } from './kept-secret.ts';
import type { EdgeModule, ModuleSecrets } from './module.ts';
import { clientSecretMissing } from './sign-in-errors.ts';
import {
  acceptEmails,
  acceptSignIn,
  buildSignIn,
  ipPolicyReference,
  presentSignIn,
  withoutDefaults,
} from './sign-in-settings.ts';
import type { Emails, SignInInput, SignInSettings } from './sign-in-settings.ts';
import { signInStep } from './sign-in-step.ts';
import type { SignInProvider } from './sign-in.ts';

interface ClientInput extends SignInInput, Partial<Emails> {
  readonly client_id: string;
  readonly client_secret?: string;
  readonly scopes?: readonly string[];
}

/** Settings of a login at a provider, with a client of the operator there. */
interface ClientSettings extends SignInSettings, Emails {
  readonly client_id: string;
  /** Undefined: that which is stored is to stay. A text: open, as the gateway gets it. */
  readonly client_secret: KeptSecret | string | undefined;
  readonly scopes: readonly string[];
}

/** Settings of a module whose own ones are `Own`. */
export type StoredSignIn<Own> = ClientSettings & Own;

interface SignInKind<Input extends ClientInput, Own> {
  readonly name: string;
  readonly cookiePrefix: string;
  /** Reads and checks its own settings. */
  readonly acceptOwn: (input: Input) => Own;
  /** Checks rules that need several settings. */
  readonly check?: (settings: Omit<ClientSettings, 'client_secret'> & Own) => void;
  /** Settings as they are where none are given; those that have no default are absent. */
  readonly defaultsOf: (own: Own) => { readonly scopes: readonly string[] };
  /** The setting that names the provider. Another one, or another client of it, must not get the secret. */
  readonly providerField: keyof Own;
  readonly providerOf: (settings: StoredSignIn<Own>) => Omit<SignInProvider, 'clientId' | 'clientSecret'>;
  /** Groups that may enter, where they are not `groups` alone. */
  readonly groupsOf?: (settings: StoredSignIn<Own>) => readonly string[];
}

/** The part of a module by which visitors sign in that is the same for each provider. */
type SignInModule<Input, Stored extends SignInSettings> = Required<
  Pick<EdgeModule<Input, Stored>, 'references' | 'accept' | 'isSame' | 'present' | 'build'>
> & { readonly secrets: ModuleSecrets<Input, Stored> };

export function signInModule<Input extends ClientInput, Own extends object>(
  kind: SignInKind<Input, Own>,
): SignInModule<Input, StoredSignIn<Own>> {
  const { cookiePrefix, providerField } = kind;
  const acceptOpen = (input: Input): Omit<ClientSettings, 'client_secret'> & Own => {
    const { client_id, scopes = [] } = input;
    const own = kind.acceptOwn(input);
    const accepted = {
      ...acceptSignIn(input, cookiePrefix),
      ...acceptEmails(input),
      ...own,
      client_id,
      scopes: scopes.length === 0 ? kind.defaultsOf(own).scopes : scopes,
    };
    kind.check?.(accepted);
    return accepted;
  };
  return {
    references: [ipPolicyReference],
    accept(input) {
      const { client_secret: given } = input;
      return { ...acceptOpen(input), client_secret: given === undefined ? undefined : newSecret(given) };
    },
    isSame(input, { client_secret, ...stored }) {
      return isKept(input.client_secret, client_secret) && isDeepStrictEqual(acceptOpen(input), stored);
    },
    secrets: {
      conceal: (settings) => withoutDefaults(settings, { cookie_prefix: cookiePrefix, ...kind.defaultsOf(settings) }),
      concealInput: ({ client_secret, ...rest }) =>
        client_secret === undefined ? rest : { ...rest, client_secret: '(secret)' },
      ...keptSecret<'client_secret', StoredSignIn<Own>>({
        field: 'client_secret',
        purpose: 'client secret',
        isSameOwner: (one, other) => one[providerField] === other[providerField] && one.client_id === other.client_id,
        missing: () => new UserError(clientSecretMissing),
      }),
    },
    present: presentSignIn,
    build(settings) {
      const { client_id: clientId, client_secret: clientSecret } = settings;
      if (typeof clientSecret !== 'string') throw new Error(`the client secret of the module ${kind.name} is not open`);
      const { name, issuer, scopes, groupsClaim, differs } = kind.providerOf(settings);
      // Visitors' sessions hold a hash of these in this order.
      const provider = { name, issuer, clientId, clientSecret, scopes, groupsClaim, differs };
      const groups = kind.groupsOf?.(settings) ?? settings.groups;
      return { steps: [signInStep(buildSignIn({ ...settings, groups }, provider))] };
    },
  };
}
