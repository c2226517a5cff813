import type { Principal } from '../../api/admission/caller.ts';
import { notConfirmed, providerAway, signInOver } from '../../api/dashboard/errors.ts';
import type { BegunSignIn, ProviderAnswer } from '../../api/dashboard/provider-sign-in.ts';
import { UserError } from '../../errors/user-error.ts';
import { hashSecret, newSecret, secretMatchesAny } from '../../lib/secrets.ts';
import { readPerson } from '../../sign-in/claims.ts';
import type { Person } from '../../sign-in/claims.ts';
import { LoginRefused, Provider, ProviderDown } from '../../sign-in/provider.ts';
import type { Login, LoginSecrets } from '../../sign-in/provider.ts';
import { providerUsers } from '../principals/service.ts';
import type { OperatorSignIn, ResourceContext } from '../resource.ts';
import { sharedSealer } from '../visitors/service.ts';

/** Seconds in which a sign-in must be finished at the provider. */
export const loginSeconds = 600;
const sealContext = 'sign-in to the dashboard';

/** A sign-in that is under way, as its cookie holds it: any process can finish it. */
interface BegunLogin extends LoginSecrets {
  /** Hash of the secret that the page keeps. */
  readonly pageHash: string;
  readonly atMs: number;
  /** The account that the person has chosen. */
  readonly accountId?: string | undefined;
}

/** Somebody whom the provider has confirmed. */
export interface ConfirmedLogin {
  readonly person: Person;
  readonly refreshToken: string | undefined;
  /** The account that the person has chosen, where several were offered. */
  readonly accountId?: string | undefined;
}

/** Logins of operators at the identity provider of the settings. */
export class ProviderLogin {
  readonly settings: OperatorSignIn;
  readonly #context: Pick<ResourceContext, 'services'>;
  readonly #provider: Provider;

  constructor(context: Pick<ResourceContext, 'services'>, settings: OperatorSignIn) {
    this.settings = settings;
    this.#context = context;
    this.#provider = new Provider(settings.provider, { ...settings, owner: '' });
  }

  /** `isAgain`: as somebody else than the provider would say by itself. */
  async begin(isAgain: boolean, accountId?: string): Promise<BegunSignIn> {
    const { callbackUrl } = this.settings;
    const begun = this.#provider.begin(callbackUrl, isAgain ? 'login' : undefined);
    const { url, secrets } = await begun.catch((error: unknown) => this.#explain(error));
    const secret = newSecret();
    const login: BegunLogin = { ...secrets, pageHash: hashSecret(secret), atMs: Date.now(), accountId };
    const cookie = await this.#context.services.get(sharedSealer).seal(JSON.stringify(login), sealContext);
    return { url, cookie, secret };
  }

  /** Throws unless the answer is that to a sign-in which this browser has begun. */
  async confirm(answer: ProviderAnswer): Promise<ConfirmedLogin> {
    const login = await this.#findLogin(answer);
    if (login === undefined) throw new UserError(signInOver);
    const url = new URL(this.settings.callbackUrl);
    url.search = answer.query;
    const finished = await this.#provider.finish(url.href, login).catch((error: unknown) => this.#explain(error));
    return { ...this.#confirmed(finished), accountId: login.accountId };
  }

  /** Asks whether a login holds. Throws `LoginRefused`, or the `UserError` of the rules, where it does not. */
  async check(user: Pick<Principal, 'id' | 'accountId'>, subject: string, token: string): Promise<string> {
    const { person, refreshToken } = this.#confirmed(
      await this.#provider.check(subject, { kind: 'refresh', value: token }),
    );
    await this.#context.services.get(providerUsers).refresh(user, person);
    return refreshToken ?? token;
  }

  async signOutUrl(): Promise<string | undefined> {
    // Whoever signs out must not wait for a provider that is away.
    return this.#provider.signOutUrl().catch(() => undefined);
  }

  #confirmed({ claims, token }: Login): ConfirmedLogin {
    const person = readPerson(claims, this.settings.provider.groupsClaim);
    if (person.subject === '') return this.#explain(new LoginRefused('the provider does not say who it is'));
    return { person, refreshToken: token.kind === 'refresh' ? token.value : undefined };
  }

  async #findLogin({ query, secret, cookies }: ProviderAnswer): Promise<BegunLogin | undefined> {
    const state = new URLSearchParams(query).get('state') ?? '';
    for (const cookie of cookies) {
      const text = await this.#context.services.get(sharedSealer).open(cookie, sealContext);
      if (text === undefined) continue;
      // Only `begin` seals for this context.
      const login = JSON.parse(text) as BegunLogin;
      const isRecent = Math.abs(Date.now() - login.atMs) <= loginSeconds * 1000;
      if (isRecent && login.state === state && secretMatchesAny(secret, login.pageHash, undefined)) return login;
    }
    return undefined;
  }

  /** Says what is wrong in words for everybody. The cause is for the log. */
  #explain(error: unknown): never {
    const { label: provider } = this.settings;
    if (!(error instanceof ProviderDown || error instanceof LoginRefused)) throw error;
    const fault =
      error instanceof ProviderDown
        ? new UserError(providerAway, { provider }, { 'Retry-After': '10' })
        : new UserError(notConfirmed, { provider });
    fault.cause = error;
    throw fault;
  }
}
