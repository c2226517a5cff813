import { SharedCache } from '../../lib/shared-cache.ts';
import type { SignInProvider } from '../../modules/sign-in.ts';
import { createFetch } from '../../sign-in/guarded-fetch.ts';
import type { Fetch } from '../../sign-in/guarded-fetch.ts';
import { Provider } from '../../sign-in/provider.ts';
import type { GatewayLog } from '../engine.ts';
import type { ConnectUpstream } from '../upstream/connect.ts';

const providerLimit = 1_000;

/** The providers that visitors sign in with, one for all routes of an account with the same settings. */
export class Providers {
  readonly #fetch: Fetch;
  readonly #log: GatewayLog;
  readonly #known = new SharedCache<Provider>(providerLimit);

  /** Providers are asked over the connections of backends: addresses that lead inwards are refused. */
  constructor(connect: ConnectUpstream, log: GatewayLog) {
    this.#fetch = createFetch(connect);
    this.#log = log;
  }

  get(accountId: string, settings: SignInProvider): Provider {
    const key = JSON.stringify(settings);
    const known = this.#known.get(accountId, key);
    if (known !== undefined) return known;
    const provider = new Provider(settings, this.#fetch);
    this.#known.set(accountId, key, provider);
    return provider;
  }

  logFault({ issuer, clientId }: SignInProvider, error: unknown): void {
    this.#log.warn({ err: error, provider: issuer, client_id: clientId }, 'a visitor could not be signed in');
  }
}
