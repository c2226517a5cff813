import type { Configuration, TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client';

import { hasElapsed } from '../lib/elapsed.ts';
import { TooMuchWaits } from '../lib/fair-turns.ts';
import { faultOfNamedUrl } from '../lib/provider-url.ts';
import type { ProviderDifferences, SignInProvider } from '../modules/sign-in.ts';
import { joinClaims } from './claims.ts';
import { claimsOfProfile } from './profile-claims.ts';
import type { Fetch } from './guarded-fetch.ts';
import { KeysUnread } from './issuer-keys.ts';
import { withUsedMetadata } from './metadata.ts';
import type { Signatures } from './signatures.ts';
import { messageOf, refusesClient, secretInHeader } from './client-secret.ts';
import { withScopeText } from './scope-text.ts';

/** Loaded by the first login: most installations need none of it. */
const load = () => import('openid-client');
const loadKeys = () => import('jose');

/** The metadata of a provider is read again after so long; until it answers, the former serve. */
const metadataMs = 3_600_000;
/** A provider that has answered so lately is there. */
const answeredMs = 10_000;
const answerSeconds = 10;
/** One that has not answered is left alone for so long, however many logins begin. */
const pauseMs = 2_000;
/** Bytes of a profile or list of a named provider: a hundred teams of GitHub are a quarter of that. */
const profileLimit = 1_048_576;

/** The secrets of a login that is under way. */
export interface LoginSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The token that the provider is asked with whether a login still holds. */
export interface ProviderToken {
  readonly kind: 'refresh' | 'access';
  readonly value: string;
}

/** What the provider says of somebody. */
export interface Login {
  readonly claims: Readonly<Record<string, unknown>>;
  readonly token: ProviderToken;
  /** The claims as the provider has signed them, where it does. */
  readonly idToken?: string | undefined;
}

/** The provider cannot be reached, or does not speak its protocol. */
export class ProviderDown extends Error {
  override readonly name = 'ProviderDown';
}

/** The provider, or the protocol, refuses the login. */
export class LoginRefused extends Error {
  override readonly name = 'LoginRefused';
}

/** Codes of answers that are not those of a provider, as a proxy gives them before one that is down. */
const connectionFaults: ReadonlySet<string> = new Set([
  '',
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
]);

interface ProviderParts {
  readonly fetch: Fetch;
  readonly signatures: Signatures;
  /** The account that the provider serves. */
  readonly owner: string;
  /** Told how much memory the metadata take, in bytes, whenever they were read. */
  readonly onRead?: (bytes: number) => void;
}

/** Speaks with one provider. */
export class Provider {
  readonly #settings: SignInProvider;
  readonly #fetch: Fetch;
  readonly #signatures: Signatures;
  readonly #owner: string;
  #configuration: Promise<Configuration> | undefined;
  #reading: Promise<Configuration> | undefined;
  #readAtMs = 0;
  /** Undefined once the metadata were read. */
  #fault: ProviderDown | undefined;
  #failedAtMs = 0;
  /** True: the secret of the client may stand in the body or in a header. */
  #takesEither = false;
  #prefersHeader = false;

  constructor(settings: SignInProvider, { fetch, signatures, owner, onRead = () => {} }: ProviderParts) {
    this.#settings = settings;
    this.#fetch = withScopeText(withUsedMetadata(fetch, onRead));
    this.#signatures = signatures;
    this.#owner = owner;
  }

  async begin(
    redirectUri: string,
    prompt: string | undefined,
  ): Promise<{ readonly url: string; readonly secrets: LoginSecrets }> {
    const client = await load();
    const configuration = await this.#discoverNow();
    const { differs = {} } = this.#settings;
    const secrets = {
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
    };
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: this.#settings.scopes.join(' '),
      ...(differs.noPkce
        ? {}
        : {
            code_challenge: await client.calculatePKCECodeChallenge(secrets.verifier),
            code_challenge_method: 'S256',
          }),
      state: secrets.state,
      ...(expectsNonce(differs) ? { nonce: secrets.nonce } : {}),
      ...differs.parameters,
      ...(prompt === undefined ? {} : { prompt }),
    });
    return { url: url.href, secrets };
  }

  /** `address` is the URL that the provider has sent the visitor back to. */
  async finish(address: string, { state, nonce, verifier }: LoginSecrets): Promise<Login> {
    const client = await load();
    const configuration = await this.#discover();
    const { differs = {} } = this.#settings;
    const tokens = await this.#askAsClient(() =>
      client.authorizationCodeGrant(configuration, new URL(address), {
        expectedState: state,
        ...(expectsNonce(differs) ? { expectedNonce: nonce } : {}),
        ...(differs.noPkce ? {} : { pkceCodeVerifier: verifier }),
        idTokenExpected: differs.oauth2 === undefined,
      }),
    );
    return this.#readLogin(configuration, tokens, undefined);
  }

  /** Asks whether the login still holds, and what is known of the visitor now. */
  async check(subject: string, token: ProviderToken): Promise<Login> {
    const client = await load();
    const configuration = await this.#discover();
    if (this.#settings.differs?.oauth2 !== undefined && token.kind === 'access') {
      const claims = await this.#readProfile(configuration, token.value);
      if (claims['sub'] !== subject) throw new LoginRefused('the provider names another person');
      return { claims, token };
    }
    if (token.kind === 'access') {
      const claims = await this.#ask(() => client.fetchUserInfo(configuration, token.value, subject));
      return { claims, token };
    }
    const refreshed = this.#askAsClient(() => client.refreshTokenGrant(configuration, token.value));
    const tokens = await refreshed.catch((error: unknown) => {
      const { cause } = error instanceof LoginRefused ? error : {};
      const isFaultOfClient =
        cause instanceof client.WWWAuthenticateChallengeError ||
        (cause instanceof client.ResponseBodyError && cause.error !== 'invalid_grant');
      // A wrong secret of ours says nothing about the person.
      throw isFaultOfClient ? new ProviderDown(`${this.#settings.issuer} refuses this client`, { cause }) : error;
    });
    const login = await this.#readLogin(configuration, tokens, subject);
    return { ...login, token: login.token.kind === 'refresh' ? login.token : token };
  }

  /** Where the visitor can sign out at the provider too. */
  async signOutUrl(): Promise<string | undefined> {
    const configuration = await this.#discover();
    const { end_session_endpoint: address } = configuration.serverMetadata();
    if (address === undefined) return undefined;
    const url = new URL(address);
    url.searchParams.set('client_id', this.#settings.clientId);
    return url.href;
  }

  async #readLogin(
    configuration: Configuration,
    tokens: TokenEndpointResponse & TokenEndpointResponseHelpers,
    knownSubject: string | undefined,
  ): Promise<Login> {
    const client = await load();
    const { refresh_token: refresh, access_token: access } = tokens;
    const token =
      refresh === undefined
        ? ({ kind: 'access', value: access } as const)
        : ({ kind: 'refresh', value: refresh } as const);
    if (this.#settings.differs?.oauth2 !== undefined) {
      const claims = await this.#readProfile(configuration, access);
      if (typeof claims['sub'] !== 'string' || (knownSubject ?? claims['sub']) !== claims['sub'])
        throw new LoginRefused('the provider does not say who it is');
      return { claims, token };
    }
    if (tokens.id_token !== undefined) await this.#verify(configuration, tokens.id_token);
    const own = tokens.claims();
    const subject = own?.sub ?? knownSubject;
    if (subject === undefined || (knownSubject !== undefined && subject !== knownSubject))
      throw new LoginRefused('the provider names another person');
    const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined;
    // The signed claims hold; others come beside them.
    const more = hasUserInfo
      ? await this.#ask(() => client.fetchUserInfo(configuration, tokens.access_token, subject))
      : {};
    return { claims: { ...joinClaims(own ?? {}, more), sub: subject }, token, idToken: tokens.id_token };
  }

  /** Throws unless the provider has signed the claims. All else about them is checked already. */
  async #verify(configuration: Configuration, idToken: string): Promise<void> {
    const { compactVerify } = await loadKeys();
    const { issuer, jwks_uri: jwksUri = '' } = configuration.serverMetadata();
    const fault = faultOfNamedUrl(jwksUri);
    if (fault !== undefined) throw new ProviderDown(`${issuer} names no keys that can be read: ${fault}`);
    try {
      await this.#signatures.check(this.#owner, { issuer, jwksUri }, (keys) => compactVerify(idToken, keys));
    } catch (error) {
      if (error instanceof KeysUnread || error instanceof TooMuchWaits)
        throw new ProviderDown(`${issuer}: ${error.message}`, { cause: error });
      throw new LoginRefused(messageOf(error), { cause: error });
    }
  }

  /** Reads who has signed in where no claims are signed: the token says that it is the one who did. */
  async #readProfile(configuration: Configuration, accessToken: string): Promise<Login['claims']> {
    const client = await load();
    const { profile, subject, lists = {} } = this.#settings.differs?.oauth2 ?? { profile: '', subject: '' };
    const read = async (address: string): Promise<unknown> => {
      const answer = await this.#ask(() =>
        client.fetchProtectedResource(
          configuration,
          accessToken,
          new URL(address),
          'GET',
          undefined,
          new Headers({ accept: 'application/json', 'user-agent': 'gatehouse' }),
        ),
      );
      if (answer.status === 401 || answer.status === 403) throw new LoginRefused(`${address} answers ${answer.status}`);
      if (!answer.ok) throw new ProviderDown(`${address} answers ${answer.status}`);
      return answer.json();
    };
    const found = await Promise.all(
      Object.entries(lists).map(async ([name, address]) => {
        const list = await read(address);
        return [name, Array.isArray(list) ? (list as readonly unknown[]) : []] as const;
      }),
    );
    // An answer of another form has none of the fields that are asked for.
    const own = (await read(profile)) as Readonly<Record<string, unknown>>;
    return claimsOfProfile(subject, { profile: own, lists: Object.fromEntries(found) });
  }

  /** One request for the metadata at a time. Until the provider answers again, the former serve. */
  #discover(): Promise<Configuration> {
    const former = this.#configuration;
    if (former !== undefined && !hasElapsed(this.#readAtMs, metadataMs)) return former;
    return this.#read(former);
  }

  /** The same for a new login: a visitor must not be sent to a provider that is away. */
  #discoverNow(): Promise<Configuration> {
    const former = this.#configuration;
    if (former !== undefined && !hasElapsed(this.#readAtMs, answeredMs)) return former;
    return this.#read(undefined);
  }

  #read(fallback: Promise<Configuration> | undefined): Promise<Configuration> {
    if (this.#fault !== undefined && !hasElapsed(this.#failedAtMs, pauseMs))
      return fallback ?? Promise.reject(this.#fault);
    this.#reading ??= this.#readNow().finally(() => {
      this.#reading = undefined;
    });
    return fallback === undefined ? this.#reading : this.#reading.catch(() => fallback);
  }

  async #readNow(): Promise<Configuration> {
    try {
      const configuration = await this.#readMetadata();
      this.#fault = undefined;
      this.#readAtMs = Date.now();
      this.#configuration = Promise.resolve(configuration);
      return configuration;
    } catch (error) {
      const { issuer } = this.#settings;
      this.#fault = new ProviderDown(`${issuer} does not answer as an OpenID provider`, { cause: error });
      this.#failedAtMs = Date.now();
      throw this.#fault;
    }
  }

  async #readMetadata(): Promise<Configuration> {
    const client = await load();
    const { issuer, clientId, clientSecret } = this.#settings;
    const post = client.ClientSecretPost(clientSecret);
    const { differs } = this.#settings;
    if (differs?.oauth2 !== undefined) {
      const { authorize: authorization_endpoint, token: token_endpoint } = differs.oauth2;
      const metadata = { issuer, authorization_endpoint, token_endpoint };
      const known = new client.Configuration(metadata, clientId, undefined, post);
      known[client.customFetch] = (url, options) =>
        this.#fetch(url, options.method === 'GET' ? { ...options, maxBytes: profileLimit } : options);
      known.timeout = answerSeconds;
      if (token_endpoint.startsWith('http:')) client.allowInsecureRequests(known);
      return known;
    }
    const configuration = await client.discovery(
      new URL(issuer),
      clientId,
      undefined,
      (server, ...rest) => {
        const { token_endpoint_auth_methods_supported: offered = ['client_secret_basic'] } = server;
        this.#takesEither = offered.includes('client_secret_post') && offered.includes('client_secret_basic');
        const usesHeader = this.#takesEither ? this.#prefersHeader : offered.includes('client_secret_basic');
        (usesHeader ? secretInHeader(clientSecret) : post)(server, ...rest);
      },
      {
        [client.customFetch]: this.#fetch,
        timeout: answerSeconds,
        execute: issuer.startsWith('http:') ? [client.allowInsecureRequests] : [],
      },
    );
    configuration[client.customFetch] = this.#fetch;
    return configuration;
  }

  /**
   * The same for a question that needs the secret. Providers that take it in the body and in a header may have been told that
   * this client sends it in one of them only.
   */
  async #askAsClient<T>(question: () => Promise<T>): Promise<T> {
    try {
      return await this.#ask(question);
    } catch (error) {
      if (!this.#takesEither || !refusesClient(error)) throw error;
      this.#prefersHeader = !this.#prefersHeader;
      return this.#ask(question);
    }
  }

  /** Tells a provider that is down from one that refuses. */
  async #ask<T>(question: () => Promise<T>): Promise<T> {
    const client = await load();
    try {
      return await question();
    } catch (error) {
      const isRefusal =
        // The library reads it of answers with 4xx alone.
        error instanceof client.ResponseBodyError ||
        error instanceof client.AuthorizationResponseError ||
        error instanceof client.WWWAuthenticateChallengeError ||
        (error instanceof client.ClientError && !connectionFaults.has(error.code ?? ''));
      const message = messageOf(error);
      throw isRefusal
        ? new LoginRefused(message, { cause: error })
        : new ProviderDown(`${this.#settings.issuer} does not answer`, { cause: error });
    }
  }
}

function expectsNonce({ oauth2, noNonce }: ProviderDifferences): boolean {
  return oauth2 === undefined && noNonce !== true;
}
