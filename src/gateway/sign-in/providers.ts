import { FairTurns } from '../../lib/fair-turns.ts';
import { SharedCache } from '../../lib/shared-cache.ts';
import type { SignInProvider } from '../../modules/sign-in.ts';
import type { ConnectionServices } from '../../modules/step.ts';
import type { Fetch, FetchFor } from '../../sign-in/guarded-fetch.ts';
import { Provider } from '../../sign-in/provider.ts';
import type { Signatures } from '../../sign-in/signatures.ts';
import type { GatewayLog } from '../engine.ts';

interface ProvidersParts {
  readonly fetchFor: FetchFor;
  readonly signatures: Signatures;
  readonly log: GatewayLog;
  readonly secrets: ConnectionServices['secrets'];
}

/** Bytes of the settings and metadata of all providers. */
const providersLimit = 4 * 1024 * 1024;
/** Bytes of a provider beside them. */
const providerBytes = 2_048;

/** Requests at once to all providers of an account, and to one of them. Those that hang hold up no other account. */
const accountLimits = { atOnce: Infinity, ofOwner: 64, waiting: 2_000 };
const providerLimits = { atOnce: Infinity, ofOwner: 32, waiting: 1_000 };

/** The providers that visitors sign in with, one for all routes of an account with the same settings. */
export class Providers {
  readonly #parts: ProvidersParts;
  readonly #known = new SharedCache<Provider>(providersLimit);
  readonly #ofAccount = new FairTurns(accountLimits);
  readonly #ofProvider = new FairTurns(providerLimits);

  constructor(parts: ProvidersParts) {
    this.#parts = parts;
  }

  /** Throws where the client stands in a vault that lacks it. */
  get(accountId: string, given: SignInProvider): Provider {
    const { clientFrom, ...others } = given;
    const settings = clientFrom === undefined ? given : { ...others, ...clientFrom(accountId, this.#parts.secrets) };
    const key = JSON.stringify(settings);
    const known = this.#known.get(accountId, key);
    if (known !== undefined) return known;
    const { signatures } = this.#parts;
    const bytes = providerBytes + key.length;
    const provider: Provider = new Provider(settings, {
      fetch: this.#fetchFor(accountId, `${accountId} ${key}`),
      signatures,
      owner: accountId,
      onRead: (more) => {
        this.#known.set(accountId, key, provider, bytes + more);
      },
    });
    this.#known.set(accountId, key, provider, bytes);
    return provider;
  }

  #fetchFor(accountId: string, provider: string): Fetch {
    const fetch = this.#parts.fetchFor(accountId);
    return (url, options) =>
      this.#ofProvider.run(provider, () => this.#ofAccount.run(accountId, () => fetch(url, options)));
  }

  logFault({ issuer, clientId }: SignInProvider, error: unknown): void {
    this.#parts.log.warn({ err: error, provider: issuer, client_id: clientId }, 'a visitor could not be signed in');
  }
}
